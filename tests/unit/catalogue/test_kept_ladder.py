"""The ladder as it was read is kept, and used for as long as it is what reading would give."""

import os
from pathlib import Path

import pytest

from gemmviz import data
from gemmviz.catalogue import expression, kept_ladder, ladder
from gemmviz.catalogue.errors import FrontMatterError
from gemmviz.catalogue.expression import Expression
from gemmviz.catalogue.kernel import load

NAMES = ("cpu/10_hostmult0.c", "cuda/30_gputiled.cu", "cuda/*_wgmma.cu", "reference/*.toml")


@pytest.fixture
def files(tmp_path, monkeypatch) -> list[Path]:
    """Give a small ladder of its own the place of the shipped one, and an empty cache."""
    shipped, folder = data.root("kernels"), tmp_path / "kernels"
    found = [file for name in NAMES for file in sorted(shipped.glob(name))]
    for file in found:
        copy = folder / file.name
        copy.parent.mkdir(exist_ok=True)
        copy.write_bytes(file.read_bytes())
    resources = data.root("resources")
    monkeypatch.setattr(data, "root", {"kernels": folder, "resources": resources}.get)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return sorted(folder.iterdir(), key=lambda file: file.name)


def kept_file(tmp_path: Path) -> Path:
    return next((tmp_path / "cache/gemmviz/ladder").glob("*.msgpack"))


def test_kept_kernels_are_those_that_were_read(files):
    assert len(files) > len(NAMES) - 1
    assert kept_ladder.find(files) is None
    read, faults = ladder.read_ladder()
    kept = kept_ladder.find(files)
    assert not faults and kept == read
    assert [kernel.sha256 for kernel in kept] == [kernel.sha256 for kernel in read]
    assert any(kernel.breaks for kernel in kept) and any(kernel.demo and kernel.demo.stop for kernel in kept)


def test_the_expressions_of_kept_kernels_are_checked_when_they_are_used(files, monkeypatch):
    """To check the formulas of all kernels takes a tenth of the time to the first window."""
    kept_ladder.keep([load(file) for file in files])
    checked = []
    check = expression._checked
    expression._names.cache_clear()
    expression._compiled.cache_clear()
    monkeypatch.setattr(expression, "_checked", lambda text: checked.append(text) or check(text))
    kernel = next(kernel for kernel in kept_ladder.find(files) if kernel.grid and kernel.grid[0].names())
    assert checked == [kernel.grid[0].text]
    values = dict.fromkeys(kernel.grid[0].names(), 8)
    assert kernel.grid[0].integer(values) == Expression(kernel.grid[0].text).integer(values)


def test_an_expression_that_is_checked_later_can_do_no_more():
    with expression.checked_later():
        made = Expression("open('file')")
    with pytest.raises(FrontMatterError):
        made.evaluate({})
    with pytest.raises(FrontMatterError):
        made.names()
    with pytest.raises(FrontMatterError):
        Expression("open('file')")


def test_a_changed_kernel_is_read_again(files):
    kept_ladder.keep([load(file) for file in files])
    file = next(f for f in files if "gputiled" in f.name)
    file.write_text(file.read_text().replace("title =", "title = 'Another' #", 1))
    assert kept_ladder.find(files) is None


def test_a_changed_reader_reads_again(files, monkeypatch):
    kept_ladder.keep([load(file) for file in files])
    assert kept_ladder.find(files) is not None
    monkeypatch.setattr(kept_ladder, "__version__", "0.0")
    assert kept_ladder.find(files) is None


@pytest.mark.parametrize("damage", [lambda kept: kept[:-9], lambda kept: kept[:40] + b"\xc1" * 40, lambda kept: b""])
def test_a_damaged_file_is_not_used(files, tmp_path, damage):
    kept_ladder.keep([load(file) for file in files])
    file = kept_file(tmp_path)
    file.write_bytes(damage(file.read_bytes()))
    assert kept_ladder.find(files) is None


def test_kernels_with_other_texts_are_not_used(files, tmp_path):
    """Whoever changed the file kept the digest: what may run is still what the kernels' files say."""
    kept_ladder.keep([load(file) for file in files])
    file = kept_file(tmp_path)
    kept = file.read_bytes()
    assert b"__syncthreads" in kept
    file.write_bytes(kept.replace(b"__syncthreads", b"__syncthreadz", 1))
    assert kept_ladder.find(files) is None


def test_a_file_that_others_may_write_is_not_used(files, tmp_path):
    kept_ladder.keep([load(file) for file in files])
    assert kept_ladder.find(files) is not None
    kept_file(tmp_path).parent.chmod(0o777)
    assert kept_ladder.find(files) is None


def test_where_nothing_can_be_kept_kernels_are_read(files, monkeypatch):
    def full(name: str):
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(data, "cache_folder", full)
    kept_ladder.keep([load(file) for file in files])
    assert kept_ladder.find(files) is None


def test_the_ladder_is_not_read_anew_where_it_is_kept(files, monkeypatch):
    read = ladder.read_ladder()
    monkeypatch.setattr(ladder, "load", None)
    assert ladder.read_ladder() == read


def test_a_ladder_with_a_fault_is_not_kept(files):
    files[0].write_text("no front matter")
    for _ in range(2):
        kernels, faults = ladder.read_ladder()
        assert len(kernels) == len(files) - 1 and files[0].name in faults[0]
