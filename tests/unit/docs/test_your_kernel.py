"""The page on a kernel of one's own shows what the commands print, and the messages of kernels that are refused."""

import importlib
import re
import shutil
import sys
from pathlib import Path

import pytest
from listings import HAS_TOOLS

ROOT = Path(__file__).parents[3]

if not (ROOT / "docs").is_dir():
    pytest.skip("the documents are not beside these tests", allow_module_level=True)

NAMES = tuple(re.findall(r"^\[([\w-]+)\]$", (ROOT / "docs" / "your_kernel.toml").read_text(), re.MULTILINE))
NEED_TOOLS = ("assembly", "compare")
"""Commands whose output depends on NVRTC: they are compared where its version is that of the page."""


@pytest.fixture
def page(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    yield importlib.import_module("your_kernel")
    sys.modules.pop("your_kernel", None)


def steady(text):
    """Return an output without the time that it took."""
    return re.sub(r"(?<=accesses in )[\d.]+ s", "", text)


@pytest.mark.thorough
def test_the_page_shows_what_the_commands_print(page):
    blocks = page.blocks(page.PAGE.read_text(encoding="utf-8"))
    commands = [block.command.split()[1] for block in blocks]
    assert {"describe", "record", "check", "assembly", "compare", "bench"} <= set(commands)
    printed = list(page.outputs([block.command for block in blocks]))
    compiler = re.search(r"compiled by (NVRTC [\d.]+)", "".join(block.output for block in blocks))[1]
    same_tools = HAS_TOOLS and any(f"compiled by {compiler}\n" in output for output in printed)
    for command, block, output in zip(commands, blocks, printed, strict=True):
        if command in NEED_TOOLS and not same_tools:
            continue
        if command == "bench" and shutil.which("nvidia-smi"):
            continue
        assert steady(output) == steady(block.output), f"{block.command}: run python docs/your_kernel.py"


@pytest.mark.sweep("no-kernel", "no-comment", "further-argument", "matrices-in-a-struct", "header")
@pytest.mark.parametrize("name", NAMES)
def test_a_refused_kernel_is_refused_with_the_message_of_the_table(name, page):
    (case,) = [one for one in page.cases() if one.name == name]
    row = page.rows([(case, page.message(case))]).splitlines()[-1]
    assert row in page.PAGE.read_text(encoding="utf-8").splitlines(), "run python docs/your_kernel.py"
    assert "front matter now" not in row


def test_the_table_has_the_refused_kernels_and_no_others(page):
    table = (
        page.PAGE.read_text(encoding="utf-8").split("<!-- refused: begin -->\n")[1].split("<!-- refused: end -->")[0]
    )
    shown = [row for row in table.splitlines() if row.startswith("| ")][1:]
    assert len(shown) == len(NAMES) == len(page.cases())
    assert all(case.why in row and case.do in row for case, row in zip(page.cases(), shown, strict=True))


def test_the_page_shows_the_example_and_pictures_that_can_be_made_again(page, monkeypatch):
    text = page.PAGE.read_text(encoding="utf-8")
    assert (page.EXAMPLES / "matmul.cu").read_text(encoding="utf-8") in text
    pictures = importlib.import_module("your_kernel_pictures")
    sys.modules.pop("your_kernel_pictures", None)
    assert re.findall(r"images/([^)]+)\)", text) == list(pictures.PICTURES)


def test_the_pictures_of_the_tour_can_be_made_again(page):
    pictures = importlib.import_module("tour_pictures")
    sys.modules.pop("tour_pictures", None)
    text = (page.PAGE.parent / "tour.md").read_text(encoding="utf-8")
    assert re.findall(r"images/([^)]+)\)", text) == list(pictures.PICTURES)


def test_a_picture_waits_for_turns_of_the_event_loop_however_long_one_takes(page, monkeypatch):
    """A lesson's text was cut in a picture: one slow turn took all of the time that the layout had."""
    driven = importlib.import_module("driven_window")
    sys.modules.pop("driven_window", None)
    clock, turns = [0.0], [0]

    class SlowApplication:
        def processEvents(self):
            clock[0] += 2.0
            turns[0] += 1

    monkeypatch.setattr(driven.time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(driven.time, "sleep", lambda seconds: None)
    window = driven.DrivenWindow.__new__(driven.DrivenWindow)
    window.qt = SlowApplication()
    window.wait(lambda: turns[0] > 3)
    assert turns[0] >= 3 + 20
