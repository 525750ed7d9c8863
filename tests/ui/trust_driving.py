"""A hostile text for the tests of trust, the ways in which it reaches a window, and a list of the texts that ran."""

import json

from window_driving import RECORDING_MS

from gemmviz.engine.messages import ProbeRequest
from gemmviz.engine.process import EngineProcess

HOSTILE = """
#include <stdio.h>
__attribute__((constructor)) static void gv_hostile(void)
{
    FILE *file = fopen("%s", "w");
    if (file) fclose(file);
}
"""


class Sent(list):
    """The texts that the engines of a window had to compile or run, except shipped texts."""

    def __init__(self, monkeypatch):
        super().__init__()
        submit = EngineProcess._submit

        def noted(process, request):
            if not isinstance(request, ProbeRequest):
                self.append(request)
            submit(process, request)

        monkeypatch.setattr(EngineProcess, "_submit", noted)


def settle(window, qtbot):
    """Wait long enough for the window to record the chosen kernel."""
    qtbot.wait(600)
    qtbot.waitUntil(lambda: window.session.progress["record"] is None, timeout=RECORDING_MS)


def assert_not_run(window, qtbot, sent, marker):
    settle(window, qtbot)
    assert not sent and not marker.exists()
    assert window.session.cursor.playable is None
    assert window.run_question.isVisible()


def open_kernel(window, path):
    window.open_file(path)


def open_state_with_text(window, path):
    state = path.with_name("mail.gemmviz")
    kernel = {"name": "hostmult0", "text": path.read_text()}
    state.write_text(json.dumps({"state_version": 1, "kernel": kernel, "size": [8, 8, 8], "step": 3}))
    window.open_file(state)


def open_state_with_path(window, path):
    state = path.with_name("mail.gemmviz")
    state.write_text(json.dumps({"state_version": 1, "kernel": {"path": str(path)}}))
    window.open_file(state)


def open_state_with_a_text_of_another_file(window, path):
    state = path.with_name("mail.gemmviz")
    kernel = {"path": str(path.with_name("gone.c")), "text": path.read_text()}
    state.write_text(json.dumps({"state_version": 1, "kernel": kernel}))
    window.open_file(state)


def open_lesson(window, path):
    lesson = path.with_name("lesson.toml")
    lesson.write_text(f'kernel = "{path}"\nsize = 8\ntitle = "Mail"\n[[stop]]\nat = {{ end = true }}\nsay = "Here."\n')
    window.open_file(lesson)
    assert window.session.tour.lesson is not None
