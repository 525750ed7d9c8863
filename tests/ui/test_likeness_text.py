# ruff: noqa: E402  (modules that need Qt are imported after `need_qt`)
"""The picture of a kernel that differs in instructions only says so, on the stage and in the source."""

from window_driving import need_qt

need_qt()

from demo_recordings import at_demo

from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.same_accesses import likeness
from gemmviz.ui.source.gutter import has
from gemmviz.ui.stage.likeness_text import likeness_text, spans
from gemmviz.ui.stage.moment import Moment
from gemmviz.ui.stage.sentences import Sentences

SAID = "Same accesses as gputiled: only lines 27, 32 differ"


def test_the_sentence_begins_with_the_other_kernel_and_the_lines(qapp):
    playable = at_demo("gputiled1")
    assert likeness_text(playable) == SAID and likeness_text(at_demo("gputiled")) == ""
    sentences = Sentences(playable)
    for moment in (Moment(3), Moment(3, cell=(2, 9))):
        assert sentences.at(moment).text.startswith(f"{SAID}  ·  ")
    assert "Same accesses" not in Sentences(at_demo("gputiled")).at(Moment(3)).text


def test_a_start_picture_names_the_other_kernel_above_the_idea(qapp):
    sentence = Sentences(at_demo("gputiled1")).at(Moment(3, cell=(2, 9), idea="Unrolled."))
    assert (sentence.lead, sentence.text, sentence.idea) == (SAID, "Unrolled.", True)
    other = Sentences(at_demo("gputiled")).at(Moment(3, idea="In tiles."))
    assert other.text == "In tiles." and "Same accesses" not in other.lead


def test_neighbours_are_written_as_first_and_last():
    assert spans([4]) == "4" and spans([4, 5, 6, 9, 11, 12]) == "4–6, 9, 11–12"


def test_the_lines_that_differ_are_marked_in_the_source(window):
    choice = window.session.choice
    choice.auto = False
    kernel = find("gputiled1", choice.kernels)
    choice.choose_kernel(kernel)
    source = window.source
    source._on_found()
    marked = [line for line in source.marks if has(source, line, "changed")]
    assert tuple(marked) == likeness("gputiled1", kernel.text).lines
    choice.choose_kernel(find("gputiled", ladder()))
    source._on_found()
    assert not any(has(source, line, "changed") for line in source.marks)
