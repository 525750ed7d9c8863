"""The tab of the frozen warp: its request and cost, the picture of it, and the bank or sector of each lane."""

from collections.abc import Callable

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from gemmviz.language import tr
from gemmviz.session import Session
from gemmviz.trace.cost.warp_request import WarpRequest
from gemmviz.trace.hopper.tma_activity import ActiveBox, asked_by, tma_activity
from gemmviz.trace.playable import Playable
from gemmviz.ui.connections import listen
from gemmviz.ui.inspect.box_text import box_head, box_text, box_when
from gemmviz.ui.inspect.box_view import BoxView
from gemmviz.ui.inspect.inspector_text import lanes_out, request_cost, request_figure, request_head, when_text
from gemmviz.ui.inspect.lane_table import LaneTable, formula
from gemmviz.ui.inspect.panel import InspectPanel
from gemmviz.ui.inspect.warp_view import WarpView
from gemmviz.ui.known import known
from gemmviz.ui.look.steady_scroll import SteadyScroll
from gemmviz.ui.look.style import scaled
from gemmviz.ui.look.theme import THEMES
from gemmviz.ui.stage.caption import BETWEEN

_FIGURE_PT = 15.0


class WarpPanel(InspectPanel):
    """The chosen warp of the chosen block at the session's step.

    Parameters
    ----------
    session
        The session to show.
    """

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        steps = session.warp_steps
        self.before = self._button("‹", tr("Previous warp (,)"), lambda: steps.next_warp(-1))
        self.after = self._button("›", tr("Next warp (.)"), lambda: steps.next_warp(1))
        self.frozen = self._button(tr("Freeze"), "", steps.toggle)
        self.frozen.setCheckable(True)
        self.head, self.cost, self.figure, self.formula = QLabel(), QLabel(), QLabel(), QLabel()
        for label in (self.head, self.cost):
            label.setWordWrap(True)
        self.cost.setContentsMargins(8, 0, 8, 2)
        self.formula.setContentsMargins(8, 2, 8, 2)
        self.view = WarpView()
        self.view.lane_clicked.connect(session.inspection.choose_lane)
        self.scrolled = SteadyScroll(tr("Warp request"))
        self.lanes = LaneTable()
        self.lanes.lane_chosen.connect(session.inspection.choose_lane)
        self.box, self.about_box = BoxView(), QLabel()
        self.about_box.setWordWrap(True)
        self.about_box.setContentsMargins(8, 0, 8, 2)
        pictures = QWidget()
        both = QVBoxLayout(pictures)
        both.setContentsMargins(0, 0, 0, 0)
        both.setSpacing(0)
        both.addWidget(self.view, 1)
        both.addWidget(self.about_box)
        both.addWidget(self.box)
        both.addStretch()
        self.scrolled.setWidget(pictures)
        row = QHBoxLayout()
        row.setContentsMargins(8, 2, 8, 0)
        row.setSpacing(4)
        for button in (self.before, self.after, self.frozen):
            row.addWidget(button)
        row.addStretch(1)
        row.addWidget(self.figure)
        title = QHBoxLayout()
        title.setContentsMargins(8, 2, 8, 0)
        title.addWidget(self.head)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(1)
        column.addLayout(row)
        column.addLayout(title)
        column.addWidget(self.cost)
        column.addWidget(self.scrolled, 2)
        column.addWidget(self.formula)
        column.addWidget(self.lanes, 3)
        for signal in (session.frozen_warp.changed, session.cursor.recorded):
            listen(self, signal, self._mark)
        self._mark()

    def _button(self, title: str, tip: str, act: Callable[[], object]) -> QPushButton:
        button = QPushButton(title)
        button.setToolTip(tip)
        button.setAccessibleName(tip or title)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.clicked.connect(lambda *_: act())
        return button

    def _mark(self) -> None:
        """Mark the button, visible or not: a user who turns to this tab finds it marked."""
        freeze = self.session.frozen_warp
        self.frozen.setEnabled(self.session.warp_steps.possible)
        self.frozen.setChecked(freeze.on)
        self.frozen.setText(tr("Release") if freeze.on else tr("Freeze"))
        tip = tr("Release the warp (W)") if freeze.on else tr("Pause, and step by this warp's requests (W)")
        self.frozen.setToolTip(tip)
        self.frozen.setAccessibleName(tip)

    def forget(self) -> None:
        """Let go of the recording that was shown."""
        self.view.forget()
        self.lanes.forget()
        self.box.forget()

    def refresh(self) -> None:
        """Show the warp's request at this step, or its next one."""
        session = self.session
        playable, asked = session.cursor.playable, session.warp_steps.request()
        for button in (self.before, self.after):
            button.setEnabled(session.cursor.warps > 1)
        boxes = tma_activity(playable, session.cursor.step, session.cursor.shown_block) if playable is not None else []
        mine = next((box for box in boxes if box.warp == session.cursor.warp), None)
        if mine is None and asked is None and not session.predict.on and playable is not None:
            mine = self._other_box(playable)
        self.box.setVisible(mine is not None)
        self.about_box.setVisible(mine is not None)
        self.view.setVisible(mine is None)
        if mine is not None and playable is not None:
            self._show_lanes(None, None)
            self.box.show_box(playable, mine.number, mine.write, THEMES[session.preferences.theme])
            self.head.setText(box_head(playable, mine))
            asked_for, *more = box_text(playable, mine)
            self.cost.setText(BETWEEN.join([*box_when(mine, session.cursor.step), asked_for]))
            self.about_box.setText(BETWEEN.join(more))
            self._describe()
            return
        if asked is not None and session.predict.on and asked.step > session.cursor.step:
            asked = None  # the next request is the answer to the question
        theme = THEMES[session.preferences.theme]
        self.view.show_request(playable, asked, session.inspection.lane, theme)
        self._show_lanes(playable, asked)
        if asked is None or playable is None:
            self.head.setText("")
            self.cost.setText(self._why_empty())
        else:
            missed = bool(playable.out_of_bounds.most[session.cursor.step])
            self.head.setText(request_head(playable.recording, asked))
            parts = [request_cost(asked), lanes_out(asked), when_text(asked, session.cursor.step, missed)]
            if boxes:
                parts.append(tr("This is a step of the copy engine: warp {warp} asked for a box.", warp=boxes[0].warp))
            self.cost.setText(BETWEEN.join(part for part in parts if part))
        self._describe()

    def _show_lanes(self, playable: Playable | None, asked: WarpRequest | None) -> None:
        """Show a request's cost as a figure, and its lanes; neither where there is no request."""
        shown = playable is not None and asked is not None
        for part in (self.figure, self.formula, self.lanes):
            part.setVisible(shown)
        if playable is None or asked is None:
            self.lanes.forget()
            return
        theme = THEMES[self.session.preferences.theme]
        colour = theme.write if asked.units > asked.least else theme.read
        self.figure.setText(request_figure(asked))
        self.figure.setStyleSheet(f"color: {colour}; font-weight: bold; font-size: {scaled(_FIGURE_PT):.1f}pt;")
        self.formula.setText(formula(playable, asked))
        self.lanes.show_request(playable, asked, self.session.inspection.lane, theme)

    def _describe(self) -> None:
        about_box = self.about_box.text() if self.about_box.isVisibleTo(self) else ""
        self.scrolled.setAccessibleDescription(f"{self.head.text()}. {self.cost.text()} {about_box}".rstrip())

    def _other_box(self, playable: Playable) -> ActiveBox | None:
        """Return the next box that the warp requests, or the last one; None if it requests none."""
        session = self.session
        asks = asked_by(playable, session.cursor.shown_block, session.cursor.warp)
        if not len(asks):
            return None
        step = int(asks[min(int(np.searchsorted(asks, session.cursor.step)), len(asks) - 1)])
        return next(
            box for box in tma_activity(playable, step, session.cursor.shown_block) if box.warp == session.cursor.warp
        )

    def _why_empty(self) -> str:
        if not self.session.warp_steps.possible:
            return self.session.warp_steps.why_not
        if self.session.predict.on:
            return tr("The next request of this warp is hidden while you predict it.")
        if known(self.session.cursor.playable).out_of_bounds.most.any():
            return tr("This warp of the block makes no request within bounds: choose another one (. and ,).")
        return tr("This warp of the block makes no request: choose another one (. and ,), or another block.")
