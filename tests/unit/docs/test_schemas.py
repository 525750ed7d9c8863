"""The published schemas are those of the types that files are read by."""

import importlib
import sys
from pathlib import Path

import pytest

from gemmviz import data

ROOT = Path(__file__).parents[3]

if not (ROOT / "docs").is_dir():
    pytest.skip("the documents are not beside these tests", allow_module_level=True)


def test_the_published_schemas_are_up_to_date(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    made = importlib.import_module("schemas").texts()
    sys.modules.pop("schemas")
    folder = data.root("resources") / "schema"
    assert made == {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()}
