"""A course whose cluster loses all its workers, or those with a GPU."""

import asyncio
import threading
import time

import pytest

from gemmviz.catalogue.errors import Unavailable
from gemmviz.cluster import asking, course
from gemmviz.cluster.course import Course, Job
from gemmviz.cluster.piece import Report, SentSources
from gemmviz.cluster.pieces import flops, joined
from gemmviz.cluster.software import software
from gemmviz.cluster.wire import pack
from gemmviz.engine.messages import BenchRequest, CheckRequest, CountRequest, Done, Failed, ProbeRequest


class Future:
    def add_done_callback(self, done):
        """Never end."""


class Client:
    """A client of a scheduler whose workers are replaced by others after the first question."""

    def __init__(self, later):
        self._answers = [{"at": {"name": 0, "host": "desk", "resources": {"GPU": 1}}}, later]
        self.cancelled = False

    def sync(self, function, *arguments, callback_timeout=None):
        return asyncio.run(asyncio.wait_for(function(*arguments), callback_timeout))

    @property
    def scheduler(self):
        return self

    async def identity(self, n_workers):
        return {"workers": self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]}

    def run(self, function, *arguments, workers=(), on_error):
        return self._run(workers) if workers else {}

    async def _run(self, workers):
        return {at: pack(software()) for at in workers}

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


class Recording(Client):
    """A client that keeps the keys of the submitted pieces, in the order in which workers begin them."""

    def __init__(self, workers):
        known = {f"at{number}": {"name": number, "host": "desk", "resources": {"GPU": 1}} for number in range(workers)}
        super().__init__(known)
        self._answers = [known]
        self.submitted = []

    def submit(self, function, piece, key, pure, priority, **where):
        self.submitted.append((priority, int(key.rpartition("-")[2])))
        return Future()


SIZES = (8, 32, 16)
LAUNCHES = [{"m": size, "n": 8, "k": 8, "params": {}} for size in SIZES]
COUNTED = [{"path": "a.cu", "text": "", "m": 8, "n": size, "k": 8, "params": {}} for size in SIZES]
DIFFERENT = {
    "bench": [BenchRequest(1, [{"path": "a.cu", "text": "", "params": {}}], [(size, size, size)]) for size in SIZES],
    "check": [CheckRequest(1, "a.cu", "", [one]) for one in LAUNCHES],
    "prove": [CountRequest(1, [one]) for one in COUNTED],
}


class Ended:
    """The future of a piece that has failed at once."""

    status = "error"

    def add_done_callback(self, done):
        done(self)

    def exception(self):
        return ValueError("no result")


class Lost(Ended):
    """The future of a piece that was sent before the connection was lost."""

    status = "cancelled"


class Served(Recording):
    """A client whose workers end each piece as soon as they have it; the first piece has another future."""

    def __init__(self, workers, first=Ended):
        super().__init__(workers)
        self._first = first

    def submit(self, function, piece, key, pure, priority, **where):
        super().submit(function, piece, key, pure, priority, **where)
        return self._first() if self.submitted[-1][1] == 0 else Ended()


class Finished:
    """The future of a piece whose result has arrived; a worker keeps it until it is released."""

    status = "finished"

    def __init__(self, number):
        self._number, self.kept = number, True

    def add_done_callback(self, done):
        done(self)

    def result(self, timeout):
        return pack(Report(self._number, "first", "desk (0)", pack(Done(1))))

    def release(self):
        self.kept = False


def test_a_result_that_has_arrived_is_released_so_that_a_later_death_of_its_worker_costs_nothing():
    served = []

    class Serving(Recording):
        def submit(self, *arguments, **options):
            super().submit(*arguments, **options)
            served.append(Finished(self.submitted[-1][1]))
            return served[-1]

    one = Course(Serving(1), [Job(ProbeRequest(1), SentSources([]), True, 1.0) for _ in range(3)])
    for number, _ in one.run(threading.Event()):
        assert [future.kept for future in served[: number + 1]] == [False] * (number + 1)
    assert [heard.last for heard in one.heard] == [Done(1)] * 3


@pytest.mark.parametrize("command", DIFFERENT)
@pytest.mark.parametrize(("workers", "order"), [(1, [0, 1, 2]), (2, [1, 2, 0])])
def test_larger_pieces_start_first_where_several_workers_share_them(workers, order, command):
    jobs = [Job(one, SentSources([]), True, 1.0, flops(one)) for one in DIFFERENT[command]]
    client = Served(workers)
    list(Course(client, jobs).run(threading.Event()))
    assert [number for _, number in client.submitted] == order
    assert [priority for priority, _ in client.submitted] == sorted((p for p, _ in client.submitted), reverse=True)


def test_a_worker_that_is_busy_gets_no_second_piece_while_others_are_free():
    """Six equal pieces on two workers, of which the first one never ends: the others are served by the other worker."""
    jobs = [Job(ProbeRequest(1), SentSources([]), True, 1.0) for _ in range(6)]
    client, cancel = Served(2, Future), threading.Event()
    one = Course(client, jobs)
    unserved = Recording(2)
    threading.Timer(0.5, cancel.set).start()
    list(one.run(cancel))
    assert [number for _, number in client.submitted] == [0, 1, 2, 3, 4, 5]
    assert [heard.why for heard in one.heard] == ["cancelled"] + ["ValueError: no result"] * 5
    cancel.set()
    list(Course(unserved, jobs).run(cancel))
    assert [number for _, number in unserved.submitted] == [0, 1]  # the third piece waits for one of two workers


def test_pieces_that_were_not_sent_are_lost_with_the_connection():
    client = Served(1, Lost)
    one = Course(client, [Job(ProbeRequest(1), SentSources([]), True, 1.0) for _ in range(3)])
    assert list(one.run(threading.Event())) == []
    assert [number for _, number in client.submitted] == [0]
    assert [heard.why for heard in one.heard] == ["the connection to the cluster was lost"] * 3


class Silent(Client):
    """A client whose scheduler answers once, and then no more."""

    async def identity(self, n_workers):
        if self._answers:
            return {"workers": self._answers.pop(0)}
        await asyncio.sleep(600)
        raise AssertionError("nobody waits so long")


@pytest.fixture
def silent(monkeypatch):
    monkeypatch.setattr(course, "_LOOK_S", 0.0)
    monkeypatch.setattr(asking, "_SCHEDULER_S", 0.1)
    client = Silent({})
    client._answers.pop()
    return Course(client, [Job(BenchRequest(1, [], [(8, 8, 8)]), SentSources([]), True, 1.0)])


def test_a_scheduler_that_answers_no_more_is_given_up(silent, monkeypatch):
    monkeypatch.setattr(course, "_ABANDONED_S", 0.3)
    assert list(silent.run(threading.Event())) == []
    assert silent.heard[0].why == "the scheduler does not answer"


def test_a_cancellation_does_not_wait_for_a_scheduler_that_answers_no_more(silent, monkeypatch):
    monkeypatch.setattr(asking, "_SCHEDULER_S", 600.0)
    cancel = threading.Event()
    threading.Timer(0.3, cancel.set).start()
    assert list(silent.run(cancel)) == []
    assert silent.heard[0].why == "cancelled"


class Uneven(Client):
    """A client of two workers, of which one never answers: it keeps the answers back that are asked for together."""

    async def _run(self, workers):
        if "stopped" in workers:
            await asyncio.sleep(600)
        return await super()._run(workers)


def test_a_worker_that_does_not_answer_is_named_and_the_others_are_used(monkeypatch):
    monkeypatch.setattr(asking, "_ALL_S", 0.1)
    monkeypatch.setattr(asking, "_EACH_S", 0.1)
    client = Uneven({})
    client._answers[0]["stopped"] = {"name": 1, "host": "lab", "resources": {}}
    assert Course(client, []).notes == ["worker 1 (lab) is not used: it does not answer"]


class Reconnecting(Client):
    """A client whose scheduler notices at the first question that its connection to a worker was lost."""

    def __init__(self, errors):
        super().__init__({})
        self._errors = errors

    async def _run(self, workers):
        return {at: self._errors.pop(0) if self._errors else pack(software()) for at in workers}


def test_a_worker_whose_connection_was_lost_is_asked_again_once():
    assert Course(Reconnecting([OSError("the connection was lost")]), []).notes == []
    with pytest.raises(Unavailable, match=r"worker 0 \(desk\) is not used: OSError: it is lost again"):
        Course(Reconnecting([OSError("the connection was lost"), OSError("it is lost again")]), [])
    with pytest.raises(Unavailable, match=r"worker 0 \(desk\) is not used: ValueError: its own mistake"):
        Course(Reconnecting([ValueError("its own mistake")]), [])


class Restarting(Client):
    """A client of two workers: one does not answer at first, and later both have been started again."""

    def __init__(self):
        before, after = ({f"{at}{n}": {"name": n, "host": "desk"} for n in range(2)} for at in ("old", "new"))
        super().__init__(after)
        self._answers[0] = before
        self.submitted, self.given_up = [], []

    async def _run(self, workers):
        return {at: pack(software()) for at in workers if at != "old0"}

    def submit(self, function, piece, key, pure, priority, workers=()):
        self.submitted.append(list(workers))
        return Future()

    def cancel(self, futures, force):
        self.given_up.append(len(futures))


def test_pieces_do_not_wait_for_ever_for_the_address_of_a_worker_that_was_started_again(monkeypatch):
    monkeypatch.setattr(course, "_LOOK_S", 0.0)
    client, cancel = Restarting(), threading.Event()
    one = Course(client, [Job(BenchRequest(1, [], [(8, 8, 8)]), SentSources([]), False, 1.0)])
    run = threading.Thread(target=lambda: list(one.run(cancel)))
    run.start()
    limit = time.monotonic() + 60
    while len(client.submitted) < 2 and time.monotonic() < limit:
        time.sleep(0.01)
    cancel.set()
    run.join()
    assert client.submitted == [["old1"], []]
    assert client.given_up[0] == 1 and one.heard[0].why == "cancelled"


def test_a_question_that_is_cancelled_before_it_starts_is_no_failure():
    """The window asks a device for its facts, and a run takes the place of this question."""
    cancel, request = threading.Event(), ProbeRequest(7)
    cancel.set()
    one = Course(Client({}), [Job(request, SentSources([]), True, 1.0)])
    list(one.run(cancel))
    assert joined(request, [request], one.heard, cancelled=True) == Failed(7, "cancelled", "cancelled")
