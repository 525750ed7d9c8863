"""The outer product of a thread against the rows that it recorded, and against A, B and C."""

import numpy as np
import pytest
from demo_recordings import at_demo, opening

from gemmviz.catalogue.matrices import A, B, C
from gemmviz.trace.lenses.outer_product import knows_products, outer_product
from gemmviz.trace.recording.recording import WARP

ON_GPU = ("gputiled", "gputiled_more_work", "matmul_kernel_thread_tiling", "matmul_kernel_2d_thread_tiling",
          "narrow_tiles", "vectorised", "async_pipeline", "mm")  # fmt: skip
ON_CPU = ("hostmult0", "register_block", "packed", "simd")
# Rows and columns of a thread's tile at the demo, and the values that it reads of them at one place along K.
SHAPES = {
    "gputiled": (1, 1, 2),
    "gputiled_more_work": (4, 1, 5),
    "matmul_kernel_thread_tiling": (2, 1, 3),
    "narrow_tiles": (2, 2, 4),
    "vectorised": (8, 8, 16),
    "async_pipeline": (4, 4, 8),
}


def chosen(name: str) -> tuple[int, int]:
    at = opening(name)
    if at.block is None:
        return 0, 0
    return at.block, WARP * (at.warp or 0) + (at.lane or 0)


@pytest.mark.parametrize("name", ON_GPU)
def test_values_products_and_sums_are_those_that_the_thread_read(name: str) -> None:
    playable = at_demo(name)
    recording, timeline, log = playable.recording, playable.timeline, playable.recording.accesses
    block, thread = chosen(name)
    staged = any(array.space == "shared" for array in recording.arrays)
    operands = np.arange(len(recording.arrays)) > C if staged else np.arange(len(recording.arrays)) < C
    mine = np.flatnonzero((log.block == block) & (log.thread == thread) & ~log.write & operands[log.array])
    steps = np.unique(timeline.step_of_row[mine])
    complete, reads = 0, {}
    for step in steps.tolist():
        known = outer_product(playable, block, thread, step)
        assert known is not None
        if known.k < 0:
            continue
        a, b = recording.a[known.rows, known.k], recording.b[known.k, known.columns]
        assert np.array_equal(known.a[~np.isnan(known.a)], a[~np.isnan(known.a)])
        assert np.array_equal(known.b[~np.isnan(known.b)], b[~np.isnan(known.b)])
        made = ~np.isnan(known.product)
        both = ~np.isnan(known.a)[:, None] & ~np.isnan(known.b)
        # A value that is read again for each product makes that product only then.
        once = known.reads == len(known.rows) + len(known.columns)
        assert np.array_equal(made, both) if once else (made <= both).all()
        assert np.array_equal(known.product[made], np.outer(a, b)[made])
        before = recording.a[known.rows, : known.k] @ recording.b[: known.k, known.columns]
        assert np.array_equal(known.before, before)
        assert np.array_equal(known.after, before + np.where(made, known.product, 0))
        latest = mine[timeline.step_of_row[mine] == step]
        assert set(log.array[latest].tolist()) <= {known.from_a, known.from_b}
        reads[known.k] = known.reads
        assert known.read <= known.reads and known.made == made.sum() <= known.products
        complete += bool(made.all())
    assert complete
    # Each value that the thread read counts at one place along K.
    assert sum(reads.values()) == len(recording.elements(mine)[0]) and sorted(reads) == list(range(recording.k))


@pytest.mark.parametrize("name", SHAPES)
def test_the_tile_and_the_reads_are_as_the_idea_says(name: str) -> None:
    playable = at_demo(name)
    block, thread = chosen(name)
    rows, columns, reads = SHAPES[name]
    known = outer_product(playable, block, thread, playable.timeline.steps - 1)
    assert known is not None
    of_block, of_thread = playable.recording.owners
    owned = np.argwhere((of_block == block) & (of_thread == thread))
    assert {(r, c) for r in known.rows.tolist() for c in known.columns.tolist()} == {(r, c) for r, c in owned.tolist()}
    assert (len(known.rows), len(known.columns), known.owned) == (rows, columns, len(owned))
    assert (known.reads, known.read, known.made, known.products) == (reads, reads, rows * columns, rows * columns)
    # At the end the last product makes the sum equal to the stored value.
    assert np.array_equal(known.after, playable.recording.c[np.ix_(known.rows, known.columns)])


@pytest.mark.sweep("simd")
@pytest.mark.parametrize("name", ON_CPU)
def test_a_loop_on_a_cpu_makes_the_products_of_one_k(name: str) -> None:
    playable = at_demo(name)
    recording, timeline, log = playable.recording, playable.timeline, playable.recording.accesses
    seen, reads = [], 0
    for step in range(timeline.steps):
        known = outer_product(playable, 0, 0, step)
        assert known is not None
        if known.k < 0:
            assert known.made == 0 and not seen
            continue
        made = ~np.isnan(known.product)
        factors = np.outer(recording.a[known.rows, known.k], recording.b[known.k, known.columns])
        assert made.sum() == known.made and np.array_equal(known.product[made], factors[made])
        # No order of k is taken for granted: but each of these loops goes up.
        before = recording.a[known.rows, : known.k] @ recording.b[: known.k, known.columns]
        assert np.array_equal(known.before, before) and np.array_equal(known.after[made], (before + factors)[made])
        place = int(known.rows[0]), int(known.columns[0]), known.k
        if not seen or place != seen[-1]:
            seen.append(place)
            reads += known.reads
    assert len(set(seen)) == len(seen) > 5
    # Every value that a product is made of was read for one of the places, and none that was only packed.
    panels = list(range(C + 1, len(recording.arrays)))
    operands = np.isin(log.array, panels or [A, B]) & ~log.write
    assert reads == len(recording.elements(np.flatnonzero(operands))[0])


def test_a_register_block_uses_each_value_several_times() -> None:
    known = outer_product(at_demo("register_block"), 0, 0, opening("register_block").step)
    assert known is not None
    assert (len(known.rows), len(known.columns)) == (4, 4)
    # As the recorder compiles it, the row of B is read again for each row of the tile.
    assert (known.reads, known.products) == (4 + 4 * 4, 16)


def test_a_loop_that_keeps_a_value_while_it_stores_sums_is_not_guessed_at() -> None:
    assert not knows_products(at_demo("loop_order")) and outer_product(at_demo("loop_order"), 0, 0, 100) is None
    assert all(knows_products(at_demo(name)) for name in (*ON_CPU, *ON_GPU)) and not knows_products(at_demo("wgmma"))


def test_a_thread_that_owns_nothing_has_no_outer_product() -> None:
    assert outer_product(at_demo("stream_k"), 0, 0, 10) is None  # it only copies
    assert outer_product(at_demo("matmul_tc"), 0, 0, 10) is None  # its warp multiplies together
