"""Measuring with a backend that misbehaves on purpose."""

import re
import time
from pathlib import Path

import numpy as np
import pytest
from fake_backend import FakeBackend, FakePrepared, multiply

from gemmviz.backends.base import DeviceFault, HasRival, LaunchError
from gemmviz.bench.measure import Bench, Finished, Measurement, MeasureStep
from gemmviz.bench.protocol import Protocol
from gemmviz.bench.rounds import take_turns
from gemmviz.bench.timing import Samples
from gemmviz.bench.verification_reference import References
from gemmviz.catalogue.errors import BuildError, Unavailable
from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.problem import Problem

FAST = Protocol(rounds=1, warmup_launches=1, warmup_s=0, min_samples=3, min_time_s=0, target_iqr=10, timeout_s=5)
SOURCE = """// ---gemmviz
// entry  = "mine"
// args   = ["C", "A", "B", "M", "N", "K"]
// params = { T = [4, 8] }
// requires = ["M % T == 0"]
// ---
void mine(float *c, float *a, float *b, int m, int n, int k) {}
"""
KERNEL = parse(SOURCE, Path("mine.c"))


def records(backend, problem=None, protocol=FAST, params=None, kernel=KERNEL):
    problem = problem or Problem(12, 7, 5)
    bench = Bench(protocol, lambda name: backend, References(1))
    one = Measurement(kernel, problem, params or {}, bench)
    return [record for _, _, record in take_turns([one], protocol.rounds)]


def row(backend, **options):
    last = records(backend, **options)[-1]
    assert isinstance(last, Finished)
    return last.row


def test_a_right_kernel_gets_its_figures():
    found = row(FakeBackend())
    assert found["status"] == "ok"
    assert found["verify"]["before"] == found["verify"]["after"] == "ok"
    assert found["gflops"] == pytest.approx(2 * 12 * 7 * 5 / found["stats"]["median"] / 1e9)
    assert found["stats"]["n"] == len(found["samples_s"]) >= 3
    assert found["compile_flags"] == ["-fake"]
    assert (found["local_bytes"], found["barriers"]) == (16, 2)
    assert found["first_launch_s"] > 0
    assert found["params"] == {"T": 4}


def test_the_very_first_launch_is_timed_until_it_ends():
    def slow_at_first(a, b, c, launches):
        time.sleep(0 if launches else 0.02)
        multiply(a, b, c, launches)

    assert row(FakeBackend(slow_at_first))["first_launch_s"] >= 0.02


class WithRival(FakeBackend):
    """A reference that is half as fast as the product of another library."""

    def prepare(self, launch):
        super().prepare(launch)
        return PreparedWithRival(launch, self)


class PreparedWithRival(FakePrepared, HasRival):
    def rival(self):
        return 2.0, 1.0


def test_a_reference_is_compared_with_its_rival_unless_a_launch_takes_long():
    assert row(WithRival())["flags"] == ["slower-than-numpy"]
    found = row(WithRival(seconds=[20.0] * 9))
    assert found["stop_reason"] == "slow" and "slower-than-numpy" not in found["flags"]


def test_stages_come_in_order_and_verification_comes_before_timing():
    texts = [r.text.split(": ")[1] for r in records(FakeBackend()) if isinstance(r, MeasureStep)]
    order = ["preparing", "compiling", "launching for the first time", "computing the reference", "verifying"]
    assert list(dict.fromkeys(texts)) == [*order, "warming up", "timing", "verifying again"]


def test_samples_are_reported_as_they_come_and_none_twice():
    found = records(FakeBackend())
    sent = [s for r in found if isinstance(r, Samples) for s in r.seconds]
    assert sent == pytest.approx(found[-1].row["samples_s"], rel=1e-5)


def wrong_by_one_term(a, b, c, launches):
    multiply(a, b, c, launches)
    c.view[3] -= a[0, 0] * b[0, 3]


def never_writes_the_last(a, b, c, launches):
    keep = c.view[-1]
    multiply(a, b, c, launches)
    c.view[-1] = keep


def writes_nan(a, b, c, launches):
    multiply(a, b, c, launches)
    c.view[0] = np.nan


def writes_before_c(a, b, c, launches):
    multiply(a, b, c, launches)
    c.raw[c._start - 4 : c._start] = 0


def writes_behind_c(a, b, c, launches):
    multiply(a, b, c, launches)
    c.raw[c._start + c._bytes] = 0


def right_then_wrong(a, b, c, launches):
    multiply(a, b, c, launches)
    if launches >= 4:
        c.view[0] += 1


@pytest.mark.parametrize(
    ("kernel", "says"),
    [
        (wrong_by_one_term, r"1 of 84 elements of C are wrong; the worst is C\[0, 3\]"),
        (never_writes_the_last, r"C\[11, 6\] = nan"),
        (writes_nan, r"C\[0, 0\] = nan"),
        (writes_before_c, "outside C"),
        (writes_behind_c, "outside C"),
        (right_then_wrong, "right at first, wrong after many launches"),
    ],
)
def test_a_wrong_kernel_gets_no_figures(kernel, says):
    backend = FakeBackend(kernel)
    found = row(backend)
    assert found["status"] == "wrong"
    assert re.search(says, found["message"])
    assert found["gflops"] is None and found["stats"] is None and found["samples_s"] == []
    assert backend.closed == 1


def test_a_missing_term_shows_where_the_rounding_bound_is_too_wide_to_see_it():
    # At this K the bound for random inputs is wider than any single product; whole numbers are exact.
    found = row(FakeBackend(wrong_by_one_term), problem=Problem(4, 4, 20_000))
    assert found["status"] == "wrong"
    assert found["verify"]["tolerance"] == 0


def test_a_kernel_that_multiplies_c_by_beta_zero_may_read_any_old_c():
    text = SOURCE.replace('"K"]', '"K", "alpha", "beta"]').replace("int k", "int k, float alpha, float beta")

    def with_beta(a, b, c, launches):
        alpha, beta = backend.scalars
        c.view[:] = alpha * (a @ b).reshape(-1) + beta * c.view

    backend = FakeBackend(with_beta)
    found = row(backend, kernel=parse(text, Path("mine.c")))
    assert found["status"] == "ok", found["message"]


@pytest.mark.parametrize(
    ("backend", "status", "says"),
    [
        (FakeBackend(prepare_error=BuildError("mine.c:7: no such type", 7)), "compile", "no such type"),
        (FakeBackend(prepare_error=LaunchError("too many registers")), "launch", "registers"),
        (FakeBackend(run_error=LaunchError("too many threads")), "launch", "threads"),
        (FakeBackend(run_error=DeviceFault("illegal address")), "crash", "illegal address"),
        (FakeBackend(run_error=MemoryError()), "oom", "smaller size"),
        (FakeBackend(run_error=RuntimeError("some library's own")), "launch", "some library's own"),
        (FakeBackend(prepare_error=Unavailable("no compiler: install one")), "skipped", "install one"),
    ],
)
def test_every_fault_is_a_row(backend, status, says):
    found = row(backend)
    assert found["status"] == status
    assert says in found["message"]
    assert found["gflops"] is None
    if status == "compile":
        assert found["line"] == 7


def test_a_declared_constraint_refuses_the_size_and_offers_another():
    found = row(FakeBackend(), problem=Problem(13, 7, 5))
    assert found["status"] == "unsupported"
    assert "M % T == 0" in found["message"] and "12 x 7 x 5" in found["message"]


def test_a_size_that_cannot_fit_is_refused_with_the_largest_that_does():
    found = row(FakeBackend(free=1 << 20), problem=Problem.cube(4096))
    assert found["status"] == "oom"
    largest = int(found["message"].rsplit(" ", 1)[1])
    needed = FakeBackend().needed_bytes
    assert needed(Problem.cube(largest), 4) <= 1 << 20 < needed(Problem.cube(largest + 1), 4)


def test_sampling_stops_at_the_timeout_and_says_that_the_figure_is_noisy():
    noisy = [1.0, 2.0, 3.0, 4.0] * 100_000
    protocol = Protocol(
        rounds=1, warmup_launches=1, warmup_s=0, min_samples=3, min_time_s=0, target_iqr=0.0, timeout_s=0.15
    )
    found = row(FakeBackend(seconds=noisy), protocol=protocol)
    assert found["status"] == "ok"
    assert found["stop_reason"] == "timeout"
    assert "noisy" in found["flags"]


def test_inputs_are_the_same_for_the_same_seed():
    seen = []

    def remember(a, b, c, launches):
        multiply(a, b, c, launches)
        seen.append(float(a[0, 0]))

    row(FakeBackend(remember))
    first, seen[:] = list(seen), []
    row(FakeBackend(remember))
    assert seen[:2] == first[:2]
