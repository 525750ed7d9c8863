"""Font files stay open: Qt opens each of them once, however often the sizes of type change."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from window_driving import need_qt

need_qt()

import polib  # noqa: E402

from gemmviz import data  # noqa: E402
from gemmviz.ui.look.open_fonts import SAMPLE  # noqa: E402

ROOT = Path(__file__).parents[2]
SIZES = """
import sys
from PySide6.QtGui import QFont, QFontMetricsF
from PySide6.QtWidgets import QApplication
from gemmviz.ui.look.fonts import load, mono
from gemmviz.ui.look.open_fonts import SAMPLE, open_fonts

def files():
    with open("/proc/self/maps", encoding="utf-8") as maps:
        return sum(line.rstrip().endswith((".ttf", ".ttc", ".otf", ".pfb")) for line in maps)

def measured(base, pixels, bold, text, italic=False):
    font = QFont(base)
    font.setPixelSize(pixels)
    font.setBold(bold)
    font.setItalic(italic)
    metrics = QFontMetricsF(font)
    metrics.horizontalAdvance(text)
    return metrics

running = QApplication([])
load(running)
fixed = mono()
open_fonts(running).open_all()
counts, used, size = [files()], [], 20
for round in range(3):
    # More fonts than Qt keeps: it drops those for source, while others stay in use.
    measured(fixed, 10 + round, True, SAMPLE)
    for italic in (False, True):
        measured(fixed, 10 + round, False, SAMPLE, italic)
    used.append(measured(running.font(), 10 + round, False, SAMPLE))
    for _ in range(600):
        size += 1
        measured(running.font(), size, False, "Aa")
    counts.append(files())
open_fonts(running).open_all()
print(*counts, files())
"""
OTHER_FONTS = """
from PySide6.QtWidgets import QApplication, QLabel
from gemmviz.ui.look.fonts import load, mono
from gemmviz.ui.look.open_fonts import open_fonts
from gemmviz.ui.panels.help_text import help_text

COMMENT = "// Chinese \u4e00, Russian \u0414, Hebrew \u05d0, Thai \u0e01, Japanese \u3042"

def files():
    with open("/proc/self/maps", encoding="utf-8") as maps:
        return sum(line.rstrip().endswith((".ttf", ".ttc", ".otf", ".pfb")) for line in maps)

def shown(text, font):
    label = QLabel(text)
    label.setFont(font)
    label.resize(label.sizeHint())
    label.grab()

running = QApplication([])
load(running)
fixed = mono()
fonts = open_fonts(running)
fonts.open_all()
keys = [files()]
for points in range(8, 20):
    font = running.font()
    font.setPointSize(points)
    shown(help_text({"Keys": [("<code>Ctrl+Z</code>", "undo")]}), font)
    keys.append(files())
fonts.keep(COMMENT)
comments = [files()]
for points in range(8, 20):
    fixed.setPointSize(points)
    shown(COMMENT, fixed)
    comments.append(files())
print(*keys)
print(*comments)
"""


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="needs Linux")
def test_qt_opens_no_font_file_again_while_fonts_of_many_sizes_come_and_go(tmp_path):
    settings = os.environ | {"QT_QPA_PLATFORM": "offscreen", "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", SIZES], env=settings, capture_output=True, text=True, check=True)
    counts = [int(count) for count in done.stdout.split()]
    if not counts[-1]:
        pytest.skip("no font files are mapped here")
    assert len(set(counts)) == 1, counts


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="needs Linux")
def test_the_list_of_keys_and_a_comment_in_another_script_open_no_further_font_file():
    settings = os.environ | {"QT_QPA_PLATFORM": "offscreen", "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", OTHER_FONTS], env=settings, capture_output=True, text=True, check=True)
    keys, comments = (line.split() for line in done.stdout.splitlines())
    if not int(keys[-1]):
        pytest.skip("no font files are mapped here")
    assert len(set(keys)) == 1, keys
    assert len(set(comments)) == 1, comments


def shown_marks():
    """Return the visible characters beyond ASCII, but Hangul, of all translations and of the window's code."""
    texts = []
    for path in (data.root("resources") / "languages").glob("*.po"):
        for entry in polib.pofile(str(path)):
            texts += [entry.msgid, entry.msgid_plural, entry.msgstr, *entry.msgstr_plural.values()]
    for path in Path(sys.modules["gemmviz.ui"].__file__).parent.rglob("*.py"):
        source = path.read_text(encoding="utf-8")
        if source.isascii() and not re.search(r"\\[uUNx]", source):
            continue  # most files: to parse them takes a second
        nodes = ast.walk(ast.parse(source))
        texts += [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    return {mark for mark in re.sub(r"[\x00-\x7f가-힣]", "", "".join(texts)) if mark.isprintable()}


def test_every_mark_on_the_screen_is_in_the_sample_that_opens_the_fonts():
    assert shown_marks() <= set(SAMPLE)
