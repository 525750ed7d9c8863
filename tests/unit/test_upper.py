"""Kernels of the upper ladder, from vectorised loads to clusters: each is recorded as it stands, and right."""

from pathlib import Path

import pytest

from gemmviz.catalogue.errors import ConstraintError
from gemmviz.catalogue.kernel import load
from gemmviz.catalogue.launch import Launch, launch, nearest_size
from gemmviz.catalogue.problem import Problem
from gemmviz.trace.hazards import find
from gemmviz.trace.record import record

FILES = sorted((Path(__file__).parent / "upper").glob("*.cu"))
# More than one tile of the largest kind in each direction, and edges that fill no tile.
ODD = Problem(132, 264, 72)


def launched(path: Path) -> Launch:
    kernel = load(path)
    # Few blocks that stay, so that each takes several tiles.
    params = {"BLOCKS": 2} if "BLOCKS" in kernel.params else {}
    try:
        return launch(kernel, ODD, params)
    except ConstraintError:
        nearest = nearest_size(kernel, ODD, kernel.defaults | params)
        assert nearest is not None
        return launch(kernel, nearest, params)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_kernel_of_the_upper_ladder_is_right_and_nothing_is_found(path: Path) -> None:
    recording = record(launched(path))
    assert recording.wrong == 0 and not recording.notes
    assert find(recording) == []
