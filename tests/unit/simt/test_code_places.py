"""The places of a recorder's code are read from its debug information once, and then kept beside it."""

import errno
import shutil
from pathlib import Path

import pytest

from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.sandbox import kept
from gemmviz.simt import code_places, debuginfo
from gemmviz.simt.build import build


@pytest.fixture
def library(tmp_path: Path) -> Path:
    built = build(launch(find("gputiled", ladder()), Problem.cube(8), {"TS": 4}))
    return Path(shutil.copy(built, tmp_path))


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the sources whose lines were read."""
    names: list[str] = []
    read = debuginfo.read_debug_info

    def counted(library: Path, source_name: str) -> code_places.CodePlaces:
        names.append(source_name)
        return read(library, source_name)

    monkeypatch.setattr(debuginfo, "read_debug_info", counted)
    return names


def read_anew(library: Path, source_name: str) -> code_places.CodePlaces:
    """Read without the memory of this process."""
    return code_places.code_places.__wrapped__(library, source_name)


def test_they_are_read_once_for_each_source(library: Path, reads: list[str]) -> None:
    name = find("gputiled", ladder()).path.name
    first = read_anew(library, name)
    assert [array.name for array in first.shared] == ["As", "Bs"] and first.places
    assert read_anew(library, name) == first and reads == [name]
    assert read_anew(library, "other.cu") != first and reads == [name, "other.cu"]


def test_a_changed_file_of_places_is_not_used(library: Path, reads: list[str]) -> None:
    first = read_anew(library, "kernel.cu")
    (kept,) = library.parent.glob("*.msgpack")
    kept.write_bytes(kept.read_bytes()[::-1])
    assert read_anew(library, "kernel.cu") == first and len(reads) == 2


def test_without_a_place_to_keep_them_they_are_read_each_time(library: Path, reads: list[str], monkeypatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(kept, "keep", full)
    assert read_anew(library, "kernel.cu") == read_anew(library, "kernel.cu") and len(reads) == 2
