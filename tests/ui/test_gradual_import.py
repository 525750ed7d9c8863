"""Modules are imported in pieces, each after those that it needs."""

import subprocess
import sys
from types import ModuleType, SimpleNamespace

from gemmviz.catalogue.lens_names import LENSES
from gemmviz.ui.lenses import by_name
from gemmviz.ui.window import late_tasks
from gemmviz.ui.window.gradual_import import resolve

_SCRIPT = """
import sys
from PySide6 import QtCore
import gemmviz.ui.window.window
from gemmviz.ui.window.gradual_import import gradually, resolve

longest, order = 0, []
before = set(sys.modules)
assert "gemmviz.ui.stage.stage" in before and "gemmviz.ui.stage.painter" not in before  # no recording is painted yet
for name in gradually("gemmviz.ui.charts.roofline"):
    new = {m for m in sys.modules if m.startswith("gemmviz.")} - before
    longest, before = max(longest, len(new)), before | new
    order.append(name)
assert order[-1] == "gemmviz.ui.charts.roofline", order
assert len(order) > 5, order
print(longest)
pieces = sum(1 for _ in resolve((QtCore,)))
print(pieces)
"""


def test_no_piece_has_more_than_two_modules_and_their_packages():
    printed = subprocess.run([sys.executable, "-c", _SCRIPT], check=True, capture_output=True, text=True).stdout.split()
    longest, pieces = map(int, printed)
    assert longest <= 2
    assert pieces >= 2


def test_a_name_that_is_listed_but_not_there_is_left_out():
    """PySide sometimes lists a class inside of a class that it does not find."""
    listed = ModuleType("listed")
    listed.__dir__ = lambda: ["QTextBlock.iterator", "QRect"]
    assert not [*resolve((listed,))]


def test_while_something_moves_no_lens_and_no_other_page_is_imported(monkeypatch):
    """A frame has no time for a module."""
    imported = []

    def gradually(name):
        imported.append(name)
        yield name

    monkeypatch.setattr(late_tasks, "gradually", gradually)
    monkeypatch.setattr(late_tasks, "resolve", lambda modules: iter(()))
    monkeypatch.setattr(late_tasks, "_charts_library", lambda: iter(()))
    monkeypatch.setattr(late_tasks, "_other_fonts", lambda: iter(()))
    playback = SimpleNamespace(playing=True)
    tasks = SimpleNamespace(_busy=lambda: playback.playing)
    pauses = late_tasks.LateTasks._for_later(tasks)
    assert [next(pauses) for _ in range(3)] == [late_tasks._LOOK_AGAIN_MS] * 3 and not imported
    playback.playing = False
    assert next(pauses) == late_tasks._BREATH_MS and len(imported) == 1
    playback.playing = True
    assert next(pauses) == late_tasks._LOOK_AGAIN_MS and len(imported) == 1
    playback.playing = False
    rest = [*pauses]
    assert len(rest) == len(imported) - 1
    assert {by_name.module_of(name) for name in LENSES} < {*imported} and imported[-1].endswith("claims_page")


def test_one_lens_brings_the_modules_of_no_other():
    code = "import sys; from gemmviz.ui.lenses import by_name; by_name.lens('banks'); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()
    assert [name for name in LENSES if by_name.module_of(name) in loaded] == ["banks"]
