"""Every rung of the ladder, recorded: the right C at any size, or an offer of the nearest one; exhibits go wrong."""

from itertools import combinations, product

import pytest
from arriving import arrived
from sampled import FEW

from gemmviz.catalogue.errors import BuildError, ConstraintError
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.launch import Launch, launch, nearest_size
from gemmviz.catalogue.problem import Problem
from gemmviz.trace import hazards
from gemmviz.trace.cost.traffic import measure
from gemmviz.trace.recording.record import record
from gemmviz.trace.recording.recording import Recording
from gemmviz.trace.untrusted import checked_recording

LADDER = ladder()
RUNGS = [kernel for kernel in LADDER if kernel.recordable and not kernel.exhibit]
SIZES = [Problem.cube(32), Problem(13, 7, 5), Problem(1, 1, 1), Problem(9, 34, 3), Problem(37, 18, 41)]


def in_tiles(params: dict[str, int]) -> list[Problem]:
    """Of the large tiles of our own rungs: a part of one, and more than one in each direction, the last cut off."""
    side = params.get("BLOCK") or params.get("BLOCK_SIZE")
    rows, columns = (params.get(name) or side or most for name, most in (("BM", 128), ("BN", 256)))
    return [Problem(1, 1, 1), Problem(37, 18, 41), Problem(rows + 4, columns + 8, 72)]


def recorded(name: str, problem: Problem, **params: int) -> Recording:
    return record(launch(find(name, LADDER), problem, params))


def is_ours(rung: Kernel) -> bool:
    return rung.backend == "cuda" and not rung.source


def right_at(sizes: list[Problem], rung: Kernel, params: dict[str, int]) -> None:
    """Record a rung at each size, or at the nearest one that it takes; C is right, and nothing is found."""
    for wanted in sizes:
        try:
            job = launch(rung, wanted, params)
        except ConstraintError as refusal:
            nearest = nearest_size(rung, wanted, rung.defaults | params)
            assert nearest is not None
            assert f"the nearest size that works is {nearest}" in str(refusal)
            job = launch(rung, nearest, params)
        recording = record(job)
        assert (recording.wrong, recording.notes) == (0, ()), wanted
        assert hazards.find(recording) == [], wanted
        checked_recording(arrived(recording).recording)  # as it arrives from the engine


# Few blocks that stay, so that each takes several tiles, and computes whole ones.
FEW_BLOCKS = {"BLOCKS": 2, "SPLIT": 1}


@pytest.mark.sweep
@pytest.mark.parametrize("rung", RUNGS, ids=lambda kernel: kernel.name)
def test_a_rung_computes_the_right_c_within_bounds_at_every_size_it_takes_or_offers(rung: Kernel) -> None:
    params: dict[str, int] = {}
    if is_ours(rung):  # with the smaller tiles of its demo
        assert rung.demo is not None
        params = rung.demo.params | {name: value for name, value in FEW_BLOCKS.items() if name in rung.params}
    right_at(in_tiles(rung.defaults | params) if is_ours(rung) else SIZES, rung, params)


@pytest.mark.thorough
@pytest.mark.parametrize("rung", [rung for rung in RUNGS if is_ours(rung)], ids=lambda kernel: kernel.name)
def test_our_own_rungs_do_so_with_their_large_tiles(rung: Kernel) -> None:
    few = {name: value for name, value in FEW_BLOCKS.items() if name in rung.params}
    right_at(in_tiles(rung.defaults), rung, few)


def possible(rung: Kernel, offered: dict[str, tuple[int, ...]]) -> Launch | None:
    """Launch the last combination that some size is right for."""
    alone = [condition for condition in rung.requires if condition.names() <= rung.params.keys()]
    for values in product(*(reversed(some) for some in offered.values())):
        params = dict(zip(offered, values, strict=True))
        if all(condition.evaluate(params) for condition in alone):  # before sizes are tried, which takes long
            size = nearest_size(rung, Problem(18, 5, 9), params)
            if size is not None:
                return launch(rung, size, params)
    return None


def works(rung: Kernel, one: str, value: int) -> bool:
    """Whether some size is right for a value beside the defaults, or beside other values of up to three parameters."""
    alone = [condition for condition in rung.requires if condition.names() <= rung.params.keys()]
    others = [name for name in rung.params if name != one]
    for changed in (names for count in range(4) for names in combinations(others, count)):
        for values in product(*(rung.params[name][1:] for name in changed)):
            params = rung.defaults | {one: value} | dict(zip(changed, values, strict=True))
            if all(c.evaluate(params) for c in alone) and nearest_size(rung, Problem(18, 5, 9), params):
                return True
    return False


WITH_PARAMETERS = [rung.name for rung in RUNGS if rung.params]
FEW_WITH_PARAMETERS = [name for name in WITH_PARAMETERS if name in FEW]


@pytest.mark.sweep(*FEW_WITH_PARAMETERS)
@pytest.mark.parametrize("name", WITH_PARAMETERS)
def test_each_value_of_a_parameter_has_a_size_that_it_works_at(name: str) -> None:
    rung = find(name, LADDER)
    for one, values in rung.params.items():
        assert [value for value in values if not works(rung, one, value)] == []


@pytest.mark.sweep(*FEW_WITH_PARAMETERS)
@pytest.mark.parametrize("name", WITH_PARAMETERS)
def test_the_last_values_of_all_parameters_give_the_right_c(name: str) -> None:
    rung = find(name, LADDER)
    last = possible(rung, rung.params)
    assert last is not None and record(last).wrong == 0


def test_a_sum_that_starts_from_old_memory_is_wrong_everywhere() -> None:
    assert recorded("mm_printed", Problem.cube(4), BLOCK_SIZE=2).wrong == 16


def test_threads_outside_the_matrix_write_outside_it() -> None:
    recording = recorded("mm_no_bounds", Problem(5, 4, 3), BLOCK_SIZE=2)
    assert any("writes C[20], out of bounds (it has 20 elements)" in note for note in recording.notes)
    assert recorded("mm_no_bounds", Problem(4, 5, 3), BLOCK_SIZE=2).wrong > 0
    fitting = recorded("mm_no_bounds", Problem(4, 4, 3), BLOCK_SIZE=2)
    assert (fitting.wrong, fitting.notes) == (0, ())


def test_a_store_at_every_stage_is_wasted_but_right() -> None:
    wasteful, thrifty = (
        recorded(name, Problem.cube(8), BLOCK_SIZE=2) for name in ("mm_optimizado_store_in_loop", "mm_optimizado")
    )
    assert (wasteful.wrong, thrifty.wrong) == (0, 0)
    stores = [next(a.writes for a in measure(r).arrays if a.name == "C") for r in (wasteful, thrifty)]
    assert stores == [4 * 64, 64]


def test_sums_start_from_old_memory_behind_a_bounds_check_too() -> None:
    recording = recorded("mm_bounds_printed", Problem(5, 3, 4), BLOCK_SIZE=2)
    assert (recording.wrong, recording.notes) == (15, ())


def test_tile_steps_that_are_left_over_are_lost() -> None:
    assert recorded("gputiled1_printed", Problem(8, 8, 16), TS=4).wrong > 32
    assert recorded("gputiled1_printed", Problem(8, 8, 12), TS=4).wrong == 0


@pytest.mark.parametrize("name", ["matmul_tc_printed_grid", "matmul_tc_2d_warp_tiling_printed_grid"])
def test_a_grid_with_its_sides_swapped_is_wrong_where_they_differ(name: str) -> None:
    params = {"WM": 1, "WN": 1} if "warp" in name else {}
    assert recorded(name, Problem.cube(32), **params).wrong == 0
    assert recorded(name, Problem(64, 32, 16), **params).wrong > 0
    assert recorded(name, Problem(32, 64, 16), **params).notes


def test_the_printed_tiles_do_not_compile_and_the_first_line_is_named() -> None:
    with pytest.raises(BuildError) as caught:
        recorded("mm_optimizado_printed", Problem.cube(16))
    line = find("mm_optimizado_printed", LADDER).text.splitlines()[(caught.value.line or 0) - 1]
    assert "As[BLOCK_SIZE]" in line


def test_every_exhibit_is_among_those_seen_here() -> None:
    seen = {
        *("mm_printed", "mm_bounds_printed", "mm_no_bounds", "mm_optimizado_store_in_loop", "mm_optimizado_printed"),
        *("gputiled1_printed", "matmul_tc_printed_grid", "matmul_tc_2d_warp_tiling_printed_grid"),
    }
    assert {kernel.name for kernel in LADDER if kernel.exhibit} == seen
