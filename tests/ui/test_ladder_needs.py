"""Rungs for other GPUs stay on the ladder, with the capability that they need and the one of this machine."""

import pytest
from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtGui import QHelpEvent, QPainter

from gemmviz.app import new_session
from gemmviz.ui.panels.ladder import Ladder
from gemmviz.ui.panels.row_painter import TitleLines


@pytest.fixture
def listed(qtbot):
    listed = Ladder(new_session("dark"))
    qtbot.addWidget(listed)
    listed.resize(340, 900)
    listed.show()
    return listed


def picture_of(listed, name):
    item = listed.item_of(name)
    listed.open("libraries")
    listed.scrollToItem(item)
    return listed.viewport().grab(listed.visualItemRect(item)).toImage()


def test_a_rung_for_another_gpu_shows_the_needed_and_the_present_one(listed):
    session = listed.session

    def tip():
        return listed.item_of("cublas_bf16").toolTip()

    assert "Needs compute capability 8.0 or later\n" in tip() and "this GPU" not in tip()
    before = picture_of(listed, "cublas_bf16")
    session.results.set_device("Tesla T4", {"name": "Tesla T4", "cc": "7.5"})
    assert "Needs compute capability 8.0 or later; this GPU has 7.5\n" in tip()
    assert picture_of(listed, "cublas_bf16") != before
    assert "compute capability" not in listed.item_of("cublas").toolTip()


def test_a_tip_is_written_when_it_is_shown(listed):
    """The tips of all rungs at once would keep the window waiting."""
    picture_of(listed, "cublas_bf16")
    listed.session.results.set_device("Tesla T4", {"name": "Tesla T4", "cc": "7.5"})
    item = listed._items["cublas_bf16"]
    assert "this GPU" not in item.toolTip()
    place = listed.visualItemRect(item).center()
    QCoreApplication.sendEvent(listed.viewport(), QHelpEvent(QEvent.Type.ToolTip, place, listed.mapToGlobal(place)))
    assert "this GPU has 7.5" in item.toolTip()


def test_a_suitable_gpu_gives_no_warning(listed):
    before = picture_of(listed, "cublas_bf16")
    listed.session.results.set_device("NVIDIA H200", {"name": "NVIDIA H200", "cc": "9.0"})
    assert "this GPU" not in listed.item_of("cublas_bf16").toolTip()
    assert picture_of(listed, "cublas_bf16") == before


def test_a_title_keeps_its_lines_whatever_is_done_with_its_font(listed):
    title = "A title of a kernel that is far too long " * 3 + "for one line of the list"
    titles, given, width = TitleLines(), listed.font(), listed.viewport().width()
    font, lines = titles.lines(title, given, width)
    font.setBold(False)
    again, same = titles.lines(title, given, width)
    assert again.bold() and same == lines and len(lines) > 1


def test_all_titles_of_kernels_have_one_size_of_type(listed):
    titles, given, width = TitleLines(), listed.font(), listed.viewport().width()
    long, short = (titles.lines(title, given, width) for title in ("A title that is long " * 6, "Short"))
    assert len(long[1]) > len(short[1]) == 1 and long[0] == short[0]


def test_all_titles_of_chapters_have_one_size_of_type(listed, monkeypatch):
    drawn = {}
    write = QPainter.drawText

    def written(painter, box, flags, text):
        drawn[text] = painter.font().pixelSize(), painter.font().pointSizeF(), painter.font().stretch()
        write(painter, box, flags, text)

    monkeypatch.setattr(QPainter, "drawText", written)
    listed.resize(176, 900)  # as in a window of 1280 x 800
    listed.open("")
    listed.grab()
    titles = [chapter.title for chapter in listed.rows.chapters.values()]
    assert set(titles) <= set(drawn), "none is cut"
    assert len({drawn[title] for title in titles}) == 1
