# ruff: noqa: E402  (modules that need Qt are imported after `need_qt`)
"""Where kernels are measured: the button with its menu, and the dialog that names a cluster."""

import threading

import pytest
from window_driving import need_qt

need_qt()

from PySide6.QtWidgets import QApplication

from gemmviz.bench import results
from gemmviz.bench.protocol import Protocol
from gemmviz.cluster.course import Heard
from gemmviz.cluster.piece import Scheduler, Seat
from gemmviz.cluster.pieces import joined
from gemmviz.engine.messages import BenchDone, BenchRequest, Header, ProbeRequest, Progress
from gemmviz.ui.panels.cluster_box import ClusterBox

GPU = Seat(address="tcp://127.0.0.1:1", host="lab", gpu="NVIDIA H200", uuid="GPU-1", cpu="Xeon", busy=True)
FREE = Seat(address="tcp://127.0.0.1:2", host="lab", gpu="NVIDIA H200", uuid="GPU-2", cpu="Xeon", busy=False)

pytestmark = pytest.mark.new_window  # the place of a window's figures cannot be put back


@pytest.fixture
def found(monkeypatch):
    """What looking for devices finds, instead of a cluster."""
    answer = {"seats": [GPU, FREE], "fault": ""}
    monkeypatch.setattr(
        "gemmviz.control.elsewhere._look", lambda scheduler, cancel: (scheduler, answer["seats"], answer["fault"])
    )
    return answer


def texts(button):
    button.menu_of_places.aboutToShow.emit()
    return [action.text() for action in button.menu_of_places.actions() if action.text()]


def test_a_cluster_is_named_and_its_free_gpu_measures(window, qtbot, found, monkeypatch):
    probed = []
    monkeypatch.setattr(window.controller.elsewhere, "_probe", lambda: probed.append(window.session.places.key))
    window.pages.turn_to("charts")
    button = window.measuring.place
    assert button.text() == "this machine" and texts(button) == ["This machine", "Other machines…"]
    assert not window.strip.place.isVisibleTo(window.strip)
    button.cluster_wanted.emit()
    (box,) = window.findChildren(ClusterBox)
    assert not box.connect_button.isEnabled() and box.buttons.isVisible()
    found["fault"], found["seats"] = "there is no scheduler at tcp://127.0.0.1:8786: Connection refused", []
    box.address.setText(" 127.0.0.1:8786 ")
    box.connect_button.click()
    qtbot.waitUntil(lambda: box.status.text().startswith("there is no scheduler"))
    found["fault"], found["seats"] = "", [GPU, FREE]
    box.files["ca"].setText("ca.pem")
    box.connect_button.click()
    assert "all three files" in box.status.text()
    box.files["ca"].clear()
    box.connect_button.click()
    qtbot.waitUntil(lambda: window.session.places.chosen is FREE)
    QApplication.processEvents()
    assert window.session.places.scheduler == Scheduler("127.0.0.1:8786") and probed == ["GPU-2"]
    assert button.accessibleName() == "Where: H200 · lab #2"
    listed = texts(button)
    qtbot.waitUntil(lambda: not window.session.places.looking)
    assert listed[:3] == ["This machine", "NVIDIA H200 · lab #1 · busy", "NVIDIA H200 · lab #2 · free"]
    assert [action.isChecked() for action in button.menu_of_places.actions()[:3]] == [False, False, True]
    # The strip has the button now, too, but not while it shows samples.
    window.pages.turn_to("stage")
    assert window.strip.place.isVisibleTo(window.strip)
    QApplication.processEvents()
    left, right = window.strip.place.geometry(), window.strip.button.geometry()
    assert left.width() > right.width() and left.right() < right.left()
    window.session.progress.set("bench", ("measuring", None))
    assert not window.strip.place.isVisibleTo(window.strip) and not button.isEnabled()
    window.session.progress.set("bench", None)
    button.menu_of_places.actions()[0].trigger()
    assert window.session.places.chosen is None and button.text() == "this machine" and probed == ["GPU-2", ""]


def test_a_second_device_is_chosen_in_the_menu_and_named_in_the_button(window, qtbot, found, monkeypatch):
    monkeypatch.setattr(window.controller.elsewhere, "_probe", lambda: None)
    window.pages.turn_to("charts")
    button, places = window.measuring.place, window.session.places
    places.name(Scheduler("127.0.0.1:8786"))
    places.found([GPU, FREE])
    places.choose(FREE)
    texts(button)
    qtbot.waitUntil(lambda: not places.looking)

    def offered():
        assert "At the same time on" in texts(button)
        return button.menu_of_others.actions()

    (other,) = offered()
    assert (other.text(), other.isChecked()) == ("NVIDIA H200 · lab #1", False)
    other.trigger()
    assert places.beside == [GPU] and button.text().endswith("+ 1")
    assert button.accessibleName() == "Where: H200 · lab #2\nAt the same time: NVIDIA H200 · lab #1"
    # The page waits for both devices.
    window.session.progress.set("beside", ("NVIDIA H200 on lab #1: timing", 0.5))
    assert window.measuring.stop.isEnabled() and not window.measuring.all.isEnabled() and not button.isEnabled()
    assert window.measuring.progress.isVisible() and window.measuring.progress.value() == 50
    window.session.progress.set("beside", None)
    (other,) = offered()
    other.trigger()
    assert places.beside == [] and button.text() == "H200 · lab #2"


class FakeGpu:
    """An engine on a GPU of the cluster: its facts take so long that measuring replaces the question about them."""

    def __init__(self, seat, asked, measures):
        self.seat, self._asked, self._measures = seat, asked, measures

    def run(self, request, cancel):
        self._asked.append((request, self.seat))
        if isinstance(request, BenchRequest):
            head = results.document({}, None, Protocol()) | {
                "env": {"cpu": {"model": "Xeon", "cores": 16}},
                "device": {"name": "NVIDIA H200", "cc": "9.0", "sms": 132},
            }
            yield Progress(request.run, "numpy: timing", 0.5)
            yield Header(request.run, head)
            self._measures.wait(60)
            yield BenchDone(request.run, head)
        else:
            cancel.wait(60)
            yield joined(request, [request], [Heard(why="cancelled")], cancel.is_set())

    def close(self):
        pass


def test_a_device_that_measures_before_its_facts_are_known_has_its_name(window, qtbot, found, monkeypatch):
    asked, measures = [], threading.Event()
    monkeypatch.setattr(
        "gemmviz.control.elsewhere.remote_engine", lambda session, scheduler, seat: FakeGpu(seat, asked, measures)
    )
    window.pages.turn_to("charts")
    session, panel = window.session, window.measuring
    session.places.name(Scheduler("127.0.0.1:8786"))
    session.places.found([GPU, FREE])
    window.controller.elsewhere.choose(FREE)
    qtbot.waitUntil(lambda: len(asked) == 1)
    assert panel.status.text().startswith("NVIDIA H200 on lab #2")
    window.controller.measuring.measure_this()
    qtbot.waitUntil(lambda: session.results.device == "NVIDIA H200 / Xeon (16 cores)")
    assert [type(request) for request, _ in asked] == [ProbeRequest, BenchRequest]
    assert {seat for _, seat in asked} == {FREE}
    assert session.messages.current is None  # nothing about the question that was replaced
    assert panel.status.text() == "numpy: timing" and panel.place.accessibleName() == "Where: H200 · lab #2"
    measures.set()
    qtbot.waitUntil(lambda: session.progress["bench"] is None)
    assert panel.status.text().startswith("NVIDIA H200 / Xeon (16 cores) on lab #2")
