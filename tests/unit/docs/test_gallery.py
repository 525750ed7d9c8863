"""The gallery shows every rung that can be recorded, with the commands that make its pictures; pages show some."""

import re
import runpy
import shlex
import tomllib
from pathlib import Path

import pytest

from gemmviz.catalogue.ladder import ladder

DOCS = Path(__file__).parents[3] / "docs"
# Every clone has the pictures of the pages: a film may take 270 kB, which is some 10 seconds.
MOST_BYTES_EACH = 270_000

if not DOCS.is_dir():
    pytest.skip("the documents are not beside these tests", allow_module_level=True)

# The code that S1 prints does not compile: there is nothing to record.
RUNGS = [kernel.name for kernel in ladder() if kernel.recordable and kernel.name != "mm_optimizado_printed"]


@pytest.fixture(scope="module")
def tools():
    """What makes the gallery, as the command `python docs/gallery.py` sees it."""
    return runpy.run_path(str(DOCS / "gallery.py"))


@pytest.fixture(scope="module")
def plans():
    return tomllib.loads((DOCS / "gallery.toml").read_text(encoding="utf-8"))


def made(tools, plans):
    """Return the names of the files that the command makes."""
    kernels = [kernel for kernel in ladder() if kernel.name in plans]
    return [words[-1] for kernel in kernels for words in tools["commands"](kernel, plans[kernel.name])]


def test_every_rung_has_a_film_and_two_stills(tools, plans):
    assert list(plans) == RUNGS
    assert made(tools, plans) == [f"{name}{end}" for name in RUNGS for end in (".gif", "-dark.png", "-light.png")]


def test_the_page_shows_each_picture_with_the_command_that_makes_it(tools, plans):
    page = tools["page"]([kernel for kernel in ladder() if kernel.name in plans], plans)
    assert re.findall(r"\]\(([^)]+)\)", page) == made(tools, plans)
    commands = [shlex.split(line) for line in page.splitlines() if line.startswith("gemmviz render ")]
    assert [words[-1] for words in commands] == made(tools, plans)


def test_what_the_pages_show_is_there_and_nothing_else(tools, plans):
    shown = tools["shown"]()
    assert shown and shown <= set(made(tools, plans))
    kept = list((DOCS / "images" / "gallery").iterdir())
    assert {path.name for path in kept} == shown
    assert all(path.stat().st_size < MOST_BYTES_EACH for path in kept)


def test_the_command_writes_where_git_does_not_look(tools, plans, tmp_path, monkeypatch, capsys):
    drawn = []
    names = tools["main"].__globals__
    monkeypatch.setitem(names, "run", lambda words: drawn.append(words) or Path(words[-1]).touch() or 0)
    monkeypatch.setitem(names, "ALL", tmp_path / "build" / "gallery")
    monkeypatch.setitem(names, "_ROOT", tmp_path)
    monkeypatch.setattr("sys.argv", ["gallery.py", "gputiled", "RR"])
    assert tools["main"]() == 0
    assert sorted(path.name for path in (tmp_path / "build" / "gallery").iterdir()) == sorted(
        ["gallery.md", *(f"{name}{end}" for name in ("RR", "gputiled") for end in (".gif", "-dark.png", "-light.png"))]
    )
    page = (tmp_path / "build" / "gallery" / "gallery.md").read_text(encoding="utf-8")
    assert re.findall(r"\]\(([^)]+)\.gif\)", page) == ["gputiled", "RR"]
    assert {words[1] for words in drawn} == {"gputiled", "RR"}
