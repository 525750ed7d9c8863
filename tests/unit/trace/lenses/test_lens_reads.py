"""How often elements have been read, against the recorded accesses one by one, at steps in any order."""

import random
from itertools import pairwise

import numpy as np
import pytest
from lens_recordings import playable

from gemmviz.trace.lenses.read_counts import ReadCounts, levels, read_counts

RECORDINGS = [
    ("blocked", 8, 8, 8),
    ("packed", 8, 9, 7),
    ("gputiled", 32, 32, 16),
    ("vectorised", 64, 64, 32),
    ("matmul_tc", 32, 32, 16),
    ("wgmma", 128, 128, 128),
]


def counted(shown, step, block):
    """Count reads per array and element, and written elements per array, access by access."""
    recording, log = shown.recording, shown.recording.accesses
    reads = [np.zeros(a.size, int) for a in recording.arrays]
    written = [0] * len(reads)
    for row in np.flatnonzero(shown.timeline.step_of_row <= step).tolist():
        array = int(log.array[row])
        info = recording.arrays[array]
        if info.space == "shared" and log.block[row] != block:
            continue
        first, count = int(log.element[row]), max(int(log.bytes[row]) // info.itemsize, 1)
        if log.write[row]:
            written[array] += count
        else:
            reads[array][first : first + count] += 1
    return reads, written


@pytest.mark.sweep("which0", "which1", "which3")
@pytest.mark.parametrize("which", RECORDINGS)
def test_reads_are_those_of_the_accesses(which):
    shown = playable(*which)
    steps = shown.timeline.steps
    chosen = random.Random(7).choices(range(steps), k=5)
    for step in [0, *chosen, max(chosen) - 1, max(chosen), steps - 1]:
        block = step % shown.recording.blocks
        reads, written = counted(shown, step, block)
        found = read_counts(shown).at(step, block)
        assert [f.array for f in found] == [i for i in range(len(reads)) if i != 2]
        for one in found:
            assert (one.reads == reads[one.array]).all() and one.written == written[one.array]
            assert one.most == reads[one.array].max() and one.total == reads[one.array].sum()
            assert one.mean == pytest.approx(reads[one.array].mean())


def test_the_way_to_a_step_makes_no_difference():
    shown = playable("gputiled", 32, 32, 32)
    step = shown.timeline.steps // 2
    for before in (0, step - 1, step + 1, shown.timeline.steps - 1):
        counts = ReadCounts(shown)
        counts.at(before, 1)
        fresh = ReadCounts(shown).at(step, 0)
        assert all((a.reads == b.reads).all() for a, b in zip(counts.at(step, 0), fresh, strict=True))


def test_levels_double_up_to_the_counts_at_the_end():
    shown = playable("gputiled", 32, 32, 32)
    bounds = levels(shown)
    assert bounds[:2] == [0, 1] and all(b == 2 * a for a, b in pairwise(bounds[1:]))
    means = [reads.mean for reads in read_counts(shown).at(shown.timeline.steps - 1, 0)]
    assert bounds[-1] // 2 < max(means) <= bounds[-1]
    assert len(levels(playable("hostmult1_opt", 64, 64, 64))) <= 9
