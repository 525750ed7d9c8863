# ruff: noqa: E402  (modules that need Qt are imported after `need_qt`)
"""Garbage is collected only by a timer in the window's thread."""

import gc
import threading
import weakref

from window_driving import need_qt

need_qt()

from PySide6.QtWidgets import QApplication

from gemmviz.ui.window import garbage
from gemmviz.ui.window.garbage import GarbageTimer, collect_garbage_here


class Knot:
    """Refers to itself, so that only a collection destroys it."""

    def __init__(self, gone):
        self.itself = self
        weakref.finalize(self, lambda: gone.append(threading.current_thread()))


def make_garbage():
    return [[[]] for _ in range(2 * gc.get_threshold()[0])]


def test_a_thread_that_allocates_collects_nothing_and_the_timer_does(qapp, qtbot):
    collect_garbage_here(qapp)
    gone = []
    Knot(gone)
    kept = []
    worker = threading.Thread(target=lambda: kept.append(make_garbage()))
    worker.start()
    worker.join()
    assert not gone
    qtbot.waitUntil(lambda: bool(gone))
    assert gone == [threading.main_thread()]


def test_an_application_has_one_timer(qapp):
    collect_garbage_here(qapp)
    collect_garbage_here(qapp)
    assert len(QApplication.instance().findChildren(GarbageTimer)) == 1


def test_the_timer_says_when_all_garbage_was_collected(qapp, qtbot):
    timer = collect_garbage_here(qapp)
    texts = []
    timer.collected.connect(lambda: texts.append(True))
    timer.collect(1)
    assert not texts
    timer.collect()
    assert texts == [True]


def test_a_full_collection_waits_while_something_plays(qapp, monkeypatch):
    timer = GarbageTimer(qapp)
    timer.stop()
    taken = []
    monkeypatch.setattr(garbage, "_are_full", lambda: [True, True, True])
    monkeypatch.setattr(timer, "collect", taken.append)
    timer.busy = lambda: True
    for _ in range(62):
        timer.timeout.emit()
    assert [at for at, generation in enumerate(taken) if generation == 2] == [60]
    assert set(taken) == {1, 2}
    timer.busy = lambda: False
    timer.timeout.emit()
    assert taken[-1] == 2
    timer.deleteLater()
