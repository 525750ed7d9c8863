"""A search for parameters: refused kernels, its progress, and its kept results."""

import pytest

from gemmviz.catalogue.ladder import find
from gemmviz.catalogue.problem import Problem
from gemmviz.control.checks import Checks
from gemmviz.control.tuning_runner import TuningRunner
from gemmviz.engine.messages import Failed, Progress, TuneRequest


@pytest.fixture
def runner(session, engines):
    return TuningRunner(session, engines, Checks(session, engines))


def test_a_kernel_without_parameters_and_one_that_is_busy_are_not_tuned(session, runner):
    runner.use()
    assert "nothing to use" in session.messages.current.text
    session.choice.choose_kernel(find("hostmult0", session.choice.kernels))
    runner.start()
    assert "declares no parameters" in session.messages.current.text and not session.tuning.running
    session.choice.choose_kernel(find("gputiled", session.choice.kernels))
    session.progress.set("bench", ("busy", None))
    runner.start()
    assert "being measured" in session.messages.current.text and not session.tuning.running


def test_an_exhibit_is_never_timed(session, engines, runner):
    session.choice.choose_kernel(next(kernel for kernel in session.choice.kernels if kernel.exhibit))
    runner.start()
    assert not engines.bench.requests and "is an exhibit" in session.messages.current.text


def test_the_chosen_kernel_is_tuned_at_the_size_chosen_for_measuring(session, engines, runner):
    session.choice.choose_bench(problem=Problem(16, 32, 48))
    session.tuning.seconds = 7
    runner.start()
    (request,) = engines.bench.requests
    assert isinstance(request, TuneRequest) and (request.m, request.n, request.k) == (16, 32, 48)
    assert request.seconds == 7 and session.tuning.running and session.progress["bench"] == ("Starting", None)
    engines.bench.replied.emit(Progress(request.run, "candidate 1 of 3", 0.2))
    assert session.progress["bench"] == ("candidate 1 of 3", 0.2)
    engines.bench.replied.emit(Failed(request.run, "internal", "the engine died"))
    assert not session.tuning.running and session.progress["bench"] is None
    assert session.messages.current.text == "the engine died"


def test_another_benchmark_that_takes_the_engine_keeps_its_progress(session, engines, runner):
    runner.start()
    session.progress.set("bench", ("timing", 0.5))
    engines.bench.replied.emit(Failed(engines.bench.requests[-1].run, "cancelled", "cancelled"))
    assert not session.tuning.running and session.progress["bench"] == ("timing", 0.5)
    assert session.messages.current is None


def test_an_edited_kernel_is_checked_first_and_tuned_anyway_only_when_asked(session, engines, runner):
    text = session.choice.text
    session.permission.trust.typed(session.choice.base.path, text, text + "// mine\n")
    session.choice.edit(text + "// mine\n")
    runner.start()
    request = engines.recorder.requests[-1]
    assert not engines.bench.requests
    engines.recorder.replied.emit(Failed(request.run, "compile", "no such word"))
    assert "is not tuned: it cannot be checked: no such word" in session.messages.current.text
    (anyway,) = session.messages.current.answers
    anyway.act()
    assert [type(sent) for sent in engines.bench.requests] == [TuneRequest]
