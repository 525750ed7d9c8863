"""The soak uses the real window and notices its errors. It only prints times and sizes and does not judge them."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from window_driving import need_qt

need_qt()

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(not (ROOT / "benchmarks").is_dir(), reason="runs from a wheel, without benchmarks")

FAULTY = """
import sys, threading
sys.path[:0] = ["benchmarks"]
from PySide6.QtCore import QTimer, qDebug, qWarning
from PySide6.QtWidgets import QApplication
import soak_watch
from gemmviz.engine.messages import Failed

def fail():
    raise ValueError("in " + threading.current_thread().name)

class Unraisable:
    def __del__(self):
        raise ValueError("in the end")

running = QApplication([])
faults = soak_watch.Faults()
faults.after("a test")
qDebug("no fault")
qWarning("a warning")
thread = threading.Thread(target=fail, name="a thread")
thread.start()
thread.join()
Unraisable()
faults.on_reply(Failed(1, "crash", "a kernel crashed"))
faults.on_reply(Failed(1, "internal", "something of ours"))
QTimer.singleShot(0, fail)
QTimer.singleShot(50, running.quit)
running.exec()
print(len(faults.texts), "faults")
"""


def python(*arguments, folder):
    settings = os.environ | {"XDG_CONFIG_HOME": str(folder / "config"), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=ROOT, env=settings, capture_output=True, text=True, check=False)


@pytest.mark.thorough
def test_a_short_soak_does_everything_and_finds_nothing_wrong(tmp_path):
    done = python("benchmarks/soak.py", "--minutes", "0", "--seed", "3", "--own-cache", folder=tmp_path)
    assert "exceptions and warnings" in done.stdout, done.stderr
    figures = dict(re.findall(r"^(exceptions and warnings|processes left) +(\d+) ", done.stdout, re.MULTILINE))
    assert figures == {"exceptions and warnings": "0", "processes left": "0"}, done.stdout
    actions = dict(re.findall(r"^  (\w+)\b.* (\d+)$", done.stdout.partition("actions:\n")[2], re.MULTILINE))
    own = ("rung", "size", "type_text", "break_it", "compare", "lesson", "predict", "measure", "export", "language")
    assert all(int(actions[name]) > 0 for name in (*own, "menu", "widget")) and len(actions) >= 30, done.stdout
    assert not (tmp_path / "config").exists()  # its settings are its own


def test_a_soak_notices_errors_in_slots_threads_and_destructors_and_warnings_of_qt(tmp_path):
    done = python("-c", FAULTY, folder=tmp_path)
    assert done.stdout.splitlines()[-1] == "5 faults", done.stdout + done.stderr
    for text in ("in a thread", "in the end", "in MainThread", "Qt: a warning", "something of ours"):
        assert text in done.stdout
    assert "no fault\n" not in done.stdout and "a kernel crashed" not in done.stdout
    assert "FAULT after a test:" in done.stdout
