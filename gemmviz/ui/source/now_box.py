"""Below the source: the accesses of the executing line at this step, by the chosen thread and by its warp."""

from collections.abc import Callable
from weakref import ref

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

from gemmviz.language import tr
from gemmviz.session import Session
from gemmviz.trace.cost.warp_request import warp_request
from gemmviz.trace.playable import Playable
from gemmviz.trace.recording.names import cell_name
from gemmviz.ui.charts.tag import Tag
from gemmviz.ui.connections import listen
from gemmviz.ui.inspect.inspector_text import request_cost
from gemmviz.ui.shown import show_inside
from gemmviz.ui.stage.caption import events, index_text, number
from gemmviz.ui.turns import InTurn

_WINDOW = 4096  # rows after a read in which its write is looked for: a thread's rows of a phase follow each other
_MOST_VALUES = 4
_INDENT = 8  # of the texts: as the heading


class NowBox(QWidget):
    """Shows the step's access; hidden without a recording, and while its answer is to be predicted.

    Parameters
    ----------
    session
        The session to show.
    """

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self.setAccessibleName(tr("What the line does now"))
        self.heading, self.access, self.cost = QLabel(), QLabel(), QLabel()
        self.heading.setObjectName("heading")
        self.cost.setObjectName("muted")
        for label in (self.access, self.cost):
            label.setWordWrap(True)
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setContentsMargins(_INDENT, 0, 0, 0)
        self.tag = Tag(session.preferences)
        head = QHBoxLayout()
        head.addWidget(self.heading, 1)
        head.addWidget(self.tag)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 4, 8, 6)
        column.setSpacing(2)
        column.addLayout(head)
        column.addWidget(self.access)
        column.addWidget(self.cost)
        self._of: Callable[[], Playable | None] = lambda: None
        self._described: tuple[int, int, int, int, int] | None = None
        self.in_turn = InTurn(self, self.refresh)
        cursor = session.cursor
        listen(self, cursor.stepped, self._on_step)
        for signal in (cursor.recorded, session.inspection.changed, session.predict.changed, session.playback.changed):
            listen(self, signal, self._on_changed)
        listen(self, session.preferences.themed, self.tag.restyle)
        self.refresh()

    def _on_changed(self, *_: object) -> None:
        if self._can_be_seen():
            self.refresh()

    def _on_step(self) -> None:
        if self._can_be_seen():
            self.in_turn.ask()

    def _can_be_seen(self) -> bool:
        around = self.parentWidget()
        return around is None or around.isVisible()  # behind another tab it says nothing

    def refresh(self) -> None:
        """Describe the access of the session's step."""
        session = self._session
        playable, line = session.cursor.playable, session.cursor.line
        shown = playable is not None and line > 0 and not session.predict.on
        # While it plays the box gets higher, but not lower: with each change the source above is drawn anew.
        self.setMinimumHeight(self.height() if session.playback.playing and self.isVisible() else 0)
        show_inside(self, shown)
        if playable is None or not shown:
            return
        step, block, warp = session.cursor.step, session.cursor.shown_block, session.cursor.warp
        described = id(playable), step, block, warp, session.inspection.thread
        if described == self._described and self._of() is playable:
            return  # a new recording alone is announced by several models
        self._of, self._described = ref(playable), described
        self.heading.setText(tr("Now: line {line}", line=line))
        self.tag.say(tr("recorded"))
        self.access.setText(access_text(playable, step, block, session.inspection.thread))
        asked = warp_request(playable, step, block, warp)
        self.cost.setText(tr("Warp {warp}: {cost}", warp=asked.warp, cost=request_cost(asked)) if asked else "")
        self.cost.setVisible(asked is not None)


def access_text(playable: Playable, step: int, block: int, thread: int) -> str:
    """Describe the access of a thread at a step; of a step without one, its events.

    Parameters
    ----------
    playable, step
        The recording, and the step.
    block, thread
        The thread.
    """
    recording, log = playable.recording, playable.recording.accesses
    rows = playable.block_rows(step, block)
    mine = rows[log.thread[rows] == thread]
    if recording.backend != "cuda" or len(mine) != 1:
        parts = events(playable, step, block)[:2]
        return "\n".join(part[:1].upper() + part[1:] for part in parts)
    row = int(mine[0])
    values = {
        "thread": index_text(recording.thread_index(thread)),
        "cell": _cells(playable, row),
        "value": _values(playable, row),
    }
    if log.write[row]:
        read = int(playable.source[row])
        if read >= 0:
            source = _cells(playable, read)
            return tr("Thread {thread} writes {cell} = {value}, read from {source}", source=source, **values)
        return tr("Thread {thread} writes {cell} = {value}", **values)
    after = np.flatnonzero(playable.source[row : row + _WINDOW] == row)
    if len(after):
        target = _cells(playable, row + int(after[0]))
        return tr("Thread {thread} reads {cell} = {value}, for {target}", target=target, **values)
    return tr("Thread {thread} reads {cell} = {value}", **values)


def _cells(playable: Playable, row: int) -> str:
    """Name the cells of an access."""
    recording = playable.recording
    elements = recording.elements(np.array([row]))[1].tolist()
    name, line, first = cell_name(recording, (int(recording.accesses.array[row]), elements[0]))
    last = cell_name(recording, (int(recording.accesses.array[row]), elements[-1]))[1:]
    if len(elements) == 1:
        return f"{name}[{line}, {first}]"
    lines, columns = ((a, b) for a, b in zip((line, first), last, strict=True))
    return f"{name}[{_span(*lines)}, {_span(*columns)}]"


def _span(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}…{last}"


def _values(playable: Playable, row: int) -> str:
    """Write the values of an access."""
    values = playable.recording.covered(np.array([row]))[2].tolist()
    parts = [number(value) for value in values[:_MOST_VALUES]]
    return ", ".join(parts + ["…"] * (len(values) > _MOST_VALUES))
