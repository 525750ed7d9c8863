# ruff: noqa: E402  (modules that need Qt are imported after `need_qt`)
"""Names for screen readers, a visible focus, type of any size."""

import numpy as np
import pytest
from window_driving import need_qt

need_qt()

from pixels import pixels
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QFontMetrics
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractScrollArea,
    QApplication,
    QLabel,
    QMenuBar,
    QScrollBar,
    QTabBar,
    QWidget,
)

from gemmviz.ui.charts.painted import page_font
from gemmviz.ui.look.theme import SEEN, contrast
from gemmviz.ui.window.window_actions import SCALE_STEP

CTRL_ALT = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier
PAGES = ("stage", "charts", "claims")


def name_of(widget):
    interface = QAccessible.queryAccessibleInterface(widget)
    return interface.text(QAccessible.Text.Name).strip() or interface.text(QAccessible.Text.Description).strip()


def in_reach(window):
    """Return the visible widgets that the Tab key reaches."""
    return [
        w
        for w in window.findChildren(QWidget)
        if w.isVisible() and w.isEnabled() and w.focusPolicy() & Qt.FocusPolicy.TabFocus and w.focusProxy() is None
        if not isinstance(w, QScrollBar | QMenuBar)
        if not (isinstance(w.parent(), QAbstractScrollArea) and w.parent().viewport() is w)
    ]


def channels(colours):
    """Return the red, green and blue of pixels: int (n, 3)."""
    return (colours[:, None] >> (16, 8, 0) & 0xFF).astype(int)


@pytest.mark.sweep("charts")
@pytest.mark.parametrize("page", PAGES)
def test_every_widget_in_the_tab_order_has_a_name(window, qtbot, page):
    window.pages.turn_to(page)
    QApplication.processEvents()
    reached = in_reach(window)
    assert len(reached) > 5
    assert [repr(w) for w in reached if not name_of(w)] == []


@pytest.mark.sweep("dark")
@pytest.mark.parametrize("theme", ["dark", "light"])
def test_the_focus_is_visible_on_every_widget(window, qtbot, theme):
    window.session.preferences.set_theme(theme)
    window.recording.button.setFocus()
    unseen = []
    for widget in in_reach(window):
        if isinstance(widget, QTabBar) and not widget.isVisible():
            continue
        window.setFocus()
        QApplication.focusWidget() and QApplication.focusWidget().clearFocus()
        before = pixels(widget.grab().toImage())
        widget.setFocus(Qt.FocusReason.TabFocusReason)
        after = pixels(widget.grab().toImage())
        if before.shape != after.shape:
            continue  # it has grown, which is visible, too
        differ = before != after
        old, new = channels(before[differ]), channels(after[differ])
        changed = np.flatnonzero(np.abs(old - new).max(axis=1) > 40)[::7]
        seen = [1 for at in changed if contrast(tuple(old[at]), tuple(new[at])) >= SEEN]
        if len(seen) < 5:
            unseen.append(f"{type(widget).__name__} {name_of(widget)!r}: {len(changed)} changed, {len(seen)} seen")
    assert not unseen


def test_the_stage_describes_its_content_after_the_last_step(window, qtbot):
    session, stage = window.session, window.stage
    session.cursor.seek(3)
    qtbot.waitUntil(lambda: stage.accessibleDescription().startswith("Step 4 of 25"))
    session.cursor.pick((2, 0), 0)
    qtbot.waitUntil(lambda: stage.accessibleDescription().startswith("C[0, 0]"))


def test_boxes_have_a_name_and_not_only_a_value(window):
    for box in (window.recording.params.boxes["TS"], window.recording.order, window.measuring.sizes):
        interface = QAccessible.queryAccessibleInterface(box)
        assert interface.text(QAccessible.Text.Description) == box.accessibleName() != ""


def test_a_key_enlarges_all_type_at_once(window, qtbot):
    source, ladder, session = window.source, window.ladder, window.session
    before = [w.fontMetrics().height() for w in (source, ladder, window.recording.button, window.stage)]
    row, gutter = ladder.sizeHintForRow(1), source.gutter.width()
    ticks = page_font().pointSizeF()
    for _ in range(4):
        qtbot.keyClick(window, Qt.Key.Key_Plus, CTRL_ALT)
    assert session.preferences.type_scale == pytest.approx(SCALE_STEP**4, abs=0.01)
    after = [w.fontMetrics().height() for w in (source, ladder, window.recording.button, window.stage)]
    assert all(b > 1.35 * a for a, b in zip(before, after, strict=True))
    assert ladder.sizeHintForRow(1) > 1.35 * row and source.gutter.width() > 1.2 * gutter
    assert page_font().pointSizeF() > 1.35 * ticks
    qtbot.keyClick(window, Qt.Key.Key_0, CTRL_ALT)
    assert session.preferences.type_scale == 1
    assert [w.fontMetrics().height() for w in (source, ladder, window.recording.button, window.stage)] == before


def cut_texts(window):
    cut = []
    for widget in window.findChildren(QAbstractButton) + window.findChildren(QLabel):
        text = widget.text()
        if not widget.isVisible() or not text or (isinstance(widget, QLabel) and (widget.wordWrap() or "<" in text)):
            continue
        needed = QFontMetrics(widget.font()).horizontalAdvance(text)
        ignored = widget.sizePolicy().horizontalPolicy() == widget.sizePolicy().Policy.Ignored
        if needed > widget.width() and not (ignored and widget.toolTip()):
            cut.append(f"{type(widget).__name__} {text!r}: {needed} px in {widget.width()}")
    return cut


@pytest.mark.sweep("1280-800-1.25")
@pytest.mark.parametrize(("width", "height", "scale"), [(1280, 800, 1.0), (1280, 800, 1.25), (1920, 1080, 1.5)])
def test_no_button_and_no_label_is_cut(window, qtbot, width, height, scale):
    window.resize(width, height)
    window.session.preferences.set_type_scale(scale)

    def fits():
        assert cut_texts(window) == []
        assert (window.width(), window.height()) == (width, height), "its parts need more room than the screen has"

    qtbot.waitUntil(fits)
