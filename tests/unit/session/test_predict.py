"""Predict mode, without a window: it asks, takes an answer, reveals, counts."""

import pytest
from recordings import rung

from gemmviz.catalogue.problem import Problem
from gemmviz.trace.cost.traffic import measure
from gemmviz.trace.order.timeline import build
from gemmviz.trace.playable import Playable


@pytest.fixture(scope="module")
def playable():
    recording = rung("gputiled", Problem.cube(32))
    timeline = build(recording)
    return Playable(recording, timeline, measure(recording, timeline)).prepare()


@pytest.fixture
def predict(session):
    session.cursor.seek(3)
    session.predict.toggle()
    return session.predict


def wrong(question):
    return (question.right + 1) % 4


def test_it_asks_about_the_next_event_and_the_stage_stays(session, predict):
    assert predict.question.step > session.cursor.step == 3
    assert predict.chosen is None and not predict.revealed


def test_revealing_goes_to_the_step_that_was_asked_about(session, predict):
    asked = predict.question
    predict.answer(asked.right)
    assert session.cursor.step == 3 and not predict.revealed
    predict.reveal()
    assert session.cursor.step == asked.step
    assert predict.revealed and predict.question is asked
    assert (predict.right, predict.answered) == (1, 1)


def test_answers_are_counted_once_and_cannot_be_changed_afterwards(predict):
    predict.answer(predict.question.right)
    predict.answer(wrong(predict.question))
    predict.reveal()
    predict.answer(predict.question.right)
    assert predict.chosen == wrong(predict.question)
    predict.reveal()
    assert not predict.revealed
    assert (predict.right, predict.answered) == (0, 1)


def test_a_question_without_an_answer_is_revealed_and_not_counted(predict):
    predict.reveal()
    assert predict.revealed
    assert (predict.right, predict.answered) == (0, 0)


def test_the_next_question_is_about_the_event_after_the_revealed_one(session, predict):
    predict.reveal()
    step = session.cursor.step
    predict.reveal()
    assert not predict.revealed and predict.question.step > step == session.cursor.step


def test_another_step_brings_another_question(session, predict):
    session.step_by(5)
    assert predict.question.step > session.cursor.step == 8


def test_nothing_is_asked_while_it_plays(session, predict):
    session.playback.play()
    assert predict.question is None
    session.advance(0.2)
    assert predict.question is None
    session.playback.pause()
    assert predict.question.step > session.cursor.step


def test_playing_ends_when_predicting_begins(session):
    session.playback.play()
    session.predict.toggle()
    assert not session.playback.playing and session.predict.question is not None


def test_at_the_end_there_is_no_question(session, predict):
    session.cursor.seek(session.cursor.steps - 1)
    assert predict.question is None
    predict.reveal()
    assert session.cursor.step == session.cursor.steps - 1


def test_it_asks_about_the_block_and_the_warp_that_are_chosen(session, predict):
    session.cursor.pick(None, 1)
    session.cursor.choose_warp(1)
    assert (predict.question.block, predict.question.warp) == (1, 1)


def test_turning_it_off_and_on_counts_from_0(session, predict):
    predict.answer(predict.question.right)
    predict.reveal()
    predict.toggle()
    assert predict.question is None and not predict.on
    session.cursor.seek(0)
    assert predict.question is None
    predict.toggle()
    assert (predict.right, predict.answered) == (0, 0)


def test_another_recording_brings_another_question(session, predict, playable):
    session.cursor.seek(9)
    predict.reveal()
    session.cursor.show(playable)
    assert not predict.revealed and 0 < predict.question.step <= 9


def test_listeners_hear_of_every_change(predict):
    heard = []
    predict.changed.connect(lambda: heard.append((predict.chosen, predict.revealed)))
    predict.answer(2)
    predict.reveal()
    predict.toggle()
    assert heard == [(2, False), (2, True), (None, False)]


def test_with_the_lens_of_banks_the_questions_are_about_banks_and_wavefronts(session):
    """Predicting a bank took luck: it was one of six kinds."""
    session.cursor.seek(3)
    asked = {"banks": set(), None: set()}
    for lens, kinds in asked.items():
        session.lens.show(lens)
        session.predict.toggle()
        for _ in range(12):
            kinds.add(session.predict.question.kind)
            session.asking._ask()
        session.predict.toggle()
    assert asked["banks"] == {"bank", "cost"} and len(asked[None]) > 2
