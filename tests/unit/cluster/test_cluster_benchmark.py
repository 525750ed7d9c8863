"""The script that simulates large clusters."""

import runpy
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[3] / "benchmarks" / "cluster.py"
ORDER = SCRIPT.with_name("cluster_order.py")
pytestmark = pytest.mark.skipif(not SCRIPT.exists(), reason="runs from a wheel, where there are no benchmarks")


def test_more_gpus_help_until_the_scheduler_or_the_number_of_pieces_is_the_limit():
    simulated = runpy.run_path(str(SCRIPT))["simulated"]
    one, ten = (simulated(200, 4, gpus, 0.001) for gpus in (1, 10))
    assert 9 < one / ten <= 10.1
    assert simulated(5, 4, 5, 0.001) == simulated(5, 4, 1000, 0.001)  # no more pieces than GPUs
    busy = simulated(200, 4, 1000, 1.0)  # the scheduler needs 0.5 s to start each
    assert 100 < busy < 200


def test_the_orders_of_pieces_differ_where_one_piece_is_long():
    ways = runpy.run_path(str(ORDER))["WAYS"]
    pieces = [(1.0, 1.0), (1.0, 1.0), (1.0, 1.0), (3.0, 3.0)]
    seconds = {name: served(pieces, 2) for name, served in ways.items()}
    assert seconds["all given at the start"] == 4.0
    assert seconds["one when free, small sizes first"] == 4.0
    assert seconds["one when free, most work first"] == seconds["the same, durations known"] == 3.0
    wrong_estimate = [(1.0, 3.0), (2.0, 1.0), (2.0, 1.0), (2.0, 1.0)]
    assert ways["one when free, most work first"](wrong_estimate, 2) == 4.0
    assert ways["the same, durations known"](wrong_estimate, 2) == 3.0


@pytest.mark.thorough
def test_the_script_runs_with_few_pieces():
    pytest.importorskip("distributed")
    done = subprocess.run([sys.executable, str(SCRIPT), "--pieces", "2"], capture_output=True, text=True, check=True)
    assert done.stdout.count(" GPUs\n") == 3 and "measured here" in done.stdout
