"""The tab of a thread: its operands and sums, or the fragments of its warp, or where a loop stands."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSizePolicy, QSpinBox, QVBoxLayout, QWidget

from gemmviz.catalogue.matrices import C
from gemmviz.language import tr, trn
from gemmviz.session import Session
from gemmviz.session.values.kernel_names import no_source
from gemmviz.trace.order.requests import Ints
from gemmviz.trace.origin.fragments import Fragment, fragments
from gemmviz.trace.origin.thread_state import Products, ThreadState, loop_element, loop_writes, products, state_at
from gemmviz.trace.playable import Playable
from gemmviz.trace.recording.names import cell_name
from gemmviz.trace.recording.recording import WARP
from gemmviz.ui.inspect.fragment_view import FragmentView
from gemmviz.ui.inspect.inspector_text import block_text, fragment_text, operand_text, sum_text, uses_text
from gemmviz.ui.inspect.mine_box import MineBox
from gemmviz.ui.inspect.panel import InspectPanel, OneLine
from gemmviz.ui.inspect.thread_view import ThreadView
from gemmviz.ui.inspect.waterfall import Waterfall
from gemmviz.ui.look.steady_scroll import SteadyScroll
from gemmviz.ui.look.theme import THEMES
from gemmviz.ui.stage.caption import BETWEEN, index_text, number
from gemmviz.ui.turns import Turns

_MOST_OPERANDS, _MOST_HELD = 8, 8
_TEXT_LINES, _ANY_HEIGHT = 11, 16_777_215  # lines of text above a sum, and what Qt takes for no limit


class ThreadPanel(InspectPanel):
    """The chosen thread at the session's step.

    Parameters
    ----------
    session
        The session to show.
    """

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.lane = QSpinBox()
        self.lane.setAccessibleName(tr("Lane of the chosen warp"))
        self.lane.setToolTip(tr("Which thread: choose an element of C on the stage, or a lane here"))
        self.lane.setWrapping(True)
        self.lane.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.lane.valueChanged.connect(self._on_lane)
        self.head, self.text = OneLine(), QLabel()
        self.text.setWordWrap(True)
        self.text.setTextFormat(Qt.TextFormat.PlainText)
        self.text.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.text.setContentsMargins(6, 0, 6, 0)
        self.product, self.warp = ThreadView(), FragmentView()
        page = QWidget()
        below = QVBoxLayout(page)
        below.setContentsMargins(0, 0, 0, 0)
        below.addWidget(self.warp)
        below.addWidget(self.text, 1)
        self.scrolled = SteadyScroll(tr("Thread"))
        self.scrolled.setWidget(page)
        row = QHBoxLayout()
        row.setContentsMargins(8, 2, 8, 0)
        row.addWidget(self.head, 1)
        row.addWidget(self.lane)
        middle = QHBoxLayout()
        middle.setSpacing(4)
        middle.addWidget(self.product, 2)
        middle.addWidget(self.scrolled, 3)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(1)
        column.addLayout(row)
        self.mine = MineBox()
        column.addWidget(self.mine)
        column.addLayout(middle, 2)
        self.growth = Waterfall()
        self.growth.hide()
        column.addWidget(self.growth, 3)
        self._known: tuple[Playable, object, Products] | None = None
        self._writes: tuple[Playable, int, tuple[Ints, Ints]] | None = None

    def follow(self, turns: Turns | None) -> None:
        """Refresh in turns; both pictures have turns of their own."""
        super().follow(turns)
        self.growth.in_turn.turns = self.product.in_turn.turns = turns

    def _on_lane(self, lane: int) -> None:
        if lane != self.session.inspection.lane:
            self.session.inspection.choose_lane(lane)

    def forget(self) -> None:
        """Let go of the recording that was shown."""
        self._known = self._writes = None
        self.mine.forget()
        self.product.forget()
        self.growth.forget()
        self.warp.forget()

    def _why_none(self, playable: Playable) -> str:
        """Return why there is nothing to show, and the remedy: a warp may have no thread with a sum."""
        block, warp = self.session.cursor.block, self.session.cursor.warp
        owner, thread = playable.recording.owners
        if playable.recording.backend == "cuda" and not ((owner == block) & (thread // WARP == warp)).any():
            return tr("No thread of this warp stores an element of C: choose another warp (key .), or an element of C.")
        return tr("This thread stores no element of C: choose another lane, or an element of C.")

    def refresh(self) -> None:
        """Show the chosen thread at this step."""
        session = self.session
        playable, looked = session.cursor.playable, session.inspection
        self.lane.blockSignals(True)
        prefix = tr("lane {number}", number="") if session.cursor.warps else tr("thread {thread}", thread="")
        last = max(looked.lanes - 1, 0)
        # Qt lays the whole column out again, even where both are as before.
        if (prefix, last) != (self.lane.prefix(), self.lane.maximum()):
            self.lane.setPrefix(prefix)
            self.lane.setRange(0, last)
        self.lane.setValue(looked.lane)
        self.lane.setEnabled(looked.lanes > 1)
        self.lane.blockSignals(False)
        if playable is None or not playable.timeline.steps:
            text = no_source(session.choice.kernel) or tr("Record a kernel (Ctrl+R) to see the values of its threads.")
            self._show_nothing(text)
            return
        on_gpu = playable.recording.backend == "cuda"
        known = self._of_thread(playable)
        if known is None or not len(known.rows):
            self._show_nothing(self._why_none(playable))
            self._name(playable, [])
            return
        state = state_at(playable, known, session.cursor.step)
        theme = THEMES[session.preferences.theme]
        held: list[Fragment] = []
        if known.by_warp:
            cell = self._cell(playable)
            held = fragments(playable, known.operands, known.block, known.thread // WARP, session.cursor.step, cell)
        self.product.setVisible(not known.by_warp)
        self.warp.setVisible(known.by_warp)
        self.product.show_state(playable, state, theme)
        self.warp.show_fragments(playable, held, looked.lane, theme, self.scrolled.viewport().height())
        self._name(playable, held)
        self.growth.setVisible(not known.by_warp)
        high = _TEXT_LINES * self.text.fontMetrics().height()
        # The same limit at every step: the sum must not move while the recording plays.
        self._limit(_ANY_HEIGHT if known.by_warp else max(self.product.largest(state), high))
        element = self._element(playable, known)
        self.mine.show_element(playable, *_pairs(known)[element])
        self.growth.show_sum(playable, state, element, theme)
        lines = [self._of_fragments(playable, state, held)] if known.by_warp else [self._of_operands(playable, state)]
        lines.append(self._sums(playable, state, on_gpu))
        self.text.setText("\n".join(lines))
        self.scrolled.setAccessibleDescription(f"{self.head.text()}. {self.text.text()}")

    def _limit(self, most: int) -> None:
        """Leave the height that the operands and their text do not need to the sum below them."""
        for widget in (self.product, self.scrolled):
            widget.setMaximumHeight(most)

    def _show_nothing(self, why: str) -> None:
        self.mine.forget()
        self._limit(_ANY_HEIGHT)
        self.head.say("")
        self.text.setText(why)
        self.warp.hide()
        self.product.hide()
        self.growth.hide()

    def _name(self, playable: Playable, held: list[Fragment]) -> None:
        session = self.session
        thread, recording = session.inspection.thread, playable.recording
        if recording.backend == "cuda":
            where = {"block": block_text(recording, session.cursor.block), "warp": thread // WARP}
            if held:
                text = BETWEEN.join([tr("block {block}, warp {warp}", **where), uses_text(recording, held)])
            else:  # the box beside it has the lane
                index = index_text(recording.thread_index(thread))
                text = tr("block {block}, thread {thread}, warp {warp}", thread=index, **where)
            self.head.say(text)
        else:
            self.head.say(
                tr("The loop") if recording.threads == 1 else tr("The loop of thread {thread}", thread=thread)
            )

    def _cell(self, playable: Playable) -> tuple[int, int] | None:
        """Return the chosen element of C."""
        cell = self.session.cursor.cell
        if cell is None or cell[0] != 2:
            return None
        return cell_name(playable.recording, cell)[1:]

    def _element(self, playable: Playable, known: Products) -> int:
        """Return which of a thread's elements is the chosen one; the first where it owns another."""
        cell, pairs = self._cell(playable), _pairs(known)
        return pairs.index(cell) if cell in pairs else 0

    def _of_thread(self, playable: Playable) -> Products | None:
        """Return the chosen thread's products: found once, and kept while it is looked at."""
        session = self.session
        thread, element = session.inspection.thread, None
        if playable.recording.backend != "cuda":
            element = self._cell(playable)
            if element is None or int(playable.recording.owners[1][element]) != thread:
                element = loop_element(playable, self._loop(playable, thread), session.cursor.step)
            if element is None:
                return None
        key = (session.cursor.block, thread, element)
        if self._known is None or self._known[0] is not playable or self._known[1] != key:
            block = session.cursor.block if playable.recording.backend == "cuda" else 0
            self._known = playable, key, products(playable, block, thread, element)
        return self._known[2]

    def _loop(self, playable: Playable, thread: int) -> tuple[Ints, Ints]:
        """Return the writes of a CPU's thread with their steps: found once, and kept while it is looked at."""
        if self._writes is None or self._writes[0] is not playable or self._writes[1] != thread:
            self._writes = playable, thread, loop_writes(playable, thread)
        return self._writes[2]

    def _of_operands(self, playable: Playable, state: ThreadState) -> str:
        """Describe the thread's last reads, operand by operand."""
        held = [*state.a[state.a >= 0].tolist(), *state.b[state.b >= 0].tolist()]
        if not held:
            return tr("It has read no operand yet.")
        lines = [operand_text(playable, state, place) for place in held[:_MOST_OPERANDS]]
        more = len(held) - _MOST_OPERANDS
        if more > 0:
            lines.append(trn("and {count} more", "and {count} more", more))
        if len(state.products.rows) == 1:
            return "\n".join([f"k = {state.k}", *lines])
        a, b = int((state.a >= 0).sum()), int((state.b >= 0).sum())
        values = {"k": state.k, "a": a, "b": b, "rows": len(state.a), "columns": len(state.b)}
        if a == len(state.a) and b == len(state.b):
            head = trn(
                "k = {k}: {a} + {b} values for {count} product",
                "k = {k}: {a} + {b} values for {count} products",
                a * b,
                **values,
            )
        else:
            head = tr("k = {k}: {a} of {rows} values of A and {b} of {columns} of B are read", **values)
        return "\n".join([head, *lines])

    def _of_fragments(self, playable: Playable, state: ThreadState, held: list[Fragment]) -> str:
        """Describe the fragments that the warp loaded, and the chosen lane's part of them."""
        lines = [fragment_text(playable, fragment) for fragment in held]
        lane = self.session.inspection.lane
        for fragment in held:
            rows, columns = (fragment.lane == lane).nonzero()
            order = fragment.slot[rows, columns].argsort()
            name = playable.recording.arrays[fragment.matrix].name
            cells = [f"[{fragment.row + rows[i]}, {fragment.column + columns[i]}]" for i in order[:_MOST_HELD].tolist()]
            more = " …" if len(rows) > _MOST_HELD else ""
            lines.append(tr("lane {lane} of {name}: {cells}", lane=lane, name=name, cells=" ".join(cells) + more))
        return "\n".join(lines)

    def _sums(self, playable: Playable, state: ThreadState, on_gpu: bool) -> str:
        """Say how far the sum of the chosen element is, and that it is computed and not recorded."""
        known, recording = state.products, playable.recording
        pairs, element = _pairs(known), self._element(playable, known)
        row, column = pairs[element]
        name = recording.arrays[C].name
        values = {
            "name": name,
            "row": row,
            "column": column,
            "done": int(state.done[element]),
            "all": recording.k,
            "sum": sum_text(state, element),
        }
        if known.stored_otherwise(recording)[element]:
            lines = [
                tr("{name}[{row}, {column}]: the values read for it give {done} of {all} products, {sum}", **values),
                tr(
                    "✗ The thread STORED {stored}, which is not their sum ({total}).",
                    stored=number(float(recording.c[row, column])),
                    total=number(float(known.totals[element])),
                ),
            ]
        else:
            lines = [tr("{name}[{row}, {column}]: {done} of {all} products, {sum}", **values)]
        if known.shared_out(recording)[element]:
            lines.append(
                tr(
                    "The thread stored {stored}. The products that it made itself ({count} of {all}) give {total}.",
                    stored=number(float(recording.c[row, column])),
                    count=int(known.counts[element]),
                    all=recording.k,
                    total=number(float(known.totals[element])),
                )
            )
        at = recording.arrays[C].element(row, column)
        if playable.history.last_write(2, state.step)[at] >= 0:
            held = float(playable.history.values(2, state.step)[at])
            lines.append(
                tr("{name}[{row}, {column}] in memory: {value}", name=name, row=row, column=column, value=number(held))
            )
        if len(pairs) > 1:
            slot = tr("accumulator {slot} of {all}, in the order of the stores", slot=element + 1, all=len(pairs))
            lines.append(slot)
        if known.owned > len(pairs) and on_gpu:
            lines.append(
                tr("It stores {owned} elements; the first {shown} are followed.", owned=known.owned, shown=len(pairs))
            )
        if known.operands.unknown:
            count = known.operands.unknown
            lines.append(
                trn(
                    "{count} value that it used has an unknown origin and is left out.",
                    "{count} values that it used have an unknown origin and are left out.",
                    count,
                )
            )
        lines.append(tr("Sums are computed from the recorded operands: registers leave no trace."))
        return "\n".join(lines)


def _pairs(known: Products) -> list[tuple[int, int]]:
    """Return the elements of C that a thread owns, as (row, column)."""
    return list(zip(known.rows.tolist(), known.columns.tolist(), strict=True))
