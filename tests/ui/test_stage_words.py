# ruff: noqa: E402  (modules that need Qt are imported after `need_qt`)
"""The sentence in the stage's free quadrant: whole lines, in any height."""

import pytest
from recordings import small_tiled
from window_driving import need_qt

need_qt()

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QImage, QPainter

from gemmviz.ui.look.theme import THEMES
from gemmviz.ui.stage.moment import Moment
from gemmviz.ui.stage.painter import StagePainter
from gemmviz.ui.stage.scene import Bounds
from gemmviz.ui.stage.words import Sentence, Words

IDEA = "A and B lie in shared memory as in the matrices: lanes read a column of A's tile, so many meet in a bank."


@pytest.mark.parametrize("lines", [1.0, 1.7, 2.4, 6.0])
def test_a_sentence_that_is_too_long_ends_with_a_whole_line(qapp, lines):
    """Between the title and two formulas its second line was cut in half."""
    words = Words(small_tiled(), THEMES["dark"], QFont())
    height = QFontMetricsF(QFont()).height()
    placed = words._placed_sentence(Bounds(0, 0, 240, lines * height), Sentence("", "", IDEA, idea=True))
    room, text = placed.text
    wrapped = QFontMetricsF(placed.font).boundingRect(QRectF(0, 0, room.width(), 1e5), Qt.TextFlag.TextWordWrap, text)
    assert wrapped.height() <= room.height() + 1
    assert text == IDEA if placed.complete else IDEA.startswith(text[:-1]) and text[-1] == "…"
    assert placed.complete == (lines > 5)


def test_the_sentence_about_a_chosen_cell_is_small_only_where_it_has_no_room(qapp) -> None:
    """It was always small: in a class nobody could read it."""
    font = QFont()
    font.setPixelSize(13)
    words = Words(small_tiled(), THEMES["dark"], font)
    sentence = Sentence("C[2, 1]", "", "fed by A 8×, B 8×, shared 16×", chosen=True)
    sizes = [words._placed_sentence(Bounds(0, 0, right, 60), sentence).font.pixelSize() for right in (400, 90)]
    assert sizes[0] == 13 > sizes[1]


def test_without_a_title_the_words_begin_with_the_kernels_name_as_chips_have_its_parameters(qapp, monkeypatch):
    written = []
    monkeypatch.setattr(Words, "draw_title", lambda self, painter, place, title, *rest: written.append(title))
    stage, image = StagePainter(small_tiled(), THEMES["dark"], QFont()), QImage(1000, 800, QImage.Format.Format_RGB32)
    painter = QPainter(image)
    for title in ("", "Shared-memory tiles"):
        stage.title = title
        stage.paint(painter, QRectF(0, 0, 1000, 800), Moment(0))
    painter.end()
    assert written == ["gputiled", "Shared-memory tiles"] and stage.playable.recording.label == "gputiled<4>"
