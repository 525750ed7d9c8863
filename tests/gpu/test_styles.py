"""Kernels in common styles on a real GPU, as they stand: right there too, and as in the recorder."""

import threading
from pathlib import Path

import pytest
from consenting import AllowsAll

from gemmviz.catalogue.kernel import load
from gemmviz.catalogue.launch import launch, nearest_size
from gemmviz.catalogue.problem import Problem
from gemmviz.engine.messages import BenchDone, BenchRequest
from gemmviz.engine.supervisor import Engine
from gemmviz.trace.recording.record import record

pytestmark = pytest.mark.gpu
STYLES = sorted((Path(__file__).parents[1] / "unit/styles").glob("*.cu"))
FAST = {
    **{"rounds": 1, "warmup_launches": 1, "warmup_s": 0},
    **{"min_samples": 3, "min_time_s": 0, "target_iqr": 10, "timeout_s": 2},
}


@pytest.fixture(scope="module")
def engine():
    engine = Engine(AllowsAll())
    yield engine
    engine.close()


@pytest.mark.parametrize("path", STYLES, ids=lambda path: path.stem)
@pytest.mark.parametrize("size", [(64, 64, 64), (97, 61, 59)], ids=str)
def test_a_style_is_verified_and_measured_as_it_stands(engine, path, size):
    kernel = load(path)
    nearest = nearest_size(kernel, Problem(*size), kernel.defaults)
    entries = [{"path": str(path), "text": kernel.text, "params": {}}]
    sizes = [(nearest.m, nearest.n, nearest.k)]
    replies = list(engine.run(BenchRequest(1, entries, sizes, FAST), threading.Event()))
    assert isinstance(replies[-1], BenchDone), replies[-1]
    (row,) = [row for row in replies[-1].document["results"] if row["backend"] != "transfer"]
    assert row["status"] == "ok", row["message"]
    assert row["verify"]["after"] == "ok"
    assert record(launch(kernel, nearest), deadline_s=20).wrong == 0
