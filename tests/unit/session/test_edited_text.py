"""A text that was changed in the window is a separate kernel."""

import pytest

from gemmviz.catalogue.errors import GemmvizError
from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.ladder import find

# A text that was changed in the window


def edit(session, old, new):
    assert old in session.choice.text
    session.choice.edit(session.choice.text.replace(old, new, 1))


def test_an_edited_kernel_is_a_separate_kernel_at_the_same_size(session):
    session.choice.choose(params={"TS": 2})
    base = session.choice.kernel
    edit(session, "float sum = 0;", "float sum = 1;")
    assert session.choice.variant and session.choice.base is base
    assert (session.choice.kernel.name, session.choice.kernel.path.parent) == ("gputiled~edited", base.path.parent)
    assert session.choice.params == {"TS": 2} and session.choice.title == "30_gputiled.cu, edited"
    session.choice.revert()
    assert session.choice.kernel is base and not session.choice.variant and session.choice.title == "30_gputiled.cu"


def test_a_text_that_is_no_kernel_is_kept_and_the_kernel_before_stays(session):
    base = session.choice.kernel
    edit(session, '"C", "A", "B"', '"C", "A", "Q"')
    assert session.choice.kernel is base and session.choice.unsaved(base)
    assert str(session.choice.fault).startswith(f"30_gputiled.cu:{session.choice.fault.line}: args names 'Q'")
    session.choice.choose_kernel(find("gpumult0", session.choice.kernels))
    assert session.choice.fault is None
    session.choice.choose_kernel(base)
    assert session.choice.fault is not None and '"Q"' in session.choice.text
    session.choice.edit(base.text)
    assert session.choice.fault is None and not session.choice.all_unsaved()


def test_the_message_about_missing_front_matter_names_a_remedy_and_no_missing_file(session):
    session.choice.edit("x" + session.choice.text)
    text = str(session.choice.fault)
    assert text.startswith("30_gputiled.cu: no front matter") and "F6" in text
    assert "~edited" not in text and "describe" not in text


def test_taking_a_change_back_restores_the_edited_text(session):
    edit(session, "float sum = 0;", "float sum = 1;")
    edited = session.choice.text
    session.choice.break_it(("no-second-barrier",))
    assert session.choice.kernel.name == "gputiled~no-second-barrier" and "sum = 1" not in session.choice.text
    assert session.choice.title == "30_gputiled.cu, changed: without the second barrier"
    session.choice.revert()
    assert session.choice.text == edited and session.choice.kernel.name == "gputiled~edited"
    with pytest.raises(GemmvizError, match="no-such-thing"):
        session.choice.break_it(("no-such-thing",))
    assert session.choice.text == edited and not session.choice.breaks


def test_only_unchanged_files_of_gemmviz_are_shipped(session):
    assert session.choice.shipped(session.choice.kernel)
    edit(session, "float sum = 0;", "float sum = 1;")
    assert not session.choice.shipped(session.choice.kernel) and session.choice.is_shipped_file(session.choice.base)
    session.choice.renew(parse(session.choice.base.text + "\n", session.choice.base.path))
    assert not session.choice.shipped(session.choice.kernel)


def test_a_file_that_changes_keeps_the_choice(session):
    session.choice.choose(params={"TS": 2})
    other = find("gpumult0", session.choice.kernels)
    session.choice.renew(parse(other.text + "\n", other.path))
    assert session.choice.kernel.name == "gputiled"
    session.choice.renew(parse(session.choice.base.text + "\n", session.choice.base.path))
    assert session.choice.kernel.text.endswith("\n\n") and session.choice.params == {"TS": 2}


def test_drafts_are_announced_when_they_begin_and_end(session):
    drafts, text = [], session.choice.text
    session.choice.drafted.connect(lambda: drafts.append(session.choice.unsaved(session.choice.base)))
    for typed in (text + "/", text + "//", text):
        session.choice.draft(typed)
    assert drafts == [True, False]
    assert session.choice.kernel.text == text  # nothing is recorded before the user pauses
