"""The search for defects on request: its launches, its findings and its verdict."""

import pytest

from gemmviz.catalogue.ladder import find
from gemmviz.catalogue.problem import Problem
from gemmviz.checking.report import Report
from gemmviz.control.checks import Checks
from gemmviz.engine.messages import Checked, Done, Failed, Progress
from gemmviz.trace.hazards import Finding

RACE = Finding("race", 12, "two threads write As[0][0] with no barrier between")
ONE, OTHER = Problem.cube(8), Problem(17, 20, 9)


@pytest.fixture
def checks(session, engines):
    return Checks(session, engines)


def give(engines, *reports):
    for report in reports:
        engines.recorder.replied.emit(Checked(engines.recorder.requests[-1].run, report))


def end(engines):
    engines.recorder.replied.emit(Done(engines.recorder.requests[-1].run))


def edit(session, more="// mine\n"):
    text = session.choice.text
    session.permission.trust.typed(session.choice.base.path, text, text + more)
    session.choice.edit(text + more)


def judged(checks, session):
    """Request a verdict on the chosen kernel; return the list that it will be added to."""
    verdicts = []
    checks.judge([(session.choice.kernel, dict(session.choice.bench_params))], verdicts.extend)
    return verdicts


def test_findings_at_other_sizes_arrive_one_by_one(session, engines, checks):
    checks.check_sizes()
    (request,) = engines.recorder.requests
    assert len(request.launches) > 1 and session.findings.checking
    assert "Checking gputiled" in session.progress["record"][0]
    engines.recorder.replied.emit(Progress(request.run, "17 x 20 x 9", 0.5))
    assert session.progress["record"] == ("Checking: 17 x 20 x 9", 0.5)
    give(engines, Report("k", ONE, {}), Report("k", OTHER, {}, [RACE]), Report("k", OTHER, {}, refused="too large"))
    assert [len(report.findings) for report in session.findings.others] == [0, 1]
    end(engines)
    assert session.findings.checked and session.progress["record"] is None
    assert session.findings.left_out[-1].endswith("too large")
    assert session.messages.current is None  # the panel shows the defects


def test_a_library_and_a_text_that_is_no_kernel_are_not_checked(session, engines, checks):
    session.choice.edit("no front matter")
    checks.check_sizes()
    session.choice.revert()
    session.choice.choose_kernel(find("numpy", session.choice.kernels))
    checks.check_sizes()
    assert not engines.recorder.requests


def test_a_cancelled_check_says_so_and_gives_no_verdict(session, engines, checks):
    edit(session)
    verdicts = judged(checks, session)
    engines.recorder.replied.emit(Failed(engines.recorder.requests[-1].run, "cancelled", "cancelled"))
    assert not verdicts and session.messages.current.text == "The check was cancelled."
    assert "as the check was cancelled" in session.findings.left_out[0]


def test_a_recording_that_took_the_engine_keeps_its_progress(session, engines, checks):
    checks.check_sizes()
    session.progress.set("record", ("Recording gputiled", None))
    engines.recorder.replied.emit(Failed(engines.recorder.requests[-1].run, "cancelled", "cancelled"))
    assert session.progress["record"] == ("Recording gputiled", None)


def test_a_defect_at_several_sizes_is_one_and_further_ones_are_counted(session, engines, checks):
    edit(session)
    verdicts = judged(checks, session)
    stale = Finding("out of bounds", 20, "thread 3 reads A[64]")
    give(engines, Report("k", ONE, {}, [RACE]), Report("k", OTHER, {}, [RACE, stale]))
    end(engines)
    (verdict,) = verdicts
    assert verdict.fault.startswith(f"at {ONE}, line 12: race: ") and verdict.fault.endswith(", and 1 more")


def test_a_clean_text_is_checked_once_and_another_one_anew(session, engines, checks):
    for count, more in ((1, "// mine\n"), (2, "// more\n")):
        edit(session, more)
        for _ in range(2):
            verdicts = judged(checks, session)
            if not verdicts:
                give(engines, Report("k", ONE, dict(session.choice.bench_params)))
                end(engines)
            assert [verdict.fault for verdict in verdicts] == [""]
        assert len(engines.recorder.requests) == count


def test_a_kernel_at_which_nothing_could_be_looked_is_no_clean_one(session, engines, checks):
    edit(session)
    verdicts = judged(checks, session)
    give(engines, Report("k", ONE, {}, refused="too many accesses"))
    end(engines)
    assert [verdict.fault for verdict in verdicts] == ["it cannot be checked: too many accesses"]
