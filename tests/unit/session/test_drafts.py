"""Edited text outlives the program that it was typed in, and no other program that runs takes it."""

import signal
import subprocess
import sys

import pytest

from gemmviz.app import new_session
from gemmviz.catalogue.errors import GemmvizError
from gemmviz.catalogue.kernel import parse
from gemmviz.session.files import drafts
from gemmviz.session.files.drafts import Drafts, names

TYPED = "float sum = 0; // mine"
PROGRAM = f"""
import sys
from gemmviz.app import new_session
from gemmviz.session.files.drafts import Drafts
session = new_session()
kept = Drafts(session)
session.choice.edit(session.choice.text.replace("float sum = 0;", {TYPED!r}))
print("typed", flush=True)
sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def program():
    """Another program in which text is being edited."""
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as running:
        assert running.stdout.readline() == "typed\n"
        yield running
        running.kill()


def kept_files():
    return sorted(path.suffix for path in drafts.folder().iterdir()) if drafts.folder().is_dir() else []


def test_text_outlives_a_program_that_is_killed(program):
    session = new_session()
    kept = Drafts(session)
    assert kept.find() == []  # that program is alive: its text is its own
    program.send_signal(signal.SIGKILL)
    program.wait()
    assert names(kept.find()) == ["gputiled"]
    assert TYPED not in session.choice.text  # offered, not forced
    other = Drafts(new_session())
    assert other.find() == []  # two programs that start at once do not both get it
    kept.restore()
    assert TYPED in session.choice.text and session.choice.unsaved(session.choice.base)
    kept.close(keep=True)
    assert names(other.find()) == ["gputiled"]  # restored, and still not saved
    other.discard()
    assert kept_files() == []


def test_an_offer_without_an_answer_is_made_again(program):
    program.kill()
    program.wait()
    for _ in range(2):
        kept = Drafts(new_session())
        assert names(kept.find()) == ["gputiled"]
        kept.close(keep=False)


def test_text_that_is_saved_or_given_up_leaves_nothing():
    session = new_session()
    kept = Drafts(session)
    assert kept_files() == []
    session.choice.edit(session.choice.text.replace("float sum = 0;", TYPED))
    assert kept_files() == [".json", ".lock"]
    session.choice.revert()
    assert kept_files() == [".lock"]
    session.choice.draft(session.choice.text + "// more\n")
    kept.close(keep=False)
    assert kept_files() == []


def test_text_that_is_no_kernel_and_a_file_of_ones_own_come_back(tmp_path):
    session = new_session()
    kept = Drafts(session)
    path = tmp_path / "mine.cu"
    path.write_text(session.choice.base.text)
    session.choice.edit("no front matter any more")
    session.choice.add_kernel(parse(path.read_text(), path))
    session.choice.draft(session.choice.text + "// mine\n")
    kept.close(keep=True)
    path.unlink()
    again = new_session()
    found = Drafts(again)
    assert names(found.find()) == ["gputiled", "mine.cu"]
    found.restore()
    texts = {base.path.name: again.choice.text_of(base) for base in again.choice.all_unsaved()}
    assert texts["30_gputiled.cu"] == "no front matter any more"
    assert texts["mine.cu"].endswith("// mine\n")
    found.close(keep=False)


def test_a_path_that_repeats_folders_is_of_the_same_file(tmp_path):
    """Earlier programs kept the folders of a kernel's name in its path."""
    path = tmp_path / "new" / "mine.cu"
    path.parent.mkdir()
    session = new_session()
    text = session.choice.base.text
    path.write_text(text)
    kept = Drafts(session)
    session.choice.add_kernel(parse(text, path))
    session.choice.draft(text + "// mine\n")
    kept.close(keep=True)
    (file,) = drafts.folder().glob("*.json")
    file.write_text(file.read_text().replace("/new/mine.cu", "/new/../new/mine.cu"))
    again = new_session()
    again.choice.add_kernel(parse(text, path))
    again.choice.draft(text + "// meanwhile\n")
    found = Drafts(again)
    found.find()
    with pytest.raises(GemmvizError, match="not saved"):
        found.restore()
    again.choice.revert()
    found.restore()
    assert again.choice.base.path == path and again.choice.text.endswith("// mine\n")
    found.close(keep=False)


def test_the_description_of_a_file_without_one_comes_back_as_an_edit(tmp_path):
    """It was taken for the file's own text: it was neither kept any longer nor asked about at the end."""
    path = tmp_path / "mine.c"
    code = "void mine(float *A, float *B, float *C) { C[0] = A[0] * B[0]; }\n"
    path.write_text(code)
    described = f'// ---gemmviz\n// entry = "mine"\n// args = ["A", "B", "C"]\n// ---\n{code}'
    session = new_session()
    kept = Drafts(session)
    session.choice.add_kernel(parse(described, path), on_file=code)
    kept.close(keep=True)
    other = new_session()
    found = Drafts(other)
    found.find()
    found.restore()
    base = other.choice.base
    assert other.choice.text == described and other.choice.on_file(base) == code
    assert other.choice.all_unsaved() == [base] and len(kept_files()) == 2  # this program keeps it now, with its lock
    found.close(keep=False)


def test_edits_made_meanwhile_are_not_replaced(program):
    program.kill()
    program.wait()
    session = new_session()
    kept = Drafts(session)
    kept.find()
    session.choice.edit(session.choice.text.replace("float sum = 0;", "float sum = 0; // other"))
    with pytest.raises(GemmvizError, match="edits that are not saved"):
        kept.restore()
    assert "// other" in session.choice.text and names(kept.lost) == ["gputiled"]
    kept.close(keep=False)


@pytest.mark.parametrize("text", ["", "[]", "{", '{"draft_version": 1, "kernels": [{"name": 1}, 2]}', "[" * 100_000])
def test_a_file_that_is_none_is_deleted(text):
    drafts.folder().mkdir(parents=True)
    (drafts.folder() / "bad.json").write_text(text)
    kept = Drafts(new_session())
    assert kept.find() == []
    assert kept_files() == []


def test_there_are_never_more_files_than_a_few():
    for number in range(drafts.MOST_FILES + 3):
        session = new_session()
        kept = Drafts(session)
        session.choice.edit(session.choice.text + f"// {number}\n")
        kept.close(keep=True)
    kept = Drafts(new_session())
    assert len(kept.find()) == drafts.MOST_FILES
    assert kept_files().count(".json") == drafts.MOST_FILES
    kept.close(keep=False)


def test_without_a_writable_folder_the_session_goes_on_with_a_message(tmp_path):
    (tmp_path / "state").write_text("a file, and no folder")
    session = new_session()
    kept = Drafts(session)
    session.choice.edit(session.choice.text + "// mine\n")
    assert "state" in kept.fault
    kept.close(keep=True)
