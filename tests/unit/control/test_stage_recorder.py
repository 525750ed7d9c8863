"""The chosen kernel is recorded after a pause, and only the last requested recording is shown."""

from dataclasses import replace

import pytest
from recordings import small_tiled

from gemmviz.catalogue.ladder import find
from gemmviz.catalogue.problem import Problem
from gemmviz.checking.report import Report
from gemmviz.control.controller import Controller
from gemmviz.control.stage_recorder import StageRecorder
from gemmviz.engine.messages import Failed, ProbeRequest, Progress
from gemmviz.simt.diagnostics import Diagnostic
from gemmviz.trace.hazards import Finding


@pytest.fixture
def playable():
    return small_tiled()


@pytest.fixture
def recorder(session, engines):
    return StageRecorder(session, engines)


def sizes(engines):
    return [request.m for request in engines.recorder.requests]


def test_changes_that_follow_each_other_are_recorded_once_after_a_pause(session, engines, recorder):
    for n in (9, 10, 11):
        session.choice.choose(problem=Problem.cube(n))
        engines.loop.let_pass(200)
    assert sizes(engines) == []
    engines.loop.let_pass(100)
    assert sizes(engines) == [11]
    assert session.progress["record"] == ("Recording gputiled", None)
    session.choice.auto = False
    session.choice.choose(problem=Problem.cube(12))
    engines.loop.let_pass(1000)
    assert sizes(engines) == [11]


def test_the_recording_asked_for_last_is_shown_and_plays_the_first_time(session, engines, recorder, playable):
    recorder.record()
    recorder.record()
    first, last = (request.run for request in engines.recorder.requests)
    engines.recorder.replied.emit(Progress(last, "recording", 0.5))
    assert session.progress["record"] == ("recording", 0.5)
    engines.recorder.recorded.emit(first, playable, None)
    assert session.cursor.playable is None
    engines.recorder.recorded.emit(last, playable, None)
    assert session.cursor.playable is playable and session.progress["record"] is None and session.playback.playing
    session.playback.pause()
    recorder.record()
    engines.recorder.recorded.emit(engines.recorder.requests[-1].run, playable, None)
    assert not session.playback.playing


def test_a_text_that_is_no_kernel_has_a_message_and_keeps_the_recording_before(session, engines, recorder, playable):
    recorder.record()
    engines.recorder.recorded.emit(engines.recorder.requests[-1].run, playable, None)
    session.choice.edit(session.choice.text.replace('"C", "A", "B"', '"C", "A", "Q"'))
    engines.loop.let_pass(1000)
    recorder.record()
    assert "args names 'Q'" in session.messages.current.text and session.messages.current.line
    assert len(engines.recorder.requests) == 1 and session.cursor.playable is playable


def test_a_size_that_does_not_fit_has_a_message_with_one_that_does(session, engines, recorder):
    kernel = find("matmul_tc", session.choice.kernels)
    session.choice.choose_kernel(kernel)
    session.choice.choose(problem=Problem(17, 17, 17))
    recorder.record()
    assert not engines.recorder.requests
    (use,) = session.messages.current.answers
    use.act()
    assert session.choice.problem != Problem(17, 17, 17)
    recorder.record()
    assert len(engines.recorder.requests) == 1


def test_a_library_is_not_recorded_and_takes_the_recording_before_from_the_stage(session, engines, recorder, playable):
    session.cursor.show(playable)
    session.choice.choose_kernel(find("numpy", session.choice.kernels))
    recorder.record()
    assert session.cursor.playable is None and engines.recorder.cancels == 1 and not engines.recorder.requests


def test_a_failure_names_the_file_and_the_line(session, engines, recorder):
    text = session.choice.text
    session.permission.trust.typed(session.choice.base.path, text, text + "x")
    session.choice.edit(text + "x")
    recorder.record()
    request = engines.recorder.requests[-1]
    assert request.path.endswith("~edited.cu")
    engines.recorder.replied.emit(Failed(request.run, "compile", "30_gputiled~edited.cu does not compile", 7))
    assert session.messages.current.text == "line 7: 30_gputiled.cu does not compile"
    assert session.messages.current.line == 7 and session.progress["record"] is None


def test_a_parameter_that_does_not_fit_has_a_message_with_one_that_does(session, engines, recorder):
    session.choice.choose_kernel(find("every_shape", session.choice.kernels))
    demo = session.choice.kernel.demo.params
    session.choice.choose(problem=Problem(48, 128, 256), params=demo)
    recorder.record()
    message = session.messages.current
    assert [answer.title for answer in message.answers] == ["Use 48 x 64 x 256", "Use BN = 128"]
    assert "SPLIT = 2" in message.text and "GROUP = " not in message.text  # only what the condition is about
    message.answers[1].act()
    recorder.record()
    assert engines.recorder.requests[-1].params["BN"] == 128 and sizes(engines)[-1] == 48
    # Where no size is at fault, several parameters may be.
    session.choice.choose(problem=Problem(64, 64, 256), params=demo | {"TURNED": 1, "BOXES": 1})
    recorder.record()
    titles = [answer.title for answer in session.messages.current.answers]
    assert titles == ["Use BOXES = 2", "Use TURNED = 0"], session.messages.current.text


def test_an_exhibit_shows_its_purpose(session, engines, recorder):
    exhibit = next(kernel for kernel in session.choice.kernels if kernel.exhibit)
    session.choice.choose_kernel(exhibit)
    assert session.messages.current.text.startswith("Exhibit: ")
    recorder.record()
    engines.recorder.replied.emit(Failed(engines.recorder.requests[-1].run, "crash", "it crashed"))
    first, last = session.messages.current.text.split("\n")
    assert first.startswith("Exhibit: ") and last == "it crashed" and session.messages.current.kind == "info"


def test_the_machine_is_asked_about_after_the_first_recording_and_only_once(session, engines, playable, monkeypatch):
    monkeypatch.setattr("gemmviz.control.controller.Engines", lambda make_engine, loop, make_measuring: engines)
    controller = Controller(session, None, engines.loop)
    controller.recording.record()
    assert not engines.bench.requests
    for _ in range(2):
        engines.recorder.recorded.emit(engines.recorder.requests[-1].run, playable, None)
    assert [type(request) for request in engines.bench.requests] == [ProbeRequest]
    controller.close()
    assert all(worker.closed for worker in engines.workers)
    assert all(timer.due_ms is None for timer in engines.loop.timers)


def shown(recorder, session, engines, playable, report):
    recorder.record()
    engines.recorder.recorded.emit(engines.recorder.requests[-1].run, playable, report)
    return session.messages.current


def test_a_removed_bounds_check_that_changes_nothing_here_names_a_size_that_shows_it(
    session, engines, recorder, playable
):
    session.choice.choose_kernel(find("gputiled", session.choice.kernels))
    session.choice.choose(problem=Problem.cube(8), params={"TS": 4})
    report = Report("gputiled<4>", Problem.cube(8), {"TS": 4})
    assert shown(recorder, session, engines, playable, report) is None
    session.choice.break_it(("no-check-a",))
    message = shown(recorder, session, engines, playable, report)
    assert message.text == (
        "“Without the bounds check of A's tile” has no visible effect at 8 x 8 x 8. "
        "At 37 x 45 x 41 it leads to: out of bounds."
    )
    assert message.kind == "info" and [answer.title for answer in message.answers] == ["Use 37 x 45 x 41"]
    report.findings.append(Finding("out of bounds", 3, "there it is"))
    assert shown(recorder, session, engines, playable, report) is None
    report.findings.clear()
    message.answers[0].act()
    assert session.choice.problem == Problem(37, 45, 41) and session.choice.params == {"TS": 4}
    assert shown(recorder, session, engines, playable, report) is None


def test_a_change_that_leads_to_no_defect_needs_no_other_size(session, engines, recorder, playable):
    session.choice.choose_kernel(find("gputiled", session.choice.kernels))
    session.choice.break_it(("unroll-k",))
    assert shown(recorder, session, engines, playable, Report("gputiled<4>", Problem.cube(8), {"TS": 4})) is None


@pytest.mark.parametrize("kind", ["compile", "crash", "cancelled"])
def test_the_text_that_failed_is_noted_until_a_recording_comes(session, engines, recorder, playable, kind):
    recorder.record()
    engines.recorder.replied.emit(Failed(engines.recorder.requests[-1].run, kind, "it failed"))
    assert session.cursor.failure == (session.choice.text, kind)
    session.cursor.show(playable)
    assert session.cursor.failure is None


def test_a_button_records_again_what_was_cancelled(session, engines, recorder):
    recorder.record()
    before = len(engines.recorder.requests)
    engines.recorder.replied.emit(Failed(engines.recorder.requests[-1].run, "cancelled", "cancelled"))
    assert session.messages.current.text == "The recording was cancelled."
    (answer,) = session.messages.current.answers
    assert answer.title == "Record again"
    answer.act()
    assert len(engines.recorder.requests) == before + 1


def test_notes_about_a_right_c_lead_to_the_findings_where_there_are_some(session, engines, recorder, playable):
    """Reads outside of a matrix may leave C right: then the message had no way to the findings."""
    session.choice.choose_kernel(find("gputiled", session.choice.kernels))
    session.choice.choose(problem=Problem.cube(8), params={"TS": 4})
    note = Diagnostic("out of bounds", 29, "gputiled.cu:29: reads A[64], out of bounds")
    noted = replace(playable, recording=replace(playable.recording, diagnostics=(note,)))
    report = Report("gputiled<4>", Problem.cube(8), {"TS": 4})
    assert shown(recorder, session, engines, noted, report).answers == ()
    report.findings.append(Finding("out of bounds", 29, "there it is"))
    assert [one.title for one in shown(recorder, session, engines, noted, report).answers] == ["Show the findings"]
