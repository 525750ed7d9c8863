"""The copies to the device and back: a separate row."""

from types import SimpleNamespace

import pytest
from fake_backend import FakeBackend, FakeTrip

from gemmviz.backends.base import DeviceFault
from gemmviz.bench import transfers
from gemmviz.bench.measure import Bench, MeasureStep
from gemmviz.bench.protocol import Protocol
from gemmviz.bench.verification_reference import References
from gemmviz.catalogue.problem import Problem

FAST = Protocol(min_samples=3, min_time_s=0, timeout_s=5)
SIZE = Problem(12, 7, 5)


def measure(backend):
    records = list(transfers.measure(SIZE, "float16", "float32", Bench(FAST, lambda name: backend, References(1))))
    rows = [record for record in records if not isinstance(record, MeasureStep)]
    return rows[0] if rows else None


def test_both_ways_are_measured_and_the_bytes_of_all_three_matrices_count():
    row = measure(FakeBackend(gpu=True))
    assert (row["kernel"], row["backend"], row["status"]) == ("transfer", "transfer", "ok")
    assert row["transfer"] == {"to_device_s": 3e-3, "to_host_s": 1e-3}
    assert row["stats"]["median"] == pytest.approx(4e-3)
    assert row["gbps"] == pytest.approx((2 * (12 * 5 + 5 * 7) + 4 * 12 * 7) / 4e-3 / 1e9)
    assert row["gflops"] is None
    assert row["stop_reason"] == "steady" and row["flags"] == []


def test_copies_whose_times_spread_are_sampled_for_two_seconds_at_most(monkeypatch):
    clock, trip, seconds = iter(range(1000)), FakeTrip(), iter([3e-3, 6e-3] * 500)
    monkeypatch.setattr(transfers, "time", SimpleNamespace(perf_counter=lambda: 0.05 * next(clock)))
    trip.go = lambda: (next(seconds), 1e-3)
    backend = FakeBackend(gpu=True)
    backend.trip = lambda *arguments: trip
    row = measure(backend)
    assert (row["stop_reason"], row["flags"]) == ("timeout", ["noisy"])
    assert 35 < row["stats"]["n"] < 45


def test_where_nothing_is_copied_there_is_no_row():
    assert measure(FakeBackend()) is None


@pytest.mark.parametrize(
    ("error", "status", "says"),
    [(MemoryError(), "oom", "smaller size"), (DeviceFault("the device is lost"), "crash", "the device is lost")],
)
def test_every_fault_is_a_row(error, status, says):
    backend = FakeBackend(gpu=True)

    def trip(problem, dtype, accumulate):
        raise error

    backend.trip = trip
    row = measure(backend)
    assert row["status"] == status and says in row["message"]


def test_a_trip_that_breaks_gives_its_memory_back():
    backend, trip = FakeBackend(gpu=True), FakeTrip()

    def broken():
        raise DeviceFault("the device is lost")

    trip.go = broken
    backend.trip = lambda *arguments: trip
    assert measure(backend)["status"] == "crash"
    assert trip.closed
