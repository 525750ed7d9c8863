"""The gallery shows every rung that can be recorded, with the commands that make its pictures."""

import re
import runpy
import tomllib
from pathlib import Path

import pytest

from gemmviz.catalogue.ladder import ladder

DOCS = Path(__file__).parents[3] / "docs"
# Everybody who clones gets them all: a rung may take 270 kB, which is a film of some 10 seconds and two stills.
MOST_BYTES_EACH = 270_000

if not DOCS.is_dir():
    pytest.skip("the documents are not beside these tests", allow_module_level=True)

# What S1 prints does not compile: there is nothing to record.
RUNGS = [kernel.name for kernel in ladder() if kernel.recordable and kernel.name != "mm_optimizado_printed"]


def test_every_rung_has_a_film_and_two_stills():
    plans = tomllib.loads((DOCS / "gallery.toml").read_text(encoding="utf-8"))
    assert list(plans) == RUNGS
    made = {path.name for path in (DOCS / "gallery").iterdir()}
    assert made == {f"{name}{end}" for name in RUNGS for end in (".gif", "-dark.png", "-light.png")}
    assert sum(path.stat().st_size for path in (DOCS / "gallery").iterdir()) < MOST_BYTES_EACH * len(RUNGS)


def test_the_page_is_what_the_command_writes_and_its_pictures_exist():
    tools = runpy.run_path(str(DOCS / "gallery.py"))
    plans = tomllib.loads((DOCS / "gallery.toml").read_text(encoding="utf-8"))
    page = (DOCS / "gallery.md").read_text(encoding="utf-8")
    assert page == tools["page"]([kernel for kernel in ladder() if kernel.name in plans], plans)
    pictures = re.findall(r"\]\((gallery/[^)]+)\)", page)
    assert len(pictures) == 3 * len(RUNGS)
    assert all((DOCS / picture).is_file() for picture in pictures)
