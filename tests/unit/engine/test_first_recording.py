"""The window's first recording comes from the cache, as long as nothing that it was made from has changed."""

import threading
from dataclasses import replace

import pytest
from consenting import AllowsAll

from gemmviz.app import new_session
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.control.stage_recorder import request_for
from gemmviz.control.unpacking import playable_of
from gemmviz.engine import first_recording
from gemmviz.engine.first_recording import FirstFromCache
from gemmviz.engine.messages import Recorded, RecordRequest


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(first_recording, "_folder", lambda: tmp_path)
    monkeypatch.setattr(first_recording, "_LOOK_S", 0.0)
    return tmp_path


@pytest.fixture
def made():
    engines = []

    def make():
        engines.append(FirstFromCache(AllowsAll()))
        return engines[-1]

    yield make
    for one in engines:
        one.close()


def request(run=1):
    kernel = find("hostmult0", ladder())
    return RecordRequest(run, str(kernel.path), kernel.text, 4, 4, 4, {})


def recorded(engine, asked, cancel=None):
    cancel = cancel or threading.Event()
    (found,) = (reply for reply in engine.run(asked, cancel) if isinstance(reply, Recorded))
    return found


def test_the_second_window_needs_no_process_for_its_first_recording(made, folder):
    asked, first, second = request(), made(), made()
    first.prepare_for(asked)
    assert first.pid is not None, "the cache is empty"
    before = recorded(first, asked)
    assert first_recording.is_kept(asked)
    second.prepare_for(asked)
    assert second.pid is None
    cancelled = threading.Event()
    cancelled.set()  # by the next request: nothing is prepared any more
    after = recorded(second, replace(asked, run=7), cancelled)
    assert second.pid is None and after.run == 7
    one, other = playable_of(before), playable_of(after)
    assert one.recording.sha256 == other.recording.sha256
    for name in ("element", "value", "write", "array", "thread"):
        assert (getattr(one.recording.accesses, name) == getattr(other.recording.accesses, name)).all()
    assert (one.timeline.order == other.timeline.order).all() and after.findings == before.findings
    # Each further recording is made.
    again = recorded(second, replace(asked, run=8))
    assert second.pid is not None and again.run == 8


def test_the_process_starts_while_the_user_looks_at_the_kept_recording(made):
    asked = request()
    recorded(made(), asked)
    engine = made()
    recorded(engine, asked)
    assert engine.pid is not None


def test_anything_else_is_recorded(made, monkeypatch, folder):
    asked = request()
    recorded(made(), asked)
    for other in (replace(asked, m=5), replace(asked, as_written=True), replace(asked, text=asked.text + "\n")):
        assert not first_recording.is_kept(other) and first_recording.find(other) is None
    monkeypatch.setenv("GEMMVIZ_CC", "another")
    assert first_recording.find(asked) is None
    monkeypatch.undo()


def test_changed_code_makes_it_again(made, monkeypatch, tmp_path):
    asked = request()
    recorded(made(), asked)
    assert first_recording.find(asked) is not None
    monkeypatch.setattr(first_recording, "_CODE", first_recording._CODE[:-1])
    assert first_recording.find(asked) is None


def test_another_compiler_or_processor_makes_it_again(made, monkeypatch, folder, tmp_path_factory):
    asked = request()
    recorded(made(), asked)
    other = tmp_path_factory.mktemp("compiler") / "zig"
    other.write_text("another one")
    with monkeypatch.context() as patch:
        patch.setattr(first_recording.compiler, "program", lambda: other)
        assert first_recording.find(asked) is None
    with monkeypatch.context() as patch:
        patch.setattr(first_recording.zig, "processor", lambda: "another one")
        assert first_recording.find(asked) is None
    assert first_recording.find(asked) is not None


def test_a_damaged_file_is_made_again(made, folder):
    asked = request()
    recorded(made(), asked)
    (file,) = folder.glob("*.recording")
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    assert first_recording.find(asked) is None
    recorded(made(), asked)
    assert first_recording.find(asked) is not None


def test_a_text_that_gemmviz_does_not_ship_is_not_kept(made, folder):
    kernel = find("hostmult0", ladder())
    recorded(made(), RecordRequest(1, "/nowhere/mine.c", kernel.text, 4, 4, 4, {}))
    recorded(made(), RecordRequest(1, str(kernel.path), kernel.text + "// mine\n", 4, 4, 4, {}))
    assert not list(folder.iterdir())


def test_only_the_newest_stay(made, folder, monkeypatch):
    monkeypatch.setattr(first_recording, "_MOST_FILES", 2)
    for size in (2, 3, 4):
        recorded(made(), replace(request(), m=size))
    assert len(list(folder.glob("*.recording"))) == len(list(folder.glob("*.sha256"))) == 2
    assert first_recording.find(replace(request(), m=2)) is None
    assert first_recording.find(replace(request(), m=4)) is not None


def test_a_full_disk_only_costs_the_time(made, monkeypatch):
    def full(*_):
        raise OSError(28, "no space left")

    monkeypatch.setattr(first_recording.kept, "keep", full)
    assert recorded(made(), request()) is not None


def test_the_request_is_that_of_the_window():
    session = new_session()
    choice = session.choice
    asked = request_for(choice, 3)
    assert (asked.run, asked.text, asked.order) == (3, choice.kernel.text, choice.order)
    size = choice.problem.m, choice.problem.n, choice.problem.k
    assert (asked.m, asked.n, asked.k, asked.params) == (*size, choice.params)
