"""A painter ends with its block, also if painting fails: one that outlives its widget ends the program."""

import ast
from pathlib import Path

import pytest

import gemmviz

UI = Path(gemmviz.__file__).parent / "ui"


def painters_left_open(text: str) -> list[int]:
    """Return the lines that open a painter neither in a `with` statement nor just before a `try` that ends it."""
    found = []
    for node in ast.walk(ast.parse(text)):
        for block in (getattr(node, name, None) for name in ("body", "orelse", "finalbody")):
            for at, statement in enumerate(block if isinstance(block, list) else []):
                opens = isinstance(statement, ast.Assign) and "QPainter(" in ast.unparse(statement.value)
                following = block[at + 1 : at + 3]
                if opens and not any(isinstance(one, ast.Try) and one.finalbody for one in following):
                    found.append(statement.lineno)
    return found


def test_painters_that_are_left_open_are_found():
    assert painters_left_open("def f(self):\n    p = QPainter(self)\n    draw(p)\n    p.end()") == [2]
    assert not painters_left_open("def f(self):\n    with QPainter(self) as p:\n        draw(p)")


@pytest.mark.thorough
def test_every_painter_ends_with_its_block():
    left = {
        str(path.relative_to(UI)): painters_left_open(path.read_text(encoding="utf-8")) for path in UI.rglob("*.py")
    }
    assert not {name: lines for name, lines in left.items() if lines}
