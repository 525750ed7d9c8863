"""The transport: play, step, scrub, speed, phases, loop. The clock that moves the session lives here."""

from collections.abc import Callable
from time import perf_counter

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLabel, QSlider, QToolButton, QWidget

from gemmviz.session import SPEEDS, Session
from gemmviz.ui.icons import icon
from gemmviz.ui.stage.caption import thousands
from gemmviz.ui.theme import THEMES

_FRAME_MS = 16


class Transport(QWidget):
    """Buttons, scrub bar and speed under the stage.

    Parameters
    ----------
    session
        What to play.
    """

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session
        self._last = 0.0
        self._buttons: dict[str, QToolButton] = {}
        self.timer = QTimer(self)
        self.timer.setTimerType(Qt.TimerType.PreciseTimer)
        self.timer.setInterval(_FRAME_MS)
        self.timer.timeout.connect(self._tick)
        row = QHBoxLayout(self)
        row.setContentsMargins(8, 4, 8, 4)
        row.setSpacing(4)
        self.start = self._button("start", "To the first step (Home)", lambda: session.seek(0))
        self.phase_back = self._button("phase_back", "To the last barrier (Page Up)", lambda: session.seek_phase(-1))
        self.back = self._button("back", "One step back (Left)", lambda: session.step_by(-1))
        self.play = self._button("play", "Play or pause (Space)", session.toggle)
        self.play.setObjectName("play")
        self.forward = self._button("forward", "One step on (Right)", lambda: session.step_by(1))
        self.phase_on = self._button("phase_on", "To the next barrier (Page Down)", lambda: session.seek_phase(1))
        self.end = self._button("end", "To the last step (End)", lambda: session.seek(session.steps - 1))
        self.slider = QSlider(Qt.Orientation.Horizontal)
        self.slider.setAccessibleName("Step")
        self.slider.setMinimumWidth(80)
        self.slider.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.slider.valueChanged.connect(self._on_slider)
        self.where = QLabel("–")
        self.where.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.speed = QComboBox()
        self.speed.setAccessibleName("Speed")
        self.speed.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        for speed in SPEEDS:
            self.speed.addItem(f"{speed:g}×", speed)
        self.speed.currentIndexChanged.connect(self._on_speed)
        self.loop = self._button("loop", "Start again at the end (L)", lambda: session.set_loop(not session.loop))
        self.loop.setCheckable(True)
        for widget in (self.start, self.phase_back, self.back, self.play, self.forward, self.phase_on, self.end):
            row.addWidget(widget)
        row.addWidget(self.slider, 1)
        row.addWidget(self.where)
        row.addWidget(self.speed)
        row.addWidget(self.loop)
        session.recorded.connect(self._on_recorded)
        session.stepped.connect(self._on_step)
        session.playback.connect(self._on_playback)
        session.themed.connect(self._draw_icons)
        self._on_recorded()
        self._on_playback()

    def _button(self, name: str, tip: str, callback: Callable[[], object]) -> QToolButton:
        button = QToolButton()
        self._buttons[name] = button
        button.setToolTip(tip)
        button.setAccessibleName(tip)
        button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        button.setFixedSize(34, 28)
        button.clicked.connect(lambda *_: callback())
        return button

    def _draw_icons(self) -> None:
        theme = THEMES[self.session.theme]
        for name, button in self._buttons.items():
            shown = "pause" if name == "play" and self.session.playing else name
            on = button.isCheckable() and button.isChecked()
            button.setIcon(icon(shown, theme.accent if on else theme.text))

    def _tick(self) -> None:
        now = perf_counter()
        self.session.advance(now - self._last)
        self._last = now

    def _on_slider(self, value: int) -> None:
        if value != self.session.step:
            self.session.pause()
            self.session.seek(value)

    def _on_speed(self) -> None:
        self.session.set_speed(self.speed.currentData())

    def _on_recorded(self) -> None:
        steps = self.session.steps
        self.slider.blockSignals(True)
        self.slider.setRange(0, max(steps - 1, 0))
        self.slider.blockSignals(False)
        self.setEnabled(steps > 0)
        # As wide as it will ever be, so that the scrub bar does not shrink while it is dragged.
        widest = f"{thousands(steps)} / {thousands(steps)}"
        self.where.setMinimumWidth(max(96, self.where.fontMetrics().horizontalAdvance(widest) + 6))
        self._on_step()
        self._on_playback()

    def _on_step(self) -> None:
        session = self.session
        self.slider.blockSignals(True)
        self.slider.setValue(session.step)
        self.slider.blockSignals(False)
        self.where.setText(f"{thousands(session.step + 1)} / {thousands(session.steps)}" if session.steps else "–")

    def _on_playback(self) -> None:
        session = self.session
        self.loop.setChecked(session.loop)
        self._draw_icons()
        self.speed.blockSignals(True)
        self.speed.setCurrentIndex(SPEEDS.index(session.speed))
        self.speed.blockSignals(False)
        self.speed.setToolTip(f"Speed (+ and −): {session.rate:.3g} steps a second")
        if session.playing and not self.timer.isActive():
            self._last = perf_counter()
            self.timer.start()
        elif not session.playing:
            self.timer.stop()
