"""A course whose cluster loses all its workers, or those with a GPU."""

import threading

import pytest

from gemmviz.cluster import course
from gemmviz.cluster.course import Course, Job
from gemmviz.cluster.piece import SentSources
from gemmviz.cluster.software import software
from gemmviz.cluster.wire import pack
from gemmviz.engine.messages import BenchRequest


class Future:
    def add_done_callback(self, done):
        """Never end."""


class Client:
    """A client of a scheduler whose workers are replaced by others after the first question."""

    def __init__(self, later):
        self._answers = [{"at": {"name": 0, "host": "desk", "resources": {"GPU": 1}}}, later]
        self.cancelled = False

    def scheduler_info(self, n_workers):
        return {"workers": self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]}

    def run(self, function, on_error):
        return {"at": pack(software())}

    def submit(self, *arguments, **options):
        return Future()

    def subscribe_topic(self, topic, handler):
        """Do nothing."""

    def unsubscribe_topic(self, topic):
        """Do nothing."""

    def cancel(self, futures, force):
        self.cancelled = True


@pytest.mark.parametrize("later", [{}, {"other": {"name": 1, "host": "lab", "resources": {}}}])
def test_pieces_do_not_wait_for_ever_for_workers_that_are_gone(later, monkeypatch):
    monkeypatch.setattr(course, "_LOOK_S", 0.0)
    monkeypatch.setattr(course, "_ABANDONED_S", 0.3)
    client = Client(later)
    one = Course(client, [Job(BenchRequest(1, [], [(8, 8, 8)]), SentSources([]), True, 1.0)])
    assert list(one.run(threading.Event())) == []
    assert one.heard[0].why == "the cluster has no worker any more that could serve it"
    assert client.cancelled
