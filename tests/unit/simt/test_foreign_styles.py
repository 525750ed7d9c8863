"""Whole kernels in styles that the ladder has not: guessed, recorded, checked, verified and measured, unchanged."""

import threading
from pathlib import Path

import numpy as np
import pytest
from consenting import AllowsAll

from gemmviz.catalogue.guessing.guess import guess
from gemmviz.catalogue.guessing.guessed_kernel import guessed_kernel
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.launch import launch, nearest_size
from gemmviz.catalogue.problem import Problem
from gemmviz.engine.messages import BenchDone, BenchRequest
from gemmviz.engine.supervisor import Engine
from gemmviz.trace import hazards
from gemmviz.trace.recording.record import record

FILES = sorted((Path(__file__).parents[1] / "foreign").glob("*.c*"))
SIZES = (Problem(48, 32, 64), Problem(37, 45, 41), Problem(1, 1, 1), Problem(70, 130, 24))
FAST = {
    **{"rounds": 1, "warmup_launches": 1, "warmup_s": 0},
    **{"min_samples": 3, "min_time_s": 0, "target_iqr": 10, "timeout_s": 2},
}
ARGS = {
    "blocked": "N M K B A C",
    "column_major": "C ldc B ldb A lda K N M beta alpha",
    "sgemm_vectorised": "M N K alpha A B beta C",
    "swizzled_half": "A B C M N K",
    "with_host": "A B C N",
}


def described(path: Path) -> Kernel:
    return guessed_kernel(guess(path.read_text(), path))


def measured(path: Path) -> list[dict[str, object]]:
    kernel = described(path)
    sizes = {nearest_size(kernel, size, kernel.defaults) for size in SIZES}
    engine = Engine(AllowsAll())
    try:
        entries = [{"path": str(path), "text": kernel.text, "params": {}}]
        request = BenchRequest(1, entries, [(s.m, s.n, s.k) for s in sizes if s], FAST)
        replies = list(engine.run(request, threading.Event()))
    finally:
        engine.close()
    assert isinstance(replies[-1], BenchDone), replies[-1]
    return [row for row in replies[-1].document["results"] if row["backend"] != "transfer"]


def test_every_foreign_file_is_tested() -> None:
    assert {path.stem for path in FILES} == ARGS.keys()


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_it_is_guessed_without_a_doubt_and_without_a_change(path: Path) -> None:
    made = guess(path.read_text(), path)
    assert made.doubts == []
    assert guessed_kernel(made).text.endswith(path.read_text())
    assert " ".join(guessed_kernel(made).args) == ARGS[path.stem]


@pytest.mark.sweep("with_host", "swizzled_half", "column_major")
@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_it_records_right_and_the_checker_finds_nothing(path: Path) -> None:
    kernel = described(path)
    for size in {nearest_size(kernel, size, kernel.defaults) for size in SIZES[:3]}:
        assert size is not None
        recording = record(launch(kernel, size))
        assert (recording.wrong, recording.notes) == (0, ())
        assert hazards.find(recording, c_is_input="beta" in kernel.args) == []


@pytest.mark.parametrize("path", [p for p in FILES if p.suffix == ".c"], ids=lambda p: p.stem)
def test_it_is_verified_and_measured_on_the_cpu(path: Path) -> None:
    rows = measured(path)
    assert rows
    assert [(row["status"], row["message"]) for row in rows if row["status"] != "ok"] == []
    assert np.all([float(str(row["gflops"])) > 0 for row in rows])


@pytest.mark.gpu
@pytest.mark.parametrize("path", [p for p in FILES if p.suffix == ".cu"], ids=lambda p: p.stem)
def test_it_is_verified_and_measured_on_the_gpu(path: Path) -> None:
    rows = measured(path)
    assert rows
    assert [(row["status"], row["message"]) for row in rows if row["status"] != "ok"] == []
