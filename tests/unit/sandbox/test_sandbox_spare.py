"""The process for the next kernel is forked beforehand, and replaced if something has ended it."""

import subprocess
import sys

import pytest

from gemmviz.sandbox import libc
from gemmviz.sandbox.spare import Spare

pytestmark = pytest.mark.skipif(not libc.LINUX, reason="the sandbox needs Linux")

_ENGINE = """
import operator, os, signal, sys, time
from pathlib import Path
from gemmviz.sandbox import confined, processes
from gemmviz.sandbox.limits import Limits

scratch = Path(sys.argv[1])
confined.start(scratch, Limits())
below = 3 if confined.has_namespace() else 2


def waiting(other_than):
    found = []
    while len(found) < below or found[-1].listed == other_than:
        time.sleep(0.01)
        found = processes.descendants(os.getpid())
    return found[-1].listed


first = waiting(None)
assert confined.call(operator.add, (1, 2), scratch, ()) == 3
second = waiting(first)
os.kill(second, signal.SIGKILL)
while not processes._is_over(second):
    time.sleep(0.01)
assert confined.call(operator.add, (3, 4), scratch, ()) == 7
print("done")
"""


def test_a_spare_process_that_was_ended_is_replaced(tmp_path):
    answer = subprocess.run(
        [sys.executable, "-c", _ENGINE, str(tmp_path)], capture_output=True, text=True, timeout=60, check=False
    )
    assert answer.stdout == "done\n", answer.stderr


def test_a_spare_process_ends_if_it_is_not_needed():
    spare = Spare(lambda: None, lambda ready, descriptors: None)
    spare.end()
    with pytest.raises(OSError, match=r"closed|descriptor"):
        spare.start([0])
