"""A process without a reply is given up after its limit of processor time, and a sleeping one after it by the clock."""

from collections.abc import Callable

import pytest

from gemmviz.engine import patience

Run = Callable[[float], tuple[float, float]]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Run:
    """Return a function that runs a process with a share of a processor until it is given up, at a limit of 2 s."""

    def runs(share: float) -> tuple[float, float]:
        now = [100.0]
        monkeypatch.setattr(patience.time, "monotonic", lambda: now[0])
        monkeypatch.setattr(patience, "processor_time", lambda pid: 7.0 + share * (now[0] - 100))
        waiting = patience.Patience(lambda: 1, 2.0)
        while not waiting.is_over():
            now[0] += 0.125
        return now[0] - 100, waiting.given

    return runs


@pytest.mark.parametrize("share", [1.0, 0.97])
def test_a_process_alone_on_its_processor_has_its_limit_by_the_clock(run: Run, share: float) -> None:
    assert run(share) == (2, 2)


def test_a_process_that_gets_a_fifth_of_a_processor_has_its_limit_of_processor_time(run: Run) -> None:
    assert run(0.2) == (10, 10)


def test_a_process_that_sleeps_is_given_up_at_its_limit_by_the_clock(run: Run) -> None:
    assert run(0.0) == (2, 2)


def test_a_process_that_gets_hardly_anything_is_given_up_in_the_end(run: Run) -> None:
    assert run(0.05) == (20, 20)


def test_a_reply_begins_a_new_limit_and_without_one_nothing_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(patience.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(patience, "processor_time", lambda pid: now[0])
    waiting = patience.Patience(lambda: 1, 2.0)
    now[0] = 1.5
    waiting.heard(2.0)
    now[0] = 3.0
    assert not waiting.is_over()
    now[0] = 3.5
    assert waiting.is_over()
    waiting.heard(None)
    now[0] = 1e6
    assert not waiting.is_over()
