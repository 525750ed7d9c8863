"""README, command line and ladder agree."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from gemmviz import cli
from gemmviz.catalogue.ladder import ladder

README = Path(__file__).parents[3] / "README.md"
pytestmark = pytest.mark.skipif(not README.exists(), reason="runs from a wheel, where there is no README")


def test_the_readme_shows_every_command_and_no_other() -> None:
    blocks = "".join(re.findall(r"^```sh\n(.*?)^```", README.read_text(), re.MULTILINE | re.DOTALL))
    shown = set(re.findall(r"^gemmviz ([a-z]+)", blocks, re.MULTILINE))
    assert shown == set(cli._COMMANDS) - {"window"}


def test_the_readme_lists_the_ladder() -> None:
    rows = re.findall(r"^\| `([^`]+)` \| ([^|]*) \| ([^|]*) \|$", README.read_text(), re.MULTILINE)
    own = {True: "gemmviz", False: "reference"}  # no document names it: a kernel of our own, or a library
    assert rows == [(k.alias, k.source or own[k.recordable], k.idea) for k in ladder()]


def test_the_pictures_of_the_readme_exist() -> None:
    pictures = re.findall(r"!\[[^]]*\]\(([^)]+)\)", README.read_text())
    assert pictures
    assert [p for p in pictures if not (README.parent / p).is_file()] == []


def test_help_needs_no_qt() -> None:
    code = "import sys; sys.modules['PySide6'] = None; from gemmviz.cli import run; run(['--help'])"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert all(name in answer.stdout for name in cli._COMMANDS)
