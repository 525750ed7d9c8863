"""The upper CPU rungs: blocks, panels, vector widths and rectangles, compiled for this CPU and recorded."""

import numpy as np
import pytest

from gemmviz.backends.native import NativeBackend
from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem, small_integer_inputs
from gemmviz.trace.cost.traffic import measure
from gemmviz.trace.order.timeline import build
from gemmviz.trace.playable import Playable
from gemmviz.trace.recording.record import record
from gemmviz.trace.recording.recording import Recording

LADDER = ladder()
# Blocks so small that several stand in each direction, and the last ones are cut.
SMALL = {
    "blocked": {"KC": 4, "NC": 8},
    "register_block": {"KC": 8, "NC": 16},
    "packed": {"MC": 12, "KC": 8, "NC": 32},
    "simd": {"MC": 42, "KC": 8, "NC": 32},
    "simd_threads": {"MC": 42, "KC": 8, "NC": 32, "THREADS": 3},
}
SIZES = [Problem(97, 75, 29), Problem(45, 131, 17), Problem(1, 70, 9), Problem(90, 1, 30)]


def is_right(name: str, problem: Problem, **params: int) -> bool:
    prepared = NativeBackend().prepare(launch(find(name, LADDER), problem, params))
    a, b = small_integer_inputs(problem, "float32")
    prepared.load(a, b)
    prepared.poison()
    prepared.run()
    return bool((prepared.fetch() == a @ b).all()) and prepared.intact()


def recorded(name: str, problem: Problem, **params: int) -> Recording:
    recording = record(launch(find(name, LADDER), problem, params))
    assert (recording.wrong, recording.notes) == (0, ())
    return recording


def named(recording: Recording, name: str) -> int:
    return [array.name for array in recording.arrays].index(name)


@pytest.mark.sweep("97 x 75 x 29-*", "90 x 1 x 30-simd_threads")
@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("problem", SIZES, ids=str)
def test_blocks_of_any_number_add_up(name: str, problem: Problem) -> None:
    assert is_right(name, problem, **SMALL[name])


@pytest.mark.sweep("256")
@pytest.mark.parametrize("bits", [512, 256, 128])
def test_each_vector_width_up_to_that_of_the_cpu_gives_the_same(bits: int) -> None:
    assert is_right("simd", Problem(61, 83, 19), BITS=bits, KC=8)


@pytest.mark.sweep("3")
@pytest.mark.parametrize("threads", [1, 2, 3, 6, 7, 256])
def test_c_is_cut_into_rectangles_for_any_number_of_threads(threads: int) -> None:
    assert is_right("simd_threads", Problem(61, 83, 19), THREADS=threads)
    assert is_right("simd_threads", Problem(3, 200, 5), THREADS=threads)


@pytest.mark.sweep("512-22", "256-10")
@pytest.mark.parametrize("rows", [15, 21, 22, 23, 28, 7, 10, 11])
@pytest.mark.parametrize("bits", [512, 256, 128])
def test_the_last_tiles_of_a_rectangle_may_be_low(bits: int, rows: int) -> None:
    # Whole tiles have 14 or 6 rows, low ones 8 or 4: the last one has one row, as many as a low tile, or one more.
    assert is_right("simd_threads", Problem(rows, 96, 19), BITS=bits, THREADS=2, KC=8)


@pytest.mark.parametrize(("rows", "read"), [(6, 6), (7, 4 + 4), (10, 6 + 4), (11, 6 + 6), (16, 6 + 6 + 4)])
def test_a_low_tile_reads_only_the_rows_that_it_multiplies(rows: int, read: int) -> None:
    recording = recorded("simd_threads", Problem(rows, 16, 5), THREADS=1, BITS=256)
    log = recording.accesses
    reads = (log.array == named(recording, "Ap")) & ~log.write
    assert np.count_nonzero(reads) == read * 5


@pytest.mark.parametrize(("bits", "wide"), [(0, 32), (512, 64), (256, 32), (128, 16)])
def test_a_vector_is_recorded_in_as_many_accesses_as_it_takes_registers(bits: int, wide: int) -> None:
    recording = recorded("simd", Problem(16, 32, 4), BITS=bits)
    log = recording.accesses
    b = log.array == named(recording, "B")
    assert set(log.bytes[b]) == {wide} and b.sum() == 4 * 128 // wide
    covered = recording.covered(np.flatnonzero(b))
    assert sorted(covered[1]) == list(range(4 * 32))
    assert np.array_equal(covered[2], recording.b.ravel()[covered[1]])


def test_panels_are_arrays_that_hold_a_and_b_in_the_order_of_use_and_zeros_beyond() -> None:
    recording = recorded("packed", Problem(8, 20, 3), MR=6, NR=16, MC=168)
    shapes = {array.name: array.shape for array in recording.arrays[3:]}
    assert shapes == {"Ap": (2, 3, 6), "Bp": (2, 3, 16)}
    log = recording.accesses
    held = {}
    for name, shape in shapes.items():
        writes = np.flatnonzero((log.array == named(recording, name)) & log.write)
        held[name] = np.full(shape, np.nan)
        held[name].ravel()[log.element[writes]] = log.value[writes]
    a = np.zeros((12, 3))
    a[:8] = recording.a
    b = np.zeros((3, 32))
    b[:, :20] = recording.b
    assert np.array_equal(held["Ap"], a.reshape(2, 6, 3).transpose(0, 2, 1))
    assert np.array_equal(held["Bp"], b.reshape(3, 2, 16).transpose(1, 0, 2))
    # Beside each other, the panels of B are B as it is, and those of A are A with rows and columns exchanged.
    ap, bp = recording.arrays[3:]
    assert np.array_equal(ap.drawn(held["Ap"].ravel()), a.T) and np.array_equal(bp.drawn(held["Bp"].ravel()), b)


def test_a_whole_panel_of_a_is_packed_with_vectors_and_turned_in_registers() -> None:
    # Of 7 rows six are a whole panel, and of 21 columns 16 are whole vectors: the rest goes element by element.
    recording = recorded("simd", Problem(7, 16, 21), BITS=256)
    log = recording.accesses
    panel = named(recording, "Ap")
    assert recording.arrays[panel].shape == (2, 21, 6)
    held = np.full(2 * 21 * 6, np.nan)
    covered = recording.covered(np.flatnonzero((log.array == panel) & log.write))
    held[covered[1]] = covered[2]
    wanted = np.zeros((12, 21))
    wanted[:7] = recording.a
    assert np.array_equal(held.reshape(2, 21, 6), wanted.reshape(2, 6, 21).transpose(0, 2, 1))
    reads = log.bytes[log.array == named(recording, "A")]
    assert (np.count_nonzero(reads == 32), np.count_nonzero(reads == 4)) == (6 * 2, 6 * 5 + 21)
    writes = log.bytes[(log.array == panel) & log.write]
    assert [np.count_nonzero(writes == wide) for wide in (16, 8, 4)] == [16, 16, 6 * 5 + 6 * 21]


@pytest.mark.parametrize(
    ("name", "problem"),
    [("packed", Problem(7, 17, 5)), ("simd", Problem(7, 17, 5)), ("simd", Problem(7, 17, 21))],
    ids=str,
)
def test_an_element_of_c_is_fed_through_the_panels_by_its_row_and_its_column(name: str, problem: Problem) -> None:
    recording = recorded(name, problem)
    timeline = build(recording)
    fed = Playable(recording, timeline, measure(recording, timeline)).provenance.operand_paths(3, 4)
    assert set(recording.covered(fed.reads(0))[1]) >= {3 * problem.k + k for k in range(problem.k)}
    assert set(recording.covered(fed.reads(1))[1]) >= {k * 17 + 4 for k in range(problem.k)}


def test_each_thread_packs_its_own_rows_of_a_and_all_of_them_share_b() -> None:
    # Four rectangles of 48 rows and 2 panels of columns: a thread packs A for itself, and half of what it needs of B.
    recording = recorded("simd_threads", Problem(96, 64, 4), THREADS=4)
    log = recording.accesses

    def places(name: str, write: bool) -> list[set[int]]:
        array = named(recording, name)
        some = [np.flatnonzero((log.array == array) & (log.thread == t) & (log.write == write)) for t in range(4)]
        return [set(recording.covered(rows)[1]) for rows in some]

    for name in ("Ap", "Bp"):
        written = places(name, True)
        assert sum(map(len, written)) == len(set.union(*written)) == recording.arrays[named(recording, name)].size
    assert places("Ap", True) == places("Ap", False)
    read, packed = places("Bp", False), places("Bp", True)
    assert read[0] == read[2] == packed[0] | packed[2] and read[1] == read[3] == packed[1] | packed[3]


def test_a_panel_that_is_read_beyond_its_end_is_told() -> None:
    kernel = find("packed", LADDER)
    head = "k < depth; k++)\n        for (int r = 0; r < MR"
    assert kernel.text.count(head) == 1
    text = kernel.text.replace(head, head.replace("<", "<=", 1))
    recording = record(launch(parse(text, kernel.path.with_name("mine.c")), Problem(4, 4, 4), {}))
    assert any("reads Ap[24], out of bounds (it has 24 elements)" in note for note in recording.notes)
