"""The second kernel is recorded after the first one, in a separate engine."""

import pytest

from gemmviz.catalogue.ladder import find
from gemmviz.control.second_recorder import SecondRecorder
from gemmviz.engine.messages import Failed, Progress


@pytest.fixture
def recorder(session, engines):
    made = SecondRecorder(session, engines)
    session.progress.set("record", ("Recording gputiled", None))
    session.side_by_side.start(find("gputiled_more_work", session.choice.kernels))
    return made


def test_it_waits_until_the_first_recording_is_there_or_has_failed(session, engines, recorder):
    engines.loop.let_pass(1000)
    assert not engines.second.requests
    session.progress.set("record", None)
    engines.loop.let_pass(1000)
    (request,) = engines.second.requests
    assert request.path.endswith("gputiled_more_work.cu") and not engines.recorder.requests
    beside = session.second
    engines.second.replied.emit(Progress(request.run, "recording", 0.5))
    assert beside.progress["record"] == ("recording", 0.5)
    engines.second.replied.emit(Failed(request.run, "oom", "too large"))
    assert beside.progress["record"] is None and "Choose a smaller size" in beside.messages.current.text


def test_it_is_given_up_with_the_comparison(session, engines, recorder):
    session.side_by_side.stop()
    session.progress.set("record", None)
    engines.loop.let_pass(1000)
    assert not engines.second.requests and engines.second.cancels == 1
