"""The demo of every kernel: it fits, its moment is in its recording, and its picture agrees with the idea."""

import numpy as np
import pytest
import recordings

from gemmviz.catalogue.demo import Demo
from gemmviz.catalogue.errors import BuildError, GemmvizError
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.checking import report_text
from gemmviz.checking.waste import wasted
from gemmviz.session.tour.lessons import locate
from gemmviz.trace.cost.sites import SiteTraffic
from gemmviz.trace.playable import Playable
from gemmviz.trace.recording.recording import WARP

RUNGS = [kernel.name for kernel in ladder() if kernel.recordable]
ON_GPU = [kernel.name for kernel in ladder() if kernel.backend == "cuda"]
# The claim of a kernel's idea about its requests: no finding of that class at its demo, or one.
FREE = {
    "uncoalesced": ("gpumult1", "conflict_free", "warp_tiling", "async_pipeline", "mma_swizzle"),
    "bank conflicts": ("CC", "CC_V_STATIC_BLOCK", "CC_V_FINAL", "columns_by_x", "conflict_free", "mma_swizzle"),
}
SHOWN = {
    "uncoalesced": ("matmul_kernel_naive", "matmul_kernel_block_tiling", "Basic"),
    "bank conflicts": ("RR", "RC", "tiles_by_columns", "vectorised"),
}
NARROW = "only because blocks are"


def demo_of(name: str) -> tuple[Kernel, Demo]:
    kernel = find(name, ladder())
    assert kernel.demo is not None
    return kernel, kernel.demo


def recorded(name: str, size: tuple[int, int, int], params: dict[str, int]) -> Playable:
    return recordings.played(name, Problem(*size), params)


def played(name: str) -> Playable:
    _, demo = demo_of(name)
    return recorded(name, demo.size, demo.params)


def costs(playable: Playable) -> list[SiteTraffic]:
    return wasted(playable.traffic.sites, playable.recording)


@pytest.mark.sweep
@pytest.mark.parametrize("name", RUNGS)
def test_a_demo_is_in_its_recording(name: str) -> None:
    kernel, demo = demo_of(name)
    if name == "mm_optimizado_printed":
        with pytest.raises(BuildError):
            played(name)
        return
    playable = played(name)
    recording = playable.recording
    assert kernel.backend == "c" or recording.blocks >= 2
    assert len(recording.accesses) <= 250_000  # it opens at once
    found = locate(demo, playable)
    assert 0 <= found.step < playable.timeline.steps
    if demo.thread is None:
        return
    assert found.panel == "thread" and found.warp is not None and found.lane is not None and found.block is not None
    thread = found.warp * WARP + found.lane
    assert recording.thread_index(thread)[:2] == demo.thread
    assert recording.block_index(found.block)[:2] == (demo.block or (0, 0))
    if found.cell is not None:
        assert found.cell[0] == 2
        at = recording.arrays[2].cells(np.array([found.cell[1]]))
        assert [int(owner[at][0]) for owner in recording.owners] == [found.block, thread]
    if "line" in (demo.stop or {}):  # the chosen thread executes the step of the picture
        rows = playable.timeline.rows(found.step)
        log = recording.accesses
        assert ((log.block[rows] == found.block) & (log.thread[rows] == thread)).any()
        assert found.cell is not None or kernel.exhibit  # outside C no thread owns an element


@pytest.mark.sweep("*-conflict_free", "*-mma_swizzle", "uncoalesced-gpumult1")
@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, names in FREE.items() for name in names])
def test_costs_that_a_kernel_avoids_are_not_found_at_its_demo(kind: str, name: str) -> None:
    assert [
        report_text.sentence(cost) for cost in costs(played(name)) if report_text.kind(cost) == kind and not cost.narrow
    ] == []


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, names in SHOWN.items() for name in names])
def test_the_costs_of_a_kernels_idea_are_found_at_its_demo(kind: str, name: str) -> None:
    assert [cost for cost in costs(played(name)) if report_text.kind(cost) == kind and not cost.narrow]


# Narrow blocks


def wider(kernel: Kernel, least: int) -> dict[str, int] | None:
    """Return parameters, of those offered, with which a row of a block has at least so many threads."""
    combinations: list[dict[str, int]] = [{}]
    for name, values in kernel.params.items():
        combinations = [{**one, name: value} for one in combinations for value in sorted(values)]
    for params in combinations:
        try:
            if launch(kernel, Problem.cube(64), params).block[0] >= least:
                return params
        except GemmvizError:
            continue
    return None


@pytest.mark.parametrize("name", ["gputiled", "matrixMulTiled", "gpumult0", "narrow_tiles"])
def test_some_demos_have_findings_that_are_there_only_because_of_narrow_blocks(name: str) -> None:
    assert any(cost.narrow for cost in costs(played(name)))


@pytest.mark.sweep("gputiled", "CC", "mma_swizzle", "warp_specialised")
@pytest.mark.parametrize("name", [name for name in ON_GPU if name != "mm_optimizado_printed"])
def test_a_finding_that_is_there_only_because_of_narrow_blocks_is_gone_with_wide_ones(name: str) -> None:
    kernel, _ = demo_of(name)
    narrow = [cost for cost in costs(played(name)) if cost.narrow]
    across = played(name).recording.block[0]
    for cost in narrow:
        assert report_text.kind(cost) == "uncoalesced"
        assert report_text.sentence(cost).endswith(f"{NARROW} {across} wide here")
    places = {(cost.line, cost.array, cost.write) for cost in narrow}
    # Eight floats fill a sector. Where each row of a block wants one element, eight are still narrow: a warp must be
    # one row, and no finding may outlive that.
    for least in (8, WARP):
        params = wider(kernel, least) if narrow else None
        if params is None:
            continue
        wide = costs(recorded(name, (64, 64, 64), params))
        left = [cost for cost in wide if (cost.line, cost.array, cost.write) in places]
        assert all(cost.narrow and least < WARP for cost in left)


@pytest.mark.sweep("matmul_kernel_naive-params0", "matmul_kernel_naive-params2", "Basic-*8")
@pytest.mark.parametrize(
    ("name", "params"),
    [
        *(
            ("matmul_kernel_naive", {"BX": across, "BY": down})
            for across, down in [(2, 2), (4, 4), (8, 4), (16, 2), (2, 16), (4, 8)]
        ),
        *(("Basic", {"BLOCK": side}) for side in (2, 4, 8)),
    ],
)
def test_a_truly_uncoalesced_kernel_is_never_excused(name: str, params: dict[str, int]) -> None:
    found = costs(recorded(name, (16, 16, 16), params))
    assert found and not [cost for cost in found if cost.narrow]


def test_the_same_access_is_excused_where_the_block_is_narrow_and_not_where_it_is_wide() -> None:
    def narrow(size: tuple[int, int, int], across: int, down: int) -> set[tuple[str, bool, int]]:
        found = costs(recorded("gpumult1", size, {"BX": across, "BY": down}))
        return {(cost.array, cost.write, cost.narrow) for cost in found}

    assert narrow((8, 8, 8), 4, 4) == {("A", False, 4), ("C", True, 4)}
    # A row of a block fills a sector of C; four rows in a warp still want one element of A each.
    assert narrow((16, 16, 8), 8, 8) == {("A", False, 8)}
    assert narrow((8, 64, 8), 32, 4) == set()
