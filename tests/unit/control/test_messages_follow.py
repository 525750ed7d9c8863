"""The message on the screen is in the language of the window: also that of a file, of a measurement, of the engine."""

import pytest

from gemmviz import language
from gemmviz.control.failures import failure
from gemmviz.engine.messages import Failed
from gemmviz.language import tr
from gemmviz.session import Answer, Message


@pytest.fixture(autouse=True)
def english():
    yield
    language.set_language("en")


def _file():
    return tr("Cannot open {file}: {reason}", file="mine.cu", reason=tr("it is empty"))


def _engine():
    return tr("this does not fit in memory; choose a smaller size")


def _measuring():
    return tr("{kernel} was run and has no GFLOPS. {status}: {why}", kernel="RR", status="oom", why=_engine())


@pytest.mark.parametrize("text", [_file, _engine, _measuring])
def test_a_message_and_its_answers_follow_and_come_back(session, text):
    done = []
    made = Message(text(), "warning", answers=(Answer(tr("Run anyway"), lambda: done.append(1)),), lasting=True)
    session.messages.tell(made)
    for code in ("ko", "es"):
        session.preferences.speak(code)
        now = session.messages.current
        assert now.text == text() != made.text
        assert now.answers[0].title == tr("Run anyway") and now.kind == "warning" and now.lasting
    session.messages.current.answers[0].act()
    assert done == [1]
    session.preferences.speak("en")
    assert session.messages.current == made
    assert session.messages.shows(made) and not session.messages.shows(None)


def test_a_reply_of_the_engine_in_its_language_follows(session):
    session.preferences.speak("es")
    session.messages.tell(failure(Failed(1, "oom", _engine(), 7), session.choice))
    session.preferences.speak("ko")
    assert session.messages.current.text == tr("line {line}: {what}", line=7, what=_engine())


def test_a_message_of_the_second_kernel_and_standing_faults_follow(session):
    session.second.messages.tell(Message(_engine()))
    session.machine_code.fault = session.versions.fault = session.places.fault = _engine()
    session.preferences.speak("es")
    models = session.machine_code, session.versions, session.places
    assert {session.second.messages.current.text, *(model.fault for model in models)} == {_engine()}


def test_a_closed_message_stays_closed(session):
    session.messages.tell(Message(_engine()))
    session.messages.tell(None)
    session.preferences.speak("es")
    assert session.messages.current is None
