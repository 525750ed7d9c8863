"""The tables of the tab of machine code: source lines with their counts, and instructions or PTX."""

from collections import Counter
from collections.abc import Iterator

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtGui import QColor

from gemmviz.assembly.counts import MEMORY, OTHER, PRODUCTS, UNFUSED, WAITING, in_order, kind
from gemmviz.assembly.listing import Instruction
from gemmviz.language import tr
from gemmviz.language.numbers import thousands
from gemmviz.session import Session
from gemmviz.trace.cost.sites import by_line
from gemmviz.trace.playable import Playable
from gemmviz.ui.look.theme import THEMES, Theme, rgb

_Index = QModelIndex | QPersistentModelIndex
_ROOT = QModelIndex()
_WRITES = ("ST", "UTMAST", "RED", "UTMARED")
# Of the accent, in the colour behind a marked row: all text keeps its contrast.
_TINT = {"dark": 0.28, "light": 0.12}
SOURCE_COLUMNS, CODE_COLUMNS = 3, 3


class SourceModel(QAbstractTableModel):
    """The lines of the file that is looked at: number, instructions, text.

    Parameters
    ----------
    session
        The session with the listing.
    """

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session, self._code = session, session.machine_code
        self.lines: list[str] = []
        self.counts: dict[int, dict[str, int]] = {}

    def refresh(self) -> None:
        """Take the listing."""
        self.beginResetModel()
        listing = self._code.listing
        self.lines = listing.files[self._code.file].text.expandtabs(4).splitlines() if listing is not None else []
        self.counts = self._code.counts()
        self.endResetModel()

    def repaint(self) -> None:
        """Show the marks anew."""
        if self.lines:
            self.dataChanged.emit(self.index(0, 0), self.index(len(self.lines) - 1, SOURCE_COLUMNS - 1))

    def rowCount(self, parent: _Index = _ROOT) -> int:
        """One row per line."""
        return 0 if parent.isValid() else len(self.lines)

    def columnCount(self, parent: _Index = _ROOT) -> int:
        """Three columns: number, instructions, text."""
        return 0 if parent.isValid() else SOURCE_COLUMNS

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return text, alignment or colour of a cell."""
        line, column = index.row() + 1, index.column()
        if role == Qt.ItemDataRole.DisplayRole:
            if column == 0:
                return f"▶{line}" if self._executes(line) else str(line)
            return self.short(line) if column == 1 else self.lines[index.row()]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _aligned(right=column < SOURCE_COLUMNS - 1)
        if role == Qt.ItemDataRole.ToolTipRole:
            return self.whole(line)
        theme = THEMES[self._session.preferences.theme]
        if role == Qt.ItemDataRole.BackgroundRole and line == self._code.line:
            return marked_colour(theme)
        if role == Qt.ItemDataRole.ForegroundRole:
            if column == 0:
                return QColor(theme.accent if self._executes(line) else theme.muted)
            return QColor(theme.text if line in self.counts else theme.muted)
        return None

    def short(self, line: int) -> str:
        """Return the instructions of a line in a few words: those that are not named by their kind are left out."""
        found = self.counts.get(line, {})
        named = [f"{count} {name}" for name, count in in_order(Counter(found)) if name != OTHER]
        return " ".join(named) if named else str(found.get(OTHER, ""))

    def whole(self, line: int) -> str:
        """Return all the instructions of a line, in words, and below them its recorded accesses."""
        found = in_order(Counter(self.counts.get(line, {})))
        if not found:
            return ""
        names = {OTHER: tr("other")}
        text = ", ".join(f"{count} {names.get(name, name)}" for name, count in found)
        return "\n".join([tr("line {line}: {instructions}", line=line, instructions=text), *self._recorded(line)])

    def _recorded(self, line: int) -> Iterator[str]:
        """Yield the recorded accesses of a line in the whole launch: its loops were executed."""
        playable = self._playable()
        if playable is None:
            return
        for site in by_line(site for site in playable.traffic.sites if site.line == line):
            figures = {"array": site.array, "count": thousands(site.accesses), "requests": thousands(site.requests)}
            if site.write:
                yield tr("recorded on the stage: {array}, {count} writes in {requests} warp requests", **figures)
            else:
                yield tr("recorded on the stage: {array}, {count} reads in {requests} warp requests", **figures)

    def _executes(self, line: int) -> bool:
        return line == self._session.cursor.line and self._playable() is not None

    def _playable(self) -> Playable | None:
        """Return the recording of the text that is looked at."""
        playable, listing = self._session.cursor.playable, self._code.listing
        if playable is None or listing is None or self._code.file != 0:
            return None
        return playable if playable.recording.text == listing.files[0].text else None


class CodeModel(QAbstractTableModel):
    """Instructions with their source line and address, or lines of PTX.

    Parameters
    ----------
    session
        The session with the listing.
    """

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session, self._code = session, session.machine_code
        self._marked: set[int] = set()
        self._loop: frozenset[int] = frozenset()
        self._rows = 0
        self.ptx = False

    def refresh(self) -> None:
        """Take the listing."""
        self.beginResetModel()
        code = self._code
        self.ptx = code.form == "ptx"
        self._rows = 0 if code.listing is None else len(code.listing.ptx if self.ptx else code.listing.instructions)
        found = code.summary.loop if code.summary is not None else None
        self._loop = frozenset(found.instructions if found is not None and not self.ptx else ())
        self._marked = code.marked
        self.endResetModel()

    def repaint(self) -> None:
        """Show the marks anew."""
        self._marked = self._code.marked
        if self._rows:
            self.dataChanged.emit(self.index(0, 0), self.index(self._rows - 1, CODE_COLUMNS - 1))

    @property
    def first_marked(self) -> int:
        """The first row of the chosen line; -1: none."""
        return min(self._marked, default=-1)

    def rowCount(self, parent: _Index = _ROOT) -> int:
        """One row per instruction."""
        return 0 if parent.isValid() else self._rows

    def columnCount(self, parent: _Index = _ROOT) -> int:
        """Three columns: source line, address, instruction."""
        return 0 if parent.isValid() else CODE_COLUMNS

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return text, alignment, tip or colour of a cell."""
        listing, row, column = self._code.listing, index.row(), index.column()
        if listing is None:
            return None
        one = None if self.ptx else listing.instructions[row]
        place = listing.ptx[row].place if one is None else one.place
        if role == Qt.ItemDataRole.DisplayRole:
            if column == 0:
                line = listing.line(place, self._code.file)
                return f"{'▸' if row in self._marked else ''}{line or '·'}"
            if column == 1:
                return "" if one is None else f"{'┃' if row in self._loop else ' '}{one.address:04x}"
            return listing.ptx[row].text.rstrip() if one is None else _shown(one)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _aligned(right=column == 0)
        if role == Qt.ItemDataRole.ToolTipRole:
            return self._tip(row)
        theme = THEMES[self._session.preferences.theme]
        if role == Qt.ItemDataRole.BackgroundRole and row in self._marked:
            return marked_colour(theme)
        if role == Qt.ItemDataRole.ForegroundRole:
            if column < CODE_COLUMNS - 1:
                return QColor(theme.accent if column == 1 and row in self._loop else theme.muted)
            return QColor(theme.text if one is None else _colour(one, listing.integer, theme))
        return None

    def _tip(self, row: int) -> str:
        """Return the origin of a row, and the instruction beside it in the other form."""
        listing = self._code.listing
        assert listing is not None
        if self.ptx:
            made = [one.text for one in listing.instructions if one.ptx == row]
            return "\n".join([listing.where(listing.ptx[row].place), *made[:12]])
        one = listing.instructions[row]
        lines = [listing.where(one.place) or tr("no line of the source"), *([one.label] if one.label else [])]
        if one.ptx >= 0:
            lines.append(f"PTX: {listing.ptx[one.ptx].text.strip()}")
        return "\n".join(lines)


def marked_colour(theme: Theme) -> QColor:
    """Return the colour behind a row of the chosen line: text keeps its contrast on it."""
    back, front = rgb(theme.background), rgb(theme.accent)
    return QColor(*(round(b + (f - b) * _TINT[theme.name]) for b, f in zip(back, front, strict=True)))


def _shown(one: Instruction) -> str:
    return f"{one.predicate + ' ' if one.predicate else ''}{one.opcode} {one.operands}".rstrip()


def _colour(one: Instruction, integer: bool, theme: Theme) -> str:
    found = kind(one, integer)
    if found in (*PRODUCTS, *UNFUSED):
        return theme.good
    if found in MEMORY:
        return theme.write if found.startswith(_WRITES) else theme.read
    return theme.warn if found in WAITING else theme.muted


def _aligned(*, right: bool) -> Qt.AlignmentFlag:
    side = Qt.AlignmentFlag.AlignRight if right else Qt.AlignmentFlag.AlignLeft
    return side | Qt.AlignmentFlag.AlignVCenter
