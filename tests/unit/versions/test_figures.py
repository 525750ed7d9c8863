"""Figures of two versions: what differs, its ratio, and what is missing."""

from dataclasses import replace

from listings import tiled_launch, tiled_listing

from gemmviz.assembly.counts import counted
from gemmviz.assembly.summary import summary
from gemmviz.bench import reference_results
from gemmviz.bench.figures import Figures
from gemmviz.bench.reference_results import ReferenceResults
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.trace.cost.traffic import measure
from gemmviz.trace.recording.record import record
from gemmviz.versions.code_figures import code_group
from gemmviz.versions.figure import Figure, Group
from gemmviz.versions.speed_figures import reference, speed_group
from gemmviz.versions.version import MachineCode, Speed, Version, Work
from gemmviz.versions.work_figures import work_groups


def recorded(name: str, **params: int) -> Version:
    made = launch(find(name, ladder()), Problem.cube(16), params)
    recording = record(made)
    work = Work(recording.without_accesses(), measure(recording), int(recording.accesses.phase.max()))
    return Version(name, made, work=work)


def pairs(group: Group) -> dict[str, tuple[float | None, float | None]]:
    return {figure.id: (figure.before, figure.after) for figure in group.figures}


def test_a_figure_has_a_ratio_where_there_are_two():
    assert Figure("a", "a", 4, 1).ratio == 0.25 and Figure("a", "a", 4, 0).ratio == 0
    assert Figure("a", "a", 0, 4).ratio is None and Figure("a", "a", None, 4).ratio is None
    assert Figure("a", "a", 4, None).ratio is None
    assert Figure("a", "a", 100, 101).differs and not Figure("a", "a", 100, 101, noise=0.02).differs
    assert Figure("a", "a", 100, 97, noise=0.02).differs and not Figure("a", "a", None, None).differs
    assert Figure("a", "a", None, 4).differs and not Figure("a", "a", 4, 4).differs


def test_tiles_save_global_traffic_and_need_barriers():
    groups = {group.id: group for group in work_groups(recorded("matmul_kernel_naive"), recorded("gputiled", TS=8))}
    whole = pairs(groups["work"])
    # 16 x 16 x 16: each thread reads a row and a column, or an eighth of both; two tiles with two barriers each.
    assert pairs(groups["array.A"])["reads"] == (4096, 512) and pairs(groups["array.As"])["writes"] == (None, 512)
    assert whole["barriers"] == (0, 4) and whole["wrong"] == (0, 0)
    assert whole["bank_conflicts"][0] is None and whole["wavefronts"][0] is None
    assert groups["work"].origin == "recorded as compiled"


def test_a_loop_on_a_cpu_has_no_warps():
    groups = {group.id: group for group in work_groups(recorded("hostmult1"), recorded("gputiled", TS=8))}
    whole = pairs(groups["work"])
    assert whole["blocks"] == (None, 4) and whole["load_sectors"][0] is None
    assert whole["accesses"][0] and whole["intensity.memory, asked"][1] is None
    assert pairs(groups["array.A"])["read_requests"][0] is None


def test_a_version_that_could_not_be_recorded_says_why():
    broken = replace(recorded("gputiled", TS=8), work=None, no_work="it crashed")
    first, *_ = work_groups(recorded("gputiled", TS=8), broken)
    assert "it crashed" in first.note and pairs(first)["wrong"] == (0, None)
    (alone,) = work_groups(broken, broken)
    assert not alone.figures and "it crashed" in alone.note


def coded(**changes: int) -> Version:
    listing = tiled_listing()
    code = MachineCode(listing.architecture, replace(listing.usage, **changes), summary(listing))
    return Version("tiled.cu", tiled_launch(), code=code)


def test_machine_code_is_compared_per_product():
    before, after = coded(), coded(registers=99, spill_store_bytes=8)
    group = code_group(before, after)
    found = pairs(group)
    assert before.code is not None
    assert found["registers"] == (before.code.usage.registers, 99) and found["spill_store_bytes"] == (0, 8)
    loop = before.code.summary.loop
    assert loop is not None
    shared = sum(one.stem == "LDS" for one in (tiled_listing().instructions[at] for at in loop.instructions))
    assert found["loop.LDS"] == (shared / loop.counts["FFMA"],) * 2 and shared
    assert next(figure.name for figure in group.figures if figure.id == "loop.LDS") == "LDS per FFMA"
    assert group.origin == "compiled for sm_80"


def test_products_of_other_instructions_are_counted_per_1024():
    before = coded()
    assert before.code is not None and before.code.summary.loop is not None
    loop = before.code.summary.loop
    other = replace(loop, unit="HMMA", products=8 * loop.products, counts=counted(()) + loop.counts)
    tensor = replace(before, code=replace(before.code, summary=replace(before.code.summary, loop=other)))
    figure = next(figure for figure in code_group(before, tensor).figures if figure.id == "loop.FFMA")
    assert figure.name == "FFMA per 1\u202f024 products of a warp"
    assert (figure.before, figure.after) == (32, 4)  # an FFMA makes 32


def test_without_the_tools_a_line_says_so_once():
    missing = replace(coded(), code=None, no_code="Machine code needs NVRTC: pip install ...")
    group = code_group(missing, missing)
    assert not group.figures and group.note == "Machine code needs NVRTC: pip install ..."


def test_references_are_of_one_machine_and_of_the_same_code():
    results = reference_results.load()[0]
    kernels = [find(name, ladder()) for name in ("gpumult0", "gputiled")]
    pair = launch(kernels[0], Problem.cube(64)), launch(kernels[1], Problem.cube(64))
    found = reference(pair, results)
    assert found is not None and found[0].size == found[1].size and found[0].origin == found[1].origin
    assert found[0].origin.startswith("reference: ") and found[1].gflops > found[0].gflops > 0
    edited = replace(kernels[1], text=kernels[1].text.replace("sum", "total"))
    assert reference((pair[0], launch(edited, Problem.cube(64))), results) is None
    rows = list(results[0].figures.of("gpumult0"))
    assert reference(pair, [ReferenceResults("a GPU", "a CPU", "2026-01-01", Figures(rows))]) is None


def test_a_speed_says_where_it_was_measured():
    measured = Speed(100.0, "512 x 512 x 512", "measured")
    before = replace(coded(), speed=measured)
    group = speed_group(before, replace(coded(), no_speed="tiled.cu: wrong"))
    assert (group.origin, group.note) == ("measured", "tiled.cu: wrong")
    assert pairs(group) == {"gflops": (100.0, None)}
    assert not speed_group(coded(), coded()).figures
    elsewhere = replace(coded(), speed=replace(measured, origin="reference: a GPU, 2026-01-01"))
    assert speed_group(before, elsewhere).origin == "measured / reference: a GPU, 2026-01-01"
