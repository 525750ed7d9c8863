"""The texts of a request on another machine: the same kernels, their own headers, and nothing else may run."""

import errno
import tempfile
from dataclasses import replace
from pathlib import Path

import hostile
import pytest

from gemmviz.bench.entries import kernel_entry, kernel_of_entry
from gemmviz.catalogue.errors import GemmvizError
from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.problem import Problem
from gemmviz.cluster import sources, wire, work
from gemmviz.cluster.piece import Piece, SentKernel, SentSources
from gemmviz.cluster.software import software
from gemmviz.engine.consent import refused
from gemmviz.engine.launched import launched, requested
from gemmviz.engine.messages import BenchRequest, Failed, TuneRequest
from gemmviz.sandbox.scratch import needed

CUDA = '#include "bounds.h"\n#include "kinds.h"\n__global__ void mine() {}\n'


def request(*kernels):
    return BenchRequest(1, [{"path": str(path), "text": text, "params": {}} for path, text in kernels], [(8, 8, 8)])


def test_a_shipped_kernel_and_its_change_travel_by_name():
    for name in ("gputiled", "gputiled~no-second-barrier"):
        kernel = find(name, ladder())
        plain, sent = sources.collected(request((kernel.path, kernel.text)), ladder())
        assert plain.kernels[0]["text"] == "" and sent.kernels[0].name == name and sent.kernels[0].text == ""
        again, consent = sources.restored(plain, sent, Path("/nowhere"))
        assert again == request((kernel.path, kernel.text))
        assert not refused(again, consent)


def test_a_strangers_file_has_its_headers_there_and_only_it_may_run(tmp_path, monkeypatch):
    project, further, there = tmp_path / "a" / "b" / "project", tmp_path / "further", tmp_path / "there"
    for folder in (project / "src" / "deep" / "er" / "still", project / "include", further, there):
        folder.mkdir(parents=True)
    (project / ".git").mkdir()
    (project / "include" / "bounds.h").write_text("#define FIRST 0\n")
    (further / "kinds.h").write_text("typedef float number;\n")
    (project / "include" / "other.h").write_text("not included\n")
    path = project / "src" / "deep" / "er" / "still" / "mine.cu"
    path.write_text(CUDA)
    monkeypatch.setenv("GEMMVIZ_INCLUDE", str(further))
    plain, sent = sources.collected(TuneRequest(1, str(path), CUDA, 8, 8, 8), ladder())
    monkeypatch.delenv("GEMMVIZ_INCLUDE")
    (project / "include" / "bounds.h").unlink()

    again, consent = sources.restored(plain, sent, there)
    at = Path(again.path)
    assert at.is_relative_to(there) and at.read_text() == again.text == CUDA
    with sources.include_folders(sent, there):
        found = {file.name: content for file, content in needed(at, CUDA)}
    assert found == {"bounds.h": b"#define FIRST 0\n", "kinds.h": b"typedef float number;\n"}
    assert consent.allows(at, CUDA)
    assert not consent.allows(at, CUDA + " ") and not consent.allows(at.with_name("other.cu"), CUDA)
    assert refused(replace(again, text="another"), consent) == [at]


def test_a_name_with_folders_is_the_same_there(tmp_path):
    text = find("gputiled", ladder()).text
    bench = BenchRequest(1, [kernel_entry(parse(text, Path("/a/b/gputiled.cu"), "b"), {})], [(8, 8, 8)])
    again, _ = sources.restored(*sources.collected(bench, ladder()), tmp_path)
    kernel = kernel_of_entry(again.kernels[0])
    assert kernel.name == "gputiled (b)" and kernel.path == tmp_path / "a" / "b" / "gputiled.cu"
    tune = TuneRequest(1, **launched(kernel, Problem(8, 8, 8)))
    again, _ = sources.restored(*sources.collected(tune, ladder()), tmp_path)
    assert requested(again).name == "gputiled (b)"


def test_another_text_there_or_a_damaged_one_is_refused(tmp_path):
    for name in ("hostmult1", "unknown", "../../etc/passwd.c"):
        kernel = SentKernel("/some/1_hostmult1.c", sources.digest("another text"), name)
        with pytest.raises(GemmvizError, match="install the same gemmviz on both machines"):
            sources.restored(request(("/some/1_hostmult1.c", "")), SentSources([kernel]), tmp_path)
    kernel = SentKernel("/mine.c", sources.digest(hostile.RIGHT), "", hostile.WRONG)
    with pytest.raises(GemmvizError, match="another text"):
        sources.restored(request(("/mine.c", "")), SentSources([kernel]), tmp_path)
    with pytest.raises(GemmvizError, match="was not sent"):
        sources.restored(request(("/mine.c", "")), SentSources([]), tmp_path)


@pytest.mark.parametrize("path", ["/../../up.c", "../up.c", "/a/../../../up.c", "a/b.c"])
def test_no_file_is_written_outside_the_folder(path, tmp_path):
    assert sources.below(tmp_path, path).is_relative_to(tmp_path)


def test_bytes_that_are_no_piece_are_refused():
    piece = Piece("0" * 32, 3, software(), b"", SentSources([]), 1.0)
    assert wire.unpack(wire.pack(piece), (Piece,)) == piece
    for damaged in (b"", b"\xc1", wire.pack(piece)[:-1], wire.pack(replace(piece, course="x")), wire.pack(software())):
        with pytest.raises(wire.NotAMessage):
            wire.unpack(damaged, (Piece,))


class Worker:
    name, host = "abacus (1)", "abacus"

    def send(self, course, report):
        raise AssertionError("nothing was run")


def test_a_full_disk_and_another_version_are_one_sentence(monkeypatch, tmp_path):
    kernel = find("hostmult1", ladder())
    plain, sent = sources.collected(request((tmp_path / "mine.c", kernel.text)), ladder())
    piece = Piece("0" * 32, 0, software(), wire.pack(plain), sent, 60.0)
    monkeypatch.setattr(work, "_leave_threads_free", lambda: None)

    def full(*args):
        raise OSError(errno.ENOSPC, "no room", "/full/mine.c")

    monkeypatch.setattr(sources, "_write", full)
    with work._cancellable(piece) as event:
        answer = work._serve(piece, event, work._Reporter(piece, Worker()))
        assert answer == Failed(1, "unsupported", "abacus (1): there is no room left to write /full/mine.c")
        other = replace(piece, software=replace(software(), distributed="1.0"))
        answer = work._serve(other, event, work._Reporter(other, Worker()))
    assert isinstance(answer, Failed) and answer.kind == "refused"
    assert answer.message.startswith("abacus (1) was not used: it has distributed")


def test_no_folder_for_temporary_files_is_one_sentence(monkeypatch, tmp_path):
    kernel = find("hostmult1", ladder())
    plain, sent = sources.collected(request((tmp_path / "mine.c", kernel.text)), ladder())
    piece = Piece("3" * 32, 0, software(), wire.pack(plain), sent, 60.0)
    monkeypatch.setattr(work, "_leave_threads_free", lambda: None)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))
    with work._cancellable(piece) as event:
        answer = work._serve(piece, event, work._Reporter(piece, Worker()))
    text = "no temporary file can be written: the disk is full, or TMPDIR names a folder that is missing"
    assert answer == Failed(1, "refused", f"abacus (1): {text}")


def test_a_piece_ends_at_its_deadline_and_with_its_course():
    piece = Piece("1" * 32, 0, software(), b"", SentSources([]), 0.05)
    with work._cancellable(piece) as event:
        assert event.wait(240)
    with work._cancellable(replace(piece, deadline_s=1000.0)) as event:
        assert not event.is_set()
        work.cancel(piece.course)
        assert event.is_set()
    with work._cancellable(replace(piece, deadline_s=1000.0)) as event:
        assert event.is_set()  # one that the worker gets after the cancellation


def test_a_piece_ends_when_nobody_wants_its_result():
    piece = Piece("2" * 32, 0, software(), b"", SentSources([]), 1000.0)
    with work._cancellable(piece, lambda: False) as event:
        assert event.wait(240)
