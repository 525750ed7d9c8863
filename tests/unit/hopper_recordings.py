"""Kernels for Hopper, and their recordings."""

from pathlib import Path

from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.launch import Launch, launch
from gemmviz.catalogue.problem import Problem
from gemmviz.trace.recording.record import record
from gemmviz.trace.recording.recording import Recording

STYLES = Path(__file__).parent / "styles"
RING, FFMA, SHAPES = ((STYLES / f"{name}.cu").read_text() for name in ("wgmma_ring", "tma_ffma", "wgmma_shapes"))


def launched(text: str, problem: Problem, **params: int) -> Launch:
    return launch(parse(text, Path("hopper.cu")), problem, params)


def recorded(text: str, problem: Problem, **params: int) -> Recording:
    return record(launched(text, problem, **params), deadline_s=20)
