"""The kernel's source: the executing line, errors, and the user's changes."""

from time import monotonic

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QKeySequence, QShortcut

from gemmviz.catalogue.breaks import changed_lines
from gemmviz.catalogue.same_accesses import likeness
from gemmviz.checking import report_text
from gemmviz.language import tr
from gemmviz.session import Answer, Message, Session
from gemmviz.trace.playable import Playable
from gemmviz.ui.connections import listen
from gemmviz.ui.look.theme import THEMES
from gemmviz.ui.source.editor import Editor
from gemmviz.ui.source.gutter import Mark
from gemmviz.ui.source.highlighter import AFTER_RECORDING_MS
from gemmviz.ui.turns import InTurn

# Together with the controller's delay, a recording starts some 600 ms after the last key.
_SETTLED_MS = 350
_SCROLLS_S = 0.5


class Source(Editor):
    """The chosen kernel's file.

    Parameters
    ----------
    session
        The session with the kernel, its text, the executing line and findings.
    """

    def __init__(self, session: Session) -> None:
        super().__init__(THEMES[session.preferences.theme])
        self.session = session
        self.setAccessibleName(tr("Source of the kernel"))
        # Qt redoes with Ctrl+Shift+Z alone on Linux; many people press the other key.
        QShortcut(QKeySequence("Ctrl+Y"), self, self.redo, context=Qt.ShortcutContext.WidgetShortcut)
        self._file: object = None
        self._error: tuple[int, str] | None = None
        self._changed: list[int] = []
        self._scrolled_at = 0.0
        self.in_turn = InTurn(self, self._mark)
        self._settled = QTimer(self)
        self._settled.setSingleShot(True)
        self._settled.setInterval(_SETTLED_MS)
        self._settled.timeout.connect(self._on_settled)
        self.typed.connect(self._on_typed)
        self.refused.connect(self._on_refused)
        listen(self, session.choice.chosen, self.load)
        listen(self, session.cursor.recorded, self._on_recorded)
        listen(self, session.cursor.stepped, self._on_step)
        listen(self, session.playback.changed, self._scroll_to_line)
        listen(self, session.messages.changed, self._on_message)
        listen(self, session.preferences.themed, lambda: self.set_theme(THEMES[session.preferences.theme]))
        listen(self, session.findings.changed, self._on_found)

    # The text

    def load(self) -> None:
        """Show the chosen kernel's text, or the file that a message is about."""
        session, message = self.session, self.session.messages.current
        # A text that is being edited is not taken away because of a message about another file.
        foreign = message.source if message and message.source and self.locked else None
        text = foreign[1] if foreign else session.choice.text
        file = foreign or session.choice.base.path
        anew = file != self._file
        if not anew and text == self.text():
            return
        self._settled.stop()
        if text == self.text() and not foreign:  # saved under another name: go on where the cursor is
            self._file = file
            return
        self._file = file
        self.fill(text, anew=anew)
        self._error = None
        if anew:
            self.lock(True)
            self._scroll_to_entry()
        self._on_recorded()

    def adopt(self, other: "Source") -> None:
        """Go on where the source of another window was, with its file and the text typed there."""
        unsettled = other._settled.isActive()
        other._settled.stop()
        self._file = other._file
        self.take_over(other)
        self._on_recorded()
        self._error = other._error
        self._on_found()
        if unsettled:
            self._settled.start()

    @property
    def foreign(self) -> tuple[str, str] | None:
        """The (file name, text) of a message that is shown in the place of the chosen kernel, or None."""
        return self._file if isinstance(self._file, tuple) else None

    @property
    def editable(self) -> bool:
        """Whether the visible text is that of the chosen kernel, and not a message's or a library's."""
        return self.session.choice.kernel.recordable and self._file == self.session.choice.base.path

    def toggle_edit(self) -> None:
        """Make the text editable, with the cursor in it, or lock it again."""
        if self.locked and not self.editable:
            self.session.messages.tell(
                Message(tr("This text cannot be edited: choose a kernel with a source first."), "info")
            )
            return
        self.lock(not self.locked)
        if not self.locked:
            self.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def _on_typed(self, text: str) -> None:
        session = self.session
        session.permission.trust.typed(session.choice.base.path, session.choice.text, text)
        session.choice.draft(text)
        self._settled.start()

    def _on_settled(self) -> None:
        if self._error is not None:
            self._error = None
            self._on_found()
        self.session.choice.edit(self.text())

    def _on_refused(self) -> None:
        if self.session.messages.current is None or not self.session.messages.current.lasting:
            text = tr("The source is locked, so that nothing is changed by accident. Ctrl+Shift+E unlocks it.")
            self.session.messages.tell(Message(text, "info", answers=(Answer(tr("Edit"), self.toggle_edit),)))

    def _scroll_to_entry(self) -> None:
        """Put the code in view rather than the front matter; where that is folded, its one line stays in view, too."""
        lines = self.text().splitlines()
        end = next((i for i, line in enumerate(lines) if line.replace(" ", "") == "//---"), 0)
        if not any(line.strip() for line in lines[end + 1 :]):
            end = 0  # a guess stands below the code
        top = next((first for first, last in self.folding.folded.items() if first <= end < last + 1), max(end, 1))
        self.verticalScrollBar().setValue(self.document().findBlockByNumber(top - 1).firstLineNumber())

    # Marks

    def executing(self) -> int:
        """Return the line that is marked as executing (from 1; 0: none)."""
        return max(self.line, 0)

    def error(self) -> int | None:
        """Return the line that a message marks as wrong (from 1), or None."""
        return self._error[0] if self._error else None

    def _fitting(self) -> Playable | None:
        playable = self.session.cursor.playable
        return playable if playable is not None and playable.recording.text == self.text() else None

    def _on_recorded(self) -> None:
        playable = self._fitting()
        self.executed = {s.line for s in playable.recording.sites} if playable is not None else set()
        self._error = None
        self._on_found()
        if playable is not None:
            self.highlighter.begin_soon(AFTER_RECORDING_MS)

    def _on_message(self) -> None:
        self.load()
        message = self.session.messages.current
        about_this = message is not None and message.source in (None, self.foreign)
        error = (message.line, message.text) if message is not None and about_this and message.line else None
        # A faulty line stays marked when the message is closed: until the text or the recording changes.
        if error is not None and error != self._error:
            self._error = error
            self._on_found()
            self.reveal(error[0])

    def _on_found(self) -> None:
        """Mark the line of the message, and the lines of the checker's findings in this text."""
        found = self.session.findings
        self.marks = {}
        if self._error:
            self.marks[self._error[0]] = [Mark("error", self._error[1])]
        if found.text == self.text():
            for entry in found.entries():
                mark = Mark("cost" if entry.is_cost else "error", f"{report_text.kind(entry.thing)}: {entry.sentence}")
                for line in entry.lines:
                    self.marks.setdefault(line, []).append(mark)
        self._mark_changed()
        self._mark(again=True)

    def _mark_changed(self) -> None:
        """Mark the lines that were changed to break the kernel, and show the first one right after the change.

        Also mark the lines in which the kernel differs from another one with the same accesses.
        """
        session = self.session
        is_broken = bool(session.choice.breaks) and self.text() == session.choice.kernel.text
        changed = changed_lines(session.choice.base.text, session.choice.kernel.text) if is_broken else []
        for line in changed:
            was = session.choice.base.text.split("\n")[line - 1].strip()
            self.marks.setdefault(line, []).append(Mark("changed", tr("Changed on purpose; before: {was}", was=was)))
        alike = likeness(session.choice.base.name, self.text())
        if alike is not None:
            text = tr("This line differs from {kernel}; the accesses are the same.", kernel=alike.kernel)
            for line in alike.lines:
                self.marks.setdefault(line, []).append(Mark("changed", text))
        if changed and changed != self._changed:
            self.reveal(changed[0])
        self._changed = changed

    def _on_step(self) -> None:
        if self._line() != self.line:
            self.in_turn.ask()

    def _line(self) -> int:
        return self.session.cursor.line if self._fitting() is not None else 0

    def _mark(self, *, again: bool = False) -> None:
        line = self._line()
        if line == self.line and not again:
            return
        before, self.line = self.line, line
        self.show_marked(None if again else before)
        self._scroll_to_line()

    def _scroll_to_line(self) -> None:
        """Scroll the executing line into view; while it plays at most twice a second: a page that jumps is unreadable.

        Each time all of the visible text is painted again, too.
        """
        playing, now = self.session.playback.playing, monotonic()
        if self.line <= 0 or not self.locked or (playing and now - self._scrolled_at < _SCROLLS_S):
            return
        before = self.verticalScrollBar().value()
        self.reveal(self.line)
        if self.verticalScrollBar().value() != before:
            self._scrolled_at = now
