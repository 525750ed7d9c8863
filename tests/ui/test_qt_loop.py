# ruff: noqa: E402  (modules that need Qt are imported after `need_qt`)
"""Qt's event loop, with the interface that the control of the engines needs."""

import threading

from window_driving import need_qt

need_qt()

from gemmviz.ui.window.qt_loop import QtLoop


def test_calls_posted_by_threads_run_here_and_in_order(qtbot):
    loop, called = QtLoop(), []

    def post():
        for number in range(100):
            loop.post(lambda number=number: called.append((number, threading.current_thread())))

    thread = threading.Thread(target=post)
    thread.start()
    thread.join()
    loop.post(lambda: called.append((100, threading.current_thread())))
    assert not called  # a call that this thread posts waits for the loop, too
    qtbot.waitUntil(lambda: len(called) == 101)
    assert called == [(number, threading.current_thread()) for number in range(101)]


def test_a_delayed_call_runs_once_after_each_start_unless_it_is_stopped(qtbot):
    loop, called = QtLoop(), []
    first, other = loop.later(1, lambda: called.append("first")), loop.later(1, lambda: called.append("other"))
    for count in (1, 2):
        first.start()
        first.start()
        other.start()
        other.stop()
        qtbot.waitUntil(lambda count=count: len(called) == count)
    qtbot.wait(20)
    assert called == ["first", "first"]
