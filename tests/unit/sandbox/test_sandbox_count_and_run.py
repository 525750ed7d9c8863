"""A launch is counted and recorded in one process of the sandbox; after an error, in another one."""

import subprocess
import sys

import pytest

from gemmviz.sandbox import libc

pytestmark = pytest.mark.skipif(not libc.LINUX, reason="the sandbox needs Linux")

_BEGIN = """
import sys
from pathlib import Path
import numpy as np
from gemmviz.catalogue.errors import KernelTimeout
from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.sandbox import confined
from gemmviz.sandbox.limits import Limits
from gemmviz.simt import apart
from gemmviz.simt.build import build
from gemmviz.trace.recording.record import record


class Counted(confined.Session):
    started = 0

    def __init__(self, *arguments, **options):
        Counted.started += 1
        super().__init__(*arguments, **options)


confined.Session = Counted
confined.start(Path(sys.argv[1]), Limits())
"""
_RECORD = """
job = launch(find("gputiled", ladder()), Problem.cube(104), {"TS": 8})
texts = []
recorded = record(job, progress=lambda text, within_s: texts.append(text))
assert any("accesses" in text for text in texts), texts
print(Counted.started, recorded.wrong, len(recorded.accesses))
"""
_AFTER_AN_ERROR = '''
TEXT = """// ---gemmviz
// entry = "k"
// args = ["A", "B", "C", "N"]
// block = ["64"]
// grid = ["1"]
// ---
__global__ void k(const float *A, const float *B, float *C, int N)
{
    while (N == 8 && A[0] != 5) C[1] = A[2];
    C[threadIdx.x] = A[threadIdx.x];
}
"""
kernel = parse(TEXT, Path("mine.cu"))
job, endless = (launch(kernel, Problem.cube(size)) for size in (16, 8))
with apart.Process(build(job), job, 1000) as process:
    counted = process.count(job, deadline_s=5, limit=1000)
    try:
        process.count(endless, deadline_s=0.2, limit=10**9)
    except KernelTimeout:
        print("late", counted.accesses, Counted.started)
    raw = process.run(np.zeros(256, np.float32), np.zeros(256, np.float32), deadline_s=5)
print(len(raw.columns["site"]), Counted.started)
'''


def answer(script, tmp_path):
    command = [sys.executable, "-c", _BEGIN + script, str(tmp_path)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.split()


def test_a_launch_is_counted_and_recorded_in_one_process(tmp_path):
    started, wrong, accesses = map(int, answer(_RECORD, tmp_path))
    assert (started, wrong) == (1, 0) and accesses > 1_000_000


def test_after_an_error_of_a_count_another_process_records(tmp_path):
    assert answer(_AFTER_AN_ERROR, tmp_path) == ["late", "128", "1", "128", "2"]
