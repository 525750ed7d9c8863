"""The transport: play, step, the score, units, speed, loop. The clock that moves the session lives here."""

from collections.abc import Callable
from time import perf_counter

from PySide6.QtCore import QEvent, Qt, QTimer
from PySide6.QtGui import QIcon, QPainter, QPaintEvent, QResizeEvent, QStandardItemModel
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLabel, QToolButton, QVBoxLayout, QWidget

from gemmviz.language import tr
from gemmviz.language.numbers import thousands
from gemmviz.session import SPEEDS, Session
from gemmviz.ui.connections import listen
from gemmviz.ui.look.icons import icon
from gemmviz.ui.look.style import scaled
from gemmviz.ui.look.theme import THEMES
from gemmviz.ui.stage.score import Score
from gemmviz.ui.stage.score_text import ABSENT, UNIT_MEANINGS, UNITS

_FRAME_MS = 16
_ROOMY = 860  # pixels, at a scale of type of 1


class Transport(QWidget):
    """One row: buttons, the score, the position, the unit of stepping and the speed.

    Parameters
    ----------
    session
        The session to play.
    """

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session
        self._last = 0.0
        self._buttons: dict[str, QToolButton] = {}
        self._icons: dict[tuple[str, str], QIcon] = {}
        self.timer = QTimer(self)
        self.timer.setTimerType(Qt.TimerType.PreciseTimer)
        self.timer.setInterval(_FRAME_MS)
        self.timer.timeout.connect(self._tick)
        self.start = self._button("start", tr("To the first step (Home)"), lambda: session.cursor.seek(0))
        self.phase_back = self._button(
            "phase_back", tr("To the previous barrier (Page Up)"), lambda: session.cursor.seek_phase(-1)
        )
        self.back = self._button("back", tr("Back by one step (Left)"), lambda: session.step_unit(-1))
        self.play = self._button("play", tr("Play or pause (Space)"), session.playback.toggle)
        self.play.setObjectName("play")
        self.forward = self._button("forward", tr("Forward by one step (Right)"), lambda: session.step_unit(1))
        self.phase_on = self._button(
            "phase_on", tr("To the next barrier (Page Down)"), lambda: session.cursor.seek_phase(1)
        )
        self.end = self._button(
            "end", tr("To the last step (End)"), lambda: session.cursor.seek(session.cursor.steps - 1)
        )
        self.loop = self._button(
            "loop", tr("Start again at the end (L)"), lambda: session.playback.set_loop(not session.playback.loop)
        )
        self.loop.setCheckable(True)
        self.slider = Score(session)
        kept = self.slider.sizePolicy()
        kept.setRetainSizeWhenHidden(True)  # a question hides it: the boxes beside it do not grow meanwhile
        self.slider.setSizePolicy(kept)
        self.where = _Position("–")
        self.where.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.unit = self._box(tr("Unit of stepping"))
        for unit, name in UNITS.items():
            self.unit.addItem(tr(name), unit)
        self.unit.activated.connect(lambda *_: session.cursor.choose_unit(self.unit.currentData()))
        self.speed = self._box(tr("Speed"))
        for speed in SPEEDS:
            self.speed.addItem(f"{speed:g}×", speed)
        self.speed.currentIndexChanged.connect(lambda *_: session.playback.set_speed(self.speed.currentData()))
        self._beside = QWidget()
        self._arrange()
        listen(self, session.cursor.recorded, self._on_recorded)
        listen(self, session.cursor.stepped, self._on_step)
        listen(self, session.playback.changed, self._on_playback)
        listen(self, session.cursor.unit_chosen, self._on_unit)
        listen(self, session.preferences.themed, self._draw_icons)
        self._on_recorded()
        self._on_playback()
        self._on_unit()

    def _button(self, name: str, tip: str, callback: Callable[[], object]) -> QToolButton:
        button = QToolButton()
        self._buttons[name] = button
        _explain(button, tip)
        button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        button.setFixedSize(34, 28)
        button.clicked.connect(lambda *_: callback())
        return button

    def _box(self, name: str) -> QComboBox:
        box = QComboBox()
        box.setAccessibleName(name)
        box.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        return box

    def _arrange(self) -> None:
        whole = QHBoxLayout(self)
        whole.setContentsMargins(8, 3, 8, 3)
        whole.setSpacing(8)
        buttons = QHBoxLayout()
        buttons.setSpacing(3)
        for widget in (self.start, self.phase_back, self.back, self.play, self.forward, self.phase_on, self.end):
            buttons.addWidget(widget)
        whole.addLayout(buttons)
        whole.addWidget(self.slider, 1)
        whole.addWidget(self._beside)
        where, how = QHBoxLayout(), QHBoxLayout()
        where.addStretch(1)
        where.addWidget(self.where)
        where.addWidget(self.loop)
        for box in (self.unit, self.speed):
            how.addWidget(box)
        column = QVBoxLayout(self._beside)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        for row in (where, how):
            row.setSpacing(4)
            column.addLayout(row)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Leave out the buttons that have a key and a menu where the score needs the room."""
        super().resizeEvent(event)
        roomy = self.width() >= scaled(_ROOMY)
        for button in (self.start, self.phase_back, self.phase_on, self.end):
            button.setVisible(roomy)

    def _draw_icons(self) -> None:
        theme = THEMES[self.session.preferences.theme]
        for name, button in self._buttons.items():
            shown = "pause" if name == "play" and self.session.playback.playing else name
            on = button.isCheckable() and button.isChecked()
            look = shown, theme.accent if on else theme.text
            if look not in self._icons:
                self._icons[look] = icon(*look)
            button.setIcon(self._icons[look])

    def _tick(self) -> None:
        now = perf_counter()
        self.session.advance(now - self._last)
        self._last = now

    def _on_recorded(self) -> None:
        steps = self.session.cursor.steps
        self.setEnabled(steps > 0)
        self._fit_where()
        self._on_step()
        self._on_playback()

    def _fit_where(self) -> None:
        """Give the step's number a fixed size: another number then never moves anything, and lays out nothing anew."""
        steps = thousands(self.session.cursor.steps)
        wide = self.where.fontMetrics().horizontalAdvance(f"{steps} / {steps}") + 6
        self.where.setFixedSize(max(80, wide), self.where.sizeHint().height())

    def changeEvent(self, event: QEvent) -> None:
        """Fit the step's number to a new size of type."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._fit_where()

    def _on_step(self) -> None:
        session = self.session
        self.where.setText(
            f"{thousands(session.cursor.step + 1)} / {thousands(session.cursor.steps)}" if session.cursor.steps else "–"
        )

    def _on_playback(self) -> None:
        session = self.session
        self.loop.setChecked(session.playback.loop)
        self._draw_icons()
        self.speed.blockSignals(True)
        self.speed.setCurrentIndex(SPEEDS.index(session.playback.speed))
        self.speed.blockSignals(False)
        self.speed.setToolTip(tr("Speed in steps per second (+ and −): {rate}", rate=f"{session.playback.rate:.3g}"))
        if session.playback.playing and not self.timer.isActive():
            self._last = perf_counter()
            self.timer.start()
        elif not session.playback.playing:
            self.timer.stop()

    def _on_unit(self) -> None:
        """Show the unit, and which others there are, and why not."""
        units, unit = self.session.cursor.units, self.session.cursor.unit
        model = self.unit.model()
        assert isinstance(model, QStandardItemModel)
        for index, name in enumerate(UNITS):
            there = name in units
            model.item(index).setEnabled(there or not units)
            model.item(index).setToolTip(tr(UNIT_MEANINGS[name] if there or not units else ABSENT[name]))
        self.unit.setCurrentIndex(list(UNITS).index(unit))
        named = tr(UNITS[unit])
        self.unit.setToolTip(tr("The arrow keys step by (U): {meaning}", meaning=tr(UNIT_MEANINGS[unit])))
        _explain(self.back, tr("Back, by unit: {unit} (Left)", unit=named))
        _explain(self.forward, tr("On, by unit: {unit} (Right)", unit=named))


class _Position(QLabel):
    """The number of the step. It covers all of its place, so that nothing behind it is drawn anew with each step."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Write the number on the ground of the window."""
        with QPainter(self) as painter:
            painter.fillRect(self.rect(), self.palette().window())
            painter.setPen(self.palette().windowText().color())
            painter.drawText(self.rect(), self.alignment(), self.text())


def _explain(button: QToolButton, tip: str) -> None:
    button.setToolTip(tip)
    button.setAccessibleName(tip)
