# ruff: noqa: E402  (modules that need Qt are imported after `need_qt`)
"""A signal ends the program even with unsaved edits, and the next start offers them."""

import json
import os
import signal
import subprocess
import sys

import pytest
from window_driving import need_qt

need_qt()

from gemmviz.catalogue.ladder import find, ladder
from gemmviz.session import Message
from gemmviz.session.files import drafts
from gemmviz.session.files.drafts import Drafts
from gemmviz.ui.window.leaving import offer

PATIENCE_S = 120
# Prints when the window is shown, when its question is shown (on request), and the offered edits.
PROGRAM = """
import sys
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QMessageBox
from gemmviz.cli import run
from gemmviz.session.models.choice import Choice
from gemmviz.session.models.messages import Messages

tell = Messages.tell

def tell_and_print(self, message):
    tell(self, message)
    if message is not None:
        print("message:", message.text.splitlines()[0], flush=True)

Messages.tell = tell_and_print
edit = Choice.edit

def edited(self, text):
    edit(self, text)
    print("edited", flush=True)

Choice.edit = edited
ask = QMessageBox.warning

def asked(*arguments):
    QTimer.singleShot(0, lambda: print("asked", flush=True))
    return ask(*arguments)

QMessageBox.warning = asked
code = run(sys.argv[1:])
print("code", code, flush=True)
"""


@pytest.fixture
def start(tmp_path):
    programs = []

    def start(*arguments):
        environment = os.environ | {
            "QT_QPA_PLATFORM": "offscreen",
            **{f"XDG_{name}_HOME": str(tmp_path / name) for name in ("STATE", "CONFIG", "DATA")},
        }
        program = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, *arguments], stdout=subprocess.PIPE, text=True, env=environment
        )
        programs.append(program)
        return program

    yield start
    for program in programs:
        program.kill()
        program.wait()
        program.stdout.close()


def wait_line(program, beginning):
    for line in program.stdout:
        if line.startswith(beginning):
            return line.rstrip()
    raise AssertionError(f"it ended without {beginning!r}")


@pytest.fixture
def edited_state(tmp_path):
    text = find("gputiled", ladder()).text.replace("float sum = 0;", "float sum = 0; // mine")
    path = tmp_path / "mine.gemmviz"
    path.write_text(json.dumps({"state_version": 1, "kernel": {"name": "gputiled", "text": text}}))
    return str(path)


def end_by_signals(program, numbers):
    """Send signals to a program with edits, the next one when its question is shown, and wait for its end."""
    wait_line(program, "edited")
    *before, last = numbers
    for number in before:
        program.send_signal(number)
        wait_line(program, "asked")
    program.send_signal(last)
    assert wait_line(program, "code") == "code 0"
    assert program.wait(PATIENCE_S) == 0


@pytest.mark.sweep("numbers0")
@pytest.mark.parametrize("numbers", [[signal.SIGINT, signal.SIGTERM], [signal.SIGINT] * 2])
def test_a_signal_ends_the_program_while_it_asks_and_keeps_the_edits(start, edited_state, numbers, tmp_path):
    end_by_signals(start("window", edited_state), numbers)
    (kept,) = (tmp_path / "STATE").rglob("*.json")
    assert "float sum = 0; // mine" in kept.read_text(encoding="utf-8")
    assert wait_line(start("window"), "message: Edits").endswith("are still there: gputiled.")


@pytest.mark.thorough  # four starts of the program; the test above has the first offer
def test_a_signal_ends_the_program_with_edits_and_the_next_start_offers_them(start, edited_state):
    end_by_signals(start("window", edited_state), [signal.SIGTERM])
    again = start("window")
    assert wait_line(again, "message: Edits").endswith("are still there: gputiled.")
    again.send_signal(signal.SIGTERM)
    assert again.wait(PATIENCE_S) == 0
    third = start("window")  # the offer was not answered: it is made again
    assert wait_line(third, "message: Edits").endswith("are still there: gputiled.")


def test_the_offer_can_be_taken_or_declined(window, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    session = window.session
    mine = session.choice.text.replace("float sum = 0;", "float sum = 0; // mine")
    first = Drafts(session)
    session.choice.edit(mine)
    first.close(keep=True)
    session.choice.revert()
    for wanted in ("Discard", "Restore"):
        session.messages.tell(None)
        kept = Drafts(session)
        if wanted == "Restore":
            session.choice.edit(mine)
            kept.close(keep=True)
            session.choice.revert()
            kept = Drafts(session)
        offer(session, kept)
        assert isinstance(session.messages.current, Message) and "gputiled" in window.message_bar.text.text()
        assert window.message_bar.isVisible()
        next(button for button in window.message_bar.answers if button.text() == wanted).click()
        assert (session.choice.text == mine) is (wanted == "Restore")
        kept.close(keep=False)
        assert not list(drafts.folder().glob("*.json"))
    session.choice.revert()
