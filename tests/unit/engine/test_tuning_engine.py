"""Tuning in the engine: every candidate is verified and timed, and a bad one costs nothing but itself."""

import threading

import pytest
from consenting import AllowsAll
from fake_backend import FakeBackend, multiply
from tuning_kernels import CUDA, c_source

from gemmviz.bench import timing
from gemmviz.bench.protocol import Protocol
from gemmviz.bench.tuning.search import PROTOCOL
from gemmviz.catalogue.errors import GemmvizError, Unavailable
from gemmviz.engine import tuning
from gemmviz.engine.benching import Backends
from gemmviz.engine.messages import Failed, Header, Progress, Searched, Tried, TuneRequest
from gemmviz.engine.supervisor import Engine

FAST = Protocol(rounds=PROTOCOL.rounds, warmup_launches=1, warmup_s=0, min_samples=1, min_time_s=0, timeout_s=5)


class OneBackend(Backends):
    """Runs every kernel on one backend."""

    def __init__(self, backend):
        super().__init__()
        self.backend = backend

    def find(self, name):
        return self.backend


class Device(FakeBackend):
    """A fake GPU: each candidate takes the seconds that `of` returns; `bad` ones leave C wrong."""

    def __init__(self, of, bad=()):
        super().__init__(gpu=True)
        self.of, self.bad = of, bad
        self.tried = []

    def prepare(self, launch):
        params = (launch.params["BM"], launch.params["BN"])
        self.tried.append(params)
        self.kernel = wrong if params in self.bad else multiply
        prepared = super().prepare(launch)

        def sample(launches, cold):
            prepared.call(launches)
            return self.of(*params)

        prepared.sample = sample
        return prepared


def wrong(a, b, c, launches):
    multiply(a, b, c, launches)
    c.view[0] += 1


def request(text=CUDA, path="/nowhere/mine.cu", seconds=60.0, **more):
    return TuneRequest(3, path, text, 16, 16, 16, seconds=seconds, **more)


def tune(backend, monkeypatch, cancel=None, **more):
    monkeypatch.setattr(tuning, "PROTOCOL", FAST)
    monkeypatch.setattr(timing, "REPORT_S", 0)  # a round may end after one sample
    replies = []
    tuning.tune(request(**more), cancel or threading.Event(), replies.append, OneBackend(backend))
    return replies


def test_every_candidate_is_verified_and_a_wrong_one_is_not_ranked_however_fast(monkeypatch):
    device = Device(lambda bm, bn: 1.0 / (bm + bn), bad={(64, 128)})
    replies = tune(device, monkeypatch)
    assert isinstance(replies[1], Header) and isinstance(replies[-1], Searched)
    document = replies[-1].document
    assert document["params"] == {"BM": 128, "BN": 64}
    assert document["gain"] == pytest.approx(192 / 128)
    assert document["failed"] == {"wrong": 1} and document["tried"] == 8
    assert device.tried.count((64, 128)) == 1 and device.alive == 0
    right = [c for c in document["candidates"] if c["status"] == "ok"]
    assert all(c["verify"]["before"] == c["verify"]["after"] == "ok" for c in right)
    (bad,) = [c for c in document["candidates"] if c["status"] == "wrong"]
    assert bad["params"] == {"BM": 64, "BN": 128} and "elements of C are wrong" in bad["message"]


def test_progress_names_the_candidate_the_best_so_far_and_the_time(monkeypatch):
    replies = tune(Device(lambda bm, bn: 1.0 / bm), monkeypatch)
    texts = [r.text for r in replies if isinstance(r, Progress)]
    assert any("Candidate 3 of 8" in text and "best so far" in text and "s left" in text for text in texts)
    assert any(" candidates in turns, round " in text for text in texts)
    shares = [r.share for r in replies if isinstance(r, Progress)]
    assert shares == sorted(shares) and shares[-1] <= 1
    tried = [r for r in replies if isinstance(r, Tried)]
    assert tried[0].number == tried[0].default == tried[0].best == 0 and tried[0].candidates == 8
    assert [r.candidate["place"] for r in tried][:8] == list(range(1, 9))


def test_a_cancelled_search_keeps_the_best_so_far(monkeypatch):
    cancel = threading.Event()

    def of(bm, bn):
        if len(device.tried) == 4:
            cancel.set()
        return 1.0 / bm

    device = Device(of)
    document = tune(device, monkeypatch, cancel)[-1].document
    assert document["cancelled"] and document["tried"] == 3 and document["params"] is not None
    assert device.alive == 0


def test_a_machine_that_can_run_no_candidate_is_reported_at_once(monkeypatch):
    backend = FakeBackend(prepare_error=Unavailable("no CUDA device here"))
    with pytest.raises(Unavailable, match="no CUDA device here"):
        tune(backend, monkeypatch)


def test_a_library_and_an_exhibit_cannot_be_tuned(monkeypatch):
    with pytest.raises(GemmvizError, match="a library"):
        tune(FakeBackend(), monkeypatch, text='title = "NumPy"\nlibrary = "numpy"\n', path="/nowhere/numpy.toml")
    exhibit = CUDA.replace("// entry", '// exhibit = "wrong"\n// entry', 1)
    with pytest.raises(GemmvizError, match="is an exhibit"):
        tune(FakeBackend(), monkeypatch, text=exhibit)


# With the real engine


@pytest.fixture
def engine():
    engine = Engine(AllowsAll())
    yield engine
    engine.close()


def search(engine, text, cancel=None, after=lambda reply: None):
    replies = []
    # Time enough on any machine: a search ends by itself when all is clear.
    for reply in engine.run(request(text, "/nowhere/mine.c", seconds=600.0), cancel or threading.Event()):
        replies.append(reply)
        after(reply)
    return replies


def test_a_candidate_that_crashes_costs_its_own_figure_only(engine):
    bad = "    if (P == 2) *(volatile int *)8 = 1;\n    if (P == 3) { c[0] = 1; return; }\n"
    slow = "    if (P == 4) for (volatile int i = 0; i < 100000; i++) ;"
    document = search(engine, c_source(bad + slow))[-1].document
    assert {c["params"]["P"]: c["status"] for c in document["candidates"]} == {
        1: "ok",
        2: "crash",
        3: "wrong",
        4: "ok",
    }
    assert document["params"] == document["default"]["params"] == {"P": 1}
    assert not document["cancelled"] and "SIGSEGV" in str(document["candidates"])


def test_a_cancel_during_an_endless_candidate_keeps_the_results(engine):
    cancel = threading.Event()

    def after(reply):
        if isinstance(reply, Progress) and reply.job not in (None, 0):
            cancel.set()

    endless = c_source("    for (volatile int forever = P > 1; forever;) ;")
    document = search(engine, endless, cancel, after)[-1].document
    assert document["cancelled"] and document["params"] == {"P": 1} and document["gflops"] > 0


def test_a_cancel_before_anything_is_known_says_so(engine):
    cancel = threading.Event()
    cancel.set()
    (reply,) = search(engine, c_source(), cancel=cancel)
    assert isinstance(reply, Failed) and reply.kind == "cancelled"


def test_a_kernel_without_parameters_is_refused(engine):
    replies = search(engine, c_source().replace("// params = { P = [1, 2, 3, 4] }\n", ""))
    assert isinstance(replies[-1], Failed) and "nothing to tune" in replies[-1].message
