"""The table of faults on the page is the output of the script, and the script notices a broken promise."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from window_driving import need_qt

need_qt()

HOUSE = Path(__file__).parents[2]
BENCHMARKS = HOUSE / "benchmarks"


@pytest.fixture
def script(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    import faults

    return faults


def test_every_fault_is_in_the_table_and_was_survived(script):
    known = {fault.number: fault.name for kind in script.KINDS if kind != "gpu" for fault in script.faults(kind)}
    page = (HOUSE / "docs" / "reliability.md").read_text(encoding="utf-8")
    lines = page.split(script.BEGIN)[1].split(script.END)[0].splitlines()
    rows = [line.strip("| ").split(" | ") for line in lines if re.match(r"\| \d", line)]
    shown = {row[0]: row[1] for row in rows}
    assert {number: shown.get(number, "").split(" (*stand-in")[0] for number in known} == known
    assert {int(re.match(r"\d+", number)[0]) for number in shown} >= set(range(1, 34))
    assert {row[-2] for row in rows} == {"yes"}


@pytest.mark.thorough  # the whole script; its faults have tests of their own
def test_a_fault_is_provoked_and_a_broken_promise_is_noticed(script, tmp_path):
    done = subprocess.run(
        [sys.executable, str(BENCHMARKS / "faults.py"), "12", "--kind", "kernels"],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert "1 of 1 survived" in done.stdout

    def breaks(ground):
        raise script.Broken("it stands no more")

    row = script.one(script.Fault("1", "a fault", breaks), type("Ground", (), {"home": tmp_path})())
    assert (row["survived"], row["seen"]) == (False, "it stands no more")
