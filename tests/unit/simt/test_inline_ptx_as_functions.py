"""Inline PTX is recorded as the functions of gemmviz/ptx.h are: the GPU's header is inline PTX, and gives the same."""

from pathlib import Path

import numpy as np
import pytest
from gpu_header import gpu_header

from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.launch import launch, nearest_size
from gemmviz.catalogue.problem import Problem
from gemmviz.trace.recording.record import record
from gemmviz.trace.recording.recording import Recording

TESTS = Path(__file__).parents[1]
KERNELS = ["styles/pipelined", "styles/wgmma_ring", "hopper/multicast_tiles", "hopper/tma_tiles"]


def recorded(text: str, path: Path, as_written: bool) -> Recording:
    kernel = parse(text, path)
    size = nearest_size(kernel, Problem(64, 128, 64), kernel.defaults)
    assert size is not None
    return record(launch(kernel, size), deadline_s=60, as_written=as_written)


def places(recording: Recording) -> np.ndarray:
    """Line and column of each access."""
    return np.array([(site.line, site.column) for site in recording.sites])[recording.accesses.site]


@pytest.mark.sweep("styles/wgmma_ring-True")
@pytest.mark.parametrize("as_written", [False, True])
@pytest.mark.parametrize(
    "name", ["styles/pipelined", "styles/wgmma_ring", "hopper/multicast_tiles", "hopper/tma_tiles"]
)
def test_a_kernel_with_the_gpus_header_is_recorded_as_with_the_recorders(
    name: str, as_written: bool, tmp_path: Path
) -> None:
    path = TESTS / f"{name}.cu"
    text = path.read_text()
    functions = recorded(text, path, as_written)
    (tmp_path / "instructions.h").write_text("#pragma once\n" + gpu_header())
    inline = recorded(text.replace("<gemmviz/ptx.h>", '"instructions.h"'), tmp_path / path.name, as_written)
    assert functions.wrong == inline.wrong == 0
    assert (functions.together, functions.diagnostics) == (inline.together, inline.diagnostics)
    for column in ("array", "write", "element", "bytes", "value", "block", "thread", "phase"):
        ours, theirs = (getattr(recording.accesses, column) for recording in (functions, inline))
        assert len(ours) == len(theirs) and (ours == theirs).all(), column
    assert (places(functions) == places(inline)).all()
    assert [array.name for array in functions.arrays] == [array.name for array in inline.arrays]
    assert (functions.events.line == inline.events.line).all() and len(functions.events.line) == len(inline.events.line)
    assert (functions.events.kind == inline.events.kind).all()
