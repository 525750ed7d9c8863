"""The fonts that come with gemmviz are the ones that draw its texts and figures."""

import pytest
from window_driving import need_qt

need_qt()

from PySide6.QtGui import QFont, QFontInfo, QFontMetricsF, QRawFont  # noqa: E402

from gemmviz.ui.look.fonts import MONO, SANS, mono  # noqa: E402

LETTERS = "Aa0áéíñóúÍÓÚ¿«»“”–…×·−≠≤≥≈∞°²³µ←↑→↓"


@pytest.mark.parametrize("bold", [False, True])
@pytest.mark.parametrize("italic", [False, True])
def test_texts_and_sources_are_drawn_in_fonts_of_our_own_at_each_weight(qapp, bold, italic):
    for font, family in ((QFont(qapp.font()), SANS), (mono(), MONO)):
        font.setBold(bold)
        font.setItalic(italic)
        found = QFontInfo(font)
        assert (found.family(), found.bold(), found.italic()) == (family, bold, italic)
        assert [letter for letter in LETTERS if not QRawFont.fromFont(font).supportsCharacter(ord(letter))] == []


def test_figures_have_one_width_so_that_columns_of_them_stand_still(qapp):
    metrics = QFontMetricsF(qapp.font())
    assert len({metrics.horizontalAdvance(digit) for digit in "0123456789"}) == 1
