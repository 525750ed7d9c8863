"""The last write of each element at a step: found by a search, or by looking at all writes if these are few."""

import numpy as np
import pytest
from recordings import played

from gemmviz.catalogue.problem import Problem
from gemmviz.trace.origin import array_state
from gemmviz.trace.origin.array_state import history

C = 2


@pytest.mark.parametrize("most", [0, 4, 100])
@pytest.mark.parametrize(("name", "params"), [("gputiled", {"TS": 4}), ("hostmult0", {})])
def test_the_last_writes_are_those_of_the_rows(monkeypatch, most, name, params):
    monkeypatch.setattr(array_state, "_MOST_PER_SLOT", most)
    playable = played(name, Problem.cube(8), params)
    recording, steps = playable.recording, playable.timeline
    found, log = history(recording, steps), recording.accesses
    for array in range(C, len(recording.arrays)):
        shared = recording.arrays[array].space == "shared"
        for block in range(recording.blocks if shared else 1):
            for step in (0, steps.steps // 3, steps.steps // 2, steps.steps - 1):
                rows = np.flatnonzero(log.write & (log.array == array) & (steps.step_of_row <= step))
                rows = rows[log.block[rows] == block] if shared else rows
                wanted = np.full(recording.arrays[array].size, -1)
                for row in rows[np.argsort(steps.step_of_row[rows], kind="stable")]:
                    wanted[log.element[row]] = row
                assert (found.last_write(array, step, block) == wanted).all()
