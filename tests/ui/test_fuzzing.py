"""The script that opens damaged files in the window, at its smallest size: it counts all files and finds no fault."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from window_driving import need_qt

need_qt()

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "fuzzing.py"
KINDS = ("front-matter", "kernels", "states", "lessons", "results", "preferences")

if not SCRIPT.is_file():
    pytest.skip("the benchmarks are not beside these tests", allow_module_level=True)


def run(*options, folder):
    command = [sys.executable, str(SCRIPT), "--deadline", "600", "--keep", str(folder), *options]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | {"PYTHONUTF8": "1"})


def rows(output):
    """Return the figures of the table by kind: tried, opened, refused, faults, late, left."""
    found = re.findall(r"^([\w-]+) +(\d+) +(\d+) +(\d+) +(\d+) +(\d+) +[\d.]+ +(\d+)$", output, re.MULTILINE)
    return {kind: tuple(map(int, figures)) for kind, *figures in found}


@pytest.mark.thorough
def test_a_few_damaged_files_of_every_kind_are_opened_or_refused(tmp_path):
    done = run("--together", "--own-cache", "--counts", *(f"{kind}=1" for kind in KINDS), folder=tmp_path)
    table = rows(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr
    assert tuple(table) == KINDS
    for tried, opened, refused, *faults in table.values():
        assert tried == 1 == opened + refused and not any(faults)


def test_an_impossible_count_is_refused(tmp_path):
    done = run("--counts", "kernels=many", folder=tmp_path)
    assert done.returncode == 2 and "KIND=N" in done.stderr
