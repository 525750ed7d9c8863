"""A text that stands on the screen follows a new language: the template that it was made from gives its values."""

import re
from string import Formatter

import pytest

from gemmviz import language
from gemmviz.language import tr, tr_again, trn

EVERY = 61  # of about 2000 texts: one look through a catalogue takes some milliseconds


@pytest.fixture(autouse=True)
def speak():
    for code in ("ko", "es", "en"):
        language.set_language(code)
    yield language.set_language
    language.set_language("en")


def _names(text):
    return {field for _, field, _, _ in Formatter().parse(text) if field}


def _sentences():
    return [one for one in sorted(language._state["ko"].texts) if re.search(r"\w\s+\w+\s+\w", one)]


@pytest.mark.parametrize(("before", "after"), [("en", "ko"), ("ko", "es"), ("es", "en")])
def test_a_sentence_with_its_values_is_written_in_the_other_language(speak, before, after):
    for one in _sentences()[::EVERY]:
        if "}{" in one:
            continue  # nothing says where one value ends and the next one begins
        values = {name: f"<{name}7>" for name in _names(one)}
        speak(before)
        text = tr(one, **values)
        speak(after)
        found = tr_again(text, before)
        if found != tr(one, **values):  # two texts that are the same in one language may differ in another one
            speak(before)
            assert found != text and tr_again(found, after) == text, one


def test_values_that_are_texts_follow_too_and_others_stay(speak):
    why = tr("this does not fit in memory; choose a smaller size")
    text = tr("{kernel} is not measured: {why}", kernel="mine.cu", why=why)
    speak("es")
    found = tr_again(text, "en")
    assert found == tr(
        "{kernel} is not measured: {why}",
        kernel="mine.cu",
        why=tr("this does not fit in memory; choose a smaller size"),
    )
    assert "mine.cu" in found and why not in found


def test_each_of_several_lines_follows_and_an_unknown_one_stays(speak):
    known = tr("There is nothing to use yet: tune this kernel first.")
    speak("ko")
    lines = tr_again(f"{known}\nmine.cu:3:7: error: expected ';'", "en").split("\n")
    assert lines == [tr("There is nothing to use yet: tune this kernel first."), "mine.cu:3:7: error: expected ';'"]


@pytest.mark.parametrize("count", [1, 2, 4096])
def test_a_number_keeps_its_value_and_chooses_the_form(speak, count):
    one, many = "{count} inefficiency", "{count} inefficiencies"
    assert one in language._state["es"].plurals
    text = trn(one, many, count)
    speak("es")
    assert tr_again(text, "en") == trn(one, many, count)
