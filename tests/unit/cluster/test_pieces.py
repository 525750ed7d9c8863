"""The pieces of a benchmark, and the engine that serves pieces that follow each other."""

from types import SimpleNamespace

import pytest

from gemmviz.bench import results
from gemmviz.bench.protocol import Protocol
from gemmviz.cluster import engines
from gemmviz.cluster.piece import SentFile, SentKernel, SentSources
from gemmviz.cluster.pieces import gathered, shares
from gemmviz.engine.messages import BenchRequest

SINGLE, HALF = ("float32", "float32", "float32", ""), ("float16", "float32", "float32", "")
TYPES = {"a.cu": SINGLE, "b.cu": HALF, "c.cu": SINGLE}


def test_kernels_with_the_same_types_stay_together_at_each_size():
    kernels = [{"path": path, "text": "", "params": {}} for path in TYPES]
    found = shares(BenchRequest(1, kernels, [(8, 8, 8), (16, 16, 16)]), TYPES)
    assert [([k["path"] for k in one.request.kernels], one.request.sizes, one.places) for one in found] == [
        (paths, [(n, n, n)], places) for n in (8, 16) for paths, places in ((["a.cu", "c.cu"], [0, 2]), (["b.cu"], [1]))
    ]


def test_the_rows_of_all_pieces_are_in_the_order_of_the_benchmark():
    kernels = [{"path": path, "text": "", "params": {}} for path in TYPES]
    sizes = [shares(BenchRequest(number, kernels, [(n, n, n)]), TYPES) for number, n in enumerate((8, 16))]
    parts = [part for size in sizes for part in size]
    head = results.document({}, None, Protocol())
    documents = [
        head | {"results": [f"{p} {part.request.sizes[0][0]}" for p in part.places] + ["copies"]} for part in parts
    ]
    assert gathered(parts, documents)["results"] == [
        *("0 8", "1 8", "2 8", "copies", "copies"),
        *("0 16", "1 16", "2 16", "copies", "copies"),
    ]


class FakeEngine:
    def __init__(self, consent):
        self.consent, self.closed = consent, False

    def close(self):
        self.closed = True


class Only:
    def __init__(self, text):
        self.text = text

    def allows(self, path, text):
        return text == self.text


def piece(course, name="shipped", files=()):
    kernel = SentKernel("/a.cu", "0" * 64, name, "" if name else "text")
    return SimpleNamespace(course=course, sources=SentSources([kernel], list(files)))


@pytest.fixture(autouse=True)
def fake_engines(monkeypatch):
    monkeypatch.setattr(engines, "Engine", FakeEngine)
    yield
    engines._waiting = None


def served(one, consent=None):
    with engines.of(one, consent or Only("x")) as engine:
        assert not engine.closed
    return engine


def test_the_pieces_of_a_course_follow_each_other_in_one_engine():
    first = served(piece("one"), Only("first"))
    with engines.of(piece("one"), Only("second")) as second:
        assert second is first
        # Each piece brings the consent to its texts; nothing else is allowed.
        assert [second.consent.allows(None, text) for text in ("first", "second", "third")] == [True, True, False]
    other = served(piece("other"))
    assert other is not first and first.closed and not other.closed


@pytest.mark.parametrize("own", [{"name": ""}, {"files": [SentFile("/a.h", b"")]}])
def test_texts_that_are_not_shipped_have_an_engine_of_their_own(own):
    first = served(piece("one"))
    second = served(piece("one", **own))
    assert second is not first and first.closed and second.closed
    third = served(piece("one"))
    assert third is not second and not third.closed


def test_an_engine_ends_where_no_further_piece_arrives_or_a_piece_fails(monkeypatch):
    timers = []
    monkeypatch.setattr(
        engines.threading, "Timer", lambda seconds, end: timers.append(end) or SimpleNamespace(start=int)
    )
    first = served(piece("one"))
    again = served(piece("one"))
    timers[0]()  # of the first piece: the engine has served another one since
    assert again is first and not first.closed
    timers[1]()
    assert first.closed and served(piece("one")) is not first
    with pytest.raises(OSError), engines.of(piece("one"), Only("x")) as last:
        raise OSError
    assert last.closed
