"""Flags of a CPU's rows: a clock that moves, and a reference that NumPy beats."""

import pytest

from gemmviz.backends.watch import Observed, watch_cpu
from gemmviz.bench import quality_flags, results, rows
from gemmviz.bench.timing import Cold
from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.problem import Problem


@pytest.fixture
def new_row(tmp_path):
    kernel = parse('library = "openblas"\n', tmp_path / "18_openblas.toml")
    return lambda: results.new_row(kernel, Problem(8, 8, 8), {})


def add_round(row, paces, *pace):
    cold = Cold("a kernel", 1024, [1e-3] * 10, 0.01, "steady")
    rows.describe_round(row, cold, 10, Observed(pace=list(pace)), paces)


def test_a_clock_that_moves_between_kernels_is_flagged(new_row):
    paces, first, second = [], new_row(), new_row()
    add_round(first, paces, 1000.0, 990.0)
    assert first["flags"] == [] and first["cpu_pace"] == [1000.0, 990.0]
    add_round(second, paces, 940.0, 945.0)
    assert second["flags"] == ["clock-moved"] and second["cpu_pace"] == [940.0, 945.0]


def test_a_clock_that_moves_within_a_kernel_is_flagged_and_stays_so(new_row):
    row = new_row()
    add_round(row, [], 1000.0, 940.0)
    assert row["flags"] == ["clock-moved"]
    quality_flags.judge(row)
    assert row["flags"] == ["clock-moved"]


def test_a_gpu_has_no_pace(new_row):
    row = new_row()
    add_round(row, [])
    assert row["flags"] == [] and "cpu_pace" not in row


def test_a_reference_that_numpy_beats_is_flagged(new_row):
    for own, numpys, flags in [(1.0, 1.0, []), (1.04, 1.0, []), (1.06, 1.0, ["slower-than-numpy"])]:
        row = new_row()
        rows.describe_rival(row, (own, numpys))
        quality_flags.judge(row)
        assert row["flags"] == flags
    row = new_row()
    row["flags"] = ["contended"]
    rows.describe_rival(row, (2.0, 1.0))
    assert row["flags"] == ["contended"]


def test_a_stretch_has_a_pace_before_and_after():
    with watch_cpu() as seen:
        pass
    assert len(seen.pace) == 2 and min(seen.pace) > 0
