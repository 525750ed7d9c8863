"""Presenter mode: one matrix trio fills a screen, with the line that executes and a sentence, for the back row."""

from collections.abc import Callable
from html import escape as escape_html
from math import ceil

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction, QCloseEvent, QFont, QKeySequence, QMouseEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QBoxLayout, QLabel, QSizePolicy, QVBoxLayout, QWidget

from gemmviz.catalogue.titles import title_text
from gemmviz.language import tr
from gemmviz.session import Message, Session
from gemmviz.ui.connections import listen
from gemmviz.ui.look.theme import THEMES, Theme, for_presenting
from gemmviz.ui.present.keys_overlay import KeysOverlay
from gemmviz.ui.present.lens_pane import LensPane
from gemmviz.ui.present.note import PresenterNote
from gemmviz.ui.present.predict_panel import PredictPanel, score
from gemmviz.ui.present.presenter_actions import presenter_actions
from gemmviz.ui.present.progress import ProgressStrip
from gemmviz.ui.present.source_lines import SourceLines
from gemmviz.ui.stage.caption import BETWEEN, events, step_text, tile_text
from gemmviz.ui.stage.likeness_text import likeness_text
from gemmviz.ui.stage.stage import Stage
from gemmviz.ui.window.actions import Action
from gemmviz.ui.window.key_names import key_text

# Heights of type, as parts of the screen's height: legible from the back row.
TITLE, SENTENCE, LONG_SENTENCE, QUESTION, CODE, LABEL = 26, 28, 36, 30, 38, 45
_LONG = 220
"""Letters from which on a sentence is written smaller, so that it does not take the picture's room."""
_STRIP = 120
_WIDE = 1.25
"""Width over height from which on the words stand beside the picture: it keeps more height than it loses width."""
_ROOMY = 1.5
"""The same, from which on the words need a smaller share of the width."""
_WORDS_SHARE, _WORDS_SHARE_NARROW, _WORDS_SHARE_LENS = 36, 41, 42
_CODE_ROWS, _CODE_ROWS_LENS = 3, 2
"""Rows that the executing line may take beside the picture, and where a lens stands above it."""
_LENS_SHARE = 30
"""Percent of the height for a lens below the picture."""
_LEAST_LENS = 28
"""The same, beside the picture and below a question: with less, it is left out."""
_APART = " " * 3
_HINTS = ("present_black", "present_predict", "present_keys", "present_escape")
_SCALES = (0.8, 0.9, 1.0, 1.1, 1.2)
"""Sizes of type relative to those above: larger ones would leave no room for the longest sentences."""
_ANY = (1 << 24) - 1
_EQUALS = "\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}"
_DOWN, _RIGHT = QBoxLayout.Direction.TopToBottom, QBoxLayout.Direction.LeftToRight


class Presenter(QWidget):
    """The view of a session for an audience: no menus, no buttons.

    Parameters
    ----------
    session
        The session to show.
    """

    left = Signal()
    """Presenting should end."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session
        self.setObjectName("presenter")
        self.setWindowTitle(tr("gemmviz: presenting"))
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        # The lens stands beside it, and not on it: the matrices stay as large as without one.
        self.stage = Stage(session.staged, session.frozen_warp, session.inspection, session.permission, session.lens)
        # The stage's caption stands beside it, in larger type.
        self.stage.captioned = False
        self.stage.presented = True
        self.title, self.lead, self.sentence = _text("title"), _text("lead"), _text("sentence")
        self.place, self.hints = _text("place"), _text("hints")
        for label in (self.place, self.hints):
            label.setWordWrap(False)
        self.lens = LensPane(self.stage, session)
        self.source = SourceLines(session.cursor)
        self.predict = PredictPanel(session, presented=True)
        self.progress = ProgressStrip(session)
        self._make_room()
        self.actions_table = presenter_actions(self)
        for record in self.actions_table:
            self._add_action(record)
        self.hints.setTextFormat(Qt.TextFormat.RichText)
        self.hints.linkActivated.connect(self._on_hint)
        self.keys = KeysOverlay(self, self.actions_table)
        self.note = PresenterNote(self, session)
        self.black = _Black(self, self.blacken)
        self.black.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.black.setStyleSheet("background: #000000;")
        self.black.hide()
        for signal in (
            session.preferences.themed,
            session.choice.chosen,
            session.cursor.recorded,
            session.tour.changed,
            session.tour.moved,
            session.lens.changed,
        ):
            listen(self, signal, self.refresh)
        listen(self, session.cursor.stepped, self._say)
        listen(self, session.predict.changed, self._say)
        # Between two steps copies are drawn on their way where it rests, also if it was too fast for that.
        listen(self, session.playback.changed, lambda: self.stage.update())
        self.stage.setFocus()

    def _make_room(self) -> None:
        self.head, self.foot, self.words, upper = QWidget(), QWidget(), QWidget(), QWidget()
        head, foot = QBoxLayout(_DOWN, self.head), QBoxLayout(_RIGHT, self.foot)
        for row in (head, foot):
            row.setContentsMargins(0, 0, 0, 0)
            row.setSpacing(0)
        for label in (self.title, self.lead, self.sentence):
            head.addWidget(label)
        foot.addWidget(self.place, 1)
        foot.addWidget(self.hints)
        self._picture, self._words = QBoxLayout(_DOWN, upper), QBoxLayout(_DOWN, self.words)
        for part in (self.head, self.predict):
            self._words.addWidget(part)
        self._words.addWidget(self.lens, 20)
        self._words.addWidget(self.source)
        self._words.addStretch(1)
        self._words.addWidget(self.foot)
        self._picture.addWidget(self.stage, 1)
        self._picture.addWidget(self.words)
        self._picture.setContentsMargins(0, 0, 0, 0)
        self._picture.setSpacing(0)
        # The picture keeps its size, whatever the text.
        self.stage.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Expanding)
        self._wide: bool | None = None
        self._stop = ""
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(upper, 1)
        column.addWidget(self.progress)

    def _lay_out(self) -> None:
        """Put the words beside the picture on a wide screen, where the picture needs the height; else below it."""
        wide = self.width() >= _WIDE * self.height()
        if wide:
            share = _WORDS_SHARE if self.width() >= _ROOMY * self.height() else _WORDS_SHARE_NARROW
            if self.lens.takes_room:
                share = _WORDS_SHARE_LENS
            self.words.setFixedWidth(self.width() * share // 100)
        else:
            self.words.setMaximumWidth(_ANY)
            self.words.setMinimumWidth(0)
        if wide == self._wide:
            return
        self._wide = wide
        self._picture.setDirection(_RIGHT if wide else _DOWN)

    def _add_action(self, record: Action) -> None:
        action = QAction(record.title, self)
        action.setObjectName(record.id)
        action.setShortcuts([QKeySequence(key) for key in record.keys])
        action.triggered.connect(lambda *_: record.callback())
        self.addAction(action)

    # Content

    def refresh(self) -> None:
        """Show everything anew: other colours, another rung, another stop."""
        if not self.isVisible():
            return
        theme = for_presenting(THEMES[self.session.preferences.theme])
        self.source.theme = self.progress.theme = self.lens.theme = theme
        tour = self.session.tour
        self.title.setText(title_text(self.session.choice.kernel))
        at, count = tour.at, len(tour.stops)
        self._stop = "" if at is None else tr("Stop {number} of {count}", number=at + 1, count=count)
        self._lay_out()
        self._say()
        self._set_type(theme)
        self.source.update()
        self.progress.update()

    def _set_type(self, theme: Theme) -> None:
        """Give all type its share of the screen's height."""
        height = max(self.height(), 1) * self.session.sight.presented_scale
        label = ceil(height / LABEL)
        font = QFont(self.font())
        # The stage makes its type larger by the session's scale, which is meant for the teacher's screen.
        font.setPixelSize(ceil(label / self.session.preferences.type_scale))
        if self.stage.base_font != font or self.stage.colours is not theme:
            self.stage.base_font = font
            self.stage.paint_in(theme)
        rows = _CODE_ROWS_LENS if self.lens.takes_room else _CODE_ROWS
        self.source.set_type(ceil(height / CODE), rows if self._wide else 1)
        own = QFont(font)
        own.setPixelSize(label)
        self.lens.base_font = own
        self.lens.update()
        self.lens.setMinimumHeight(0 if self._wide else self.height() * _LENS_SHARE // 100)
        self.predict.set_size(ceil(height / QUESTION))
        self.keys.set_look(theme, ceil(self.height() / LABEL))
        self.note.set_look(theme, label)
        self.progress.setFixedHeight(max(self.height() // _STRIP, 4))
        self._words.setContentsMargins(label // 2, label // 2, label // 2, label // 2)
        self._words.setSpacing(label if self._wide else label // 2)
        size = LONG_SENTENCE if len(self.sentence.text()) > _LONG else SENTENCE
        style = _style(theme, ceil(height / TITLE), ceil(height / size), label)
        if style != self.styleSheet():
            self.setStyleSheet(style)
        self._fit_hints()

    def _sentence(self) -> tuple[str, str]:
        """Return the tile of the step, or nothing, and the sentence below it."""
        stop, playable = self.session.tour.stop, self.session.cursor.playable
        if stop is not None and stop.say:
            return "", self.session.guide.sentence(stop)
        if playable is None:
            return "", ""
        step = self.session.cursor.step
        if not playable.timeline.steps:
            return "", tr("The kernel made no access to memory.")
        parts, tile = events(playable, step, self.session.cursor.shown_block), tile_text(playable, step)
        if tile in parts:
            parts.remove(tile)
        if alike := likeness_text(playable):
            parts.insert(0, alike)
        text = ("\n" if self._wide else BETWEEN).join(one[:1].upper() + one[1:] for one in parts)
        lead = tile[:1].upper() + tile[1:]
        return lead.replace(" = ", _EQUALS), text.replace(" = ", _EQUALS)

    def _say(self) -> None:
        """Show the hint of the step; while people guess, the question has that place."""
        if not self.isVisible():
            return
        predict, playable = self.session.predict, self.session.cursor.playable
        lead, text = self._sentence()
        self.lead.setText(lead)
        self.sentence.setText(text)
        self.lead.setVisible(bool(lead) and not predict.on)
        self.sentence.setVisible(not predict.on)
        # The lines around it may hold the answer, a barrier above all.
        # With the answer comes the lens, where there is one, or the source.
        self.lens.has_room = not predict.on or self._has_room_for(self.height() * _LEAST_LENS // 100)
        self.lens.appear()
        beside = self._has_room_for(self.source.sizeHint().height()) and self.lens.isHidden()
        self.source.setVisible(not predict.on or (predict.revealed and beside))
        step = step_text(playable, self.session.cursor.step) if playable is not None else ""
        self.place.setText(score(self.session) if predict.on else self._stop or step)
        self._fit_hints()

    def _fit_hints(self) -> None:
        """Show the keys that a teacher needs beside the place in the lesson, as many as there is room for."""
        escape = tr("close the question") if self.session.predict.on else tr("end")
        words = tr("black"), tr("predict"), tr("keys"), escape
        keys = {action.id: key_text(action.keys[0]) for action in self.actions_table if action.id in _HINTS}
        hints = {name: f"{keys[name]}\N{NO-BREAK SPACE}{word}" for name, word in zip(_HINTS, words, strict=True)}
        metrics, margins = self.hints.fontMetrics(), self._words.contentsMargins()
        room = self.words.width() - margins.left() - margins.right() - self.place.sizeHint().width()
        while hints and metrics.horizontalAdvance(_APART.join(["", *hints.values()])) > room:
            del hints[next(iter(hints))]
        colour = for_presenting(THEMES[self.session.preferences.theme]).muted
        link = "<a href='{}' style='color: {}; text-decoration: none'>{}</a>"
        apart = _APART.replace(" ", "\N{NO-BREAK SPACE}")
        self.hints.setText(apart.join(link.format(name, colour, escape_html(text)) for name, text in hints.items()))

    def _on_hint(self, name: str) -> None:
        """Do what a hint says: by mouse alone there is no other way."""
        next(action for action in self.actions_table if action.id == name).callback()

    def _has_room_for(self, height: int) -> bool:
        """Say whether something of a height fits below a question with its answers and its reason."""
        width, layout = self.words.contentsRect().width(), self._words
        margins = layout.contentsMargins()
        inside = width - margins.left() - margins.right()
        parts = (
            *(part.heightForWidth(inside) for part in (self.head, self.predict)),
            self.foot.sizeHint().height(),
            height,
        )
        needed = sum(parts) + len(parts) * layout.spacing() + margins.top() + margins.bottom()
        return bool(self._wide) and needed <= self.height() - self.progress.height()

    # Keys

    def blacken(self) -> None:
        """Turn the picture off, or on again."""
        self.black.setVisible(self.black.isHidden())
        self.black.raise_()

    def show_keys(self) -> None:
        """Show the list of keys, or hide it."""
        self.keys.toggle()

    def end(self) -> None:
        """End presenting."""
        self.left.emit()

    def escape(self) -> None:
        """Close the list of keys, or else the question; if neither is open, end presenting."""
        if self.keys.isVisible():
            self.show_keys()
        elif self.session.predict.on:
            self.session.predict.toggle()
        else:
            self.end()

    def freeze(self) -> None:
        """Freeze the warp, or release it; where there is none, say why."""
        steps = self.session.warp_steps
        if steps.possible or self.session.frozen_warp.on:
            steps.toggle()
        else:
            self.session.messages.tell(Message(steps.why_not, "info"))

    def resize_type(self, direction: int) -> None:
        """Make the type larger (1) or smaller (-1), or as large as at first (0)."""
        at = _SCALES.index(self.session.sight.presented_scale) + direction if direction else _SCALES.index(1.0)
        self.session.sight.presented_scale = _SCALES[min(max(at, 0), len(_SCALES) - 1)]
        self.refresh()

    def go(self, direction: int) -> None:
        """Go to the next stop of the tour (1) or the one before (-1); without a tour, to the next or last barrier."""
        if self.session.tour.active:
            self.session.guide.next(direction)
        else:
            self.session.cursor.seek_phase(direction)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Give all type its size for this screen."""
        super().resizeEvent(event)
        self._lay_out()
        self.refresh()
        self.black.setGeometry(self.rect())
        self.keys.place()
        self.note.place()

    def showEvent(self, event: QShowEvent) -> None:
        """Catch up with changes that came while it was hidden."""
        super().showEvent(event)
        self.black.hide()
        self.keys.hide()
        self.note.hide()
        self.refresh()
        self.stage.setFocus()

    def closeEvent(self, event: QCloseEvent) -> None:
        """Let whoever began it end it."""
        event.ignore()
        self.left.emit()


class _Black(QWidget):
    """A black screen, which a click ends."""

    def __init__(self, parent: QWidget, end: Callable[[], None]) -> None:
        super().__init__(parent)
        self._end = end

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """End it."""
        self._end()


def _text(name: str) -> QLabel:
    label = QLabel()
    label.setObjectName(name)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setWordWrap(True)
    label.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
    return label


def _style(theme: Theme, title: int, sentence: int, label: int) -> str:
    return f"""
    QWidget#presenter {{ background: {theme.background}; }}
    QLabel {{ color: {theme.text}; background: transparent; }}
    QLabel#title {{ font-size: {title}px; font-weight: bold; }}
    QLabel#lead {{ font-size: {sentence}px; font-weight: bold; color: {theme.accent}; }}
    QLabel#sentence {{ font-size: {sentence}px; }}
    QLabel#place, QLabel#hints {{ font-size: {label}px; color: {theme.muted}; }}
    QLabel#place {{ font-weight: bold; color: {theme.accent}; }}
    """
