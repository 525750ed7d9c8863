"""In a duel with the lens of banks: which bank each lane's word lies in, in both kernels."""

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from gemmviz.language import tr
from gemmviz.session import Session
from gemmviz.session.models.cursor import Cursor
from gemmviz.trace.cost.wavefronts import BANKS
from gemmviz.trace.lenses.bank_use import bank_formula, bank_use
from gemmviz.trace.lenses.warp_requests import warp_requests
from gemmviz.ui.lenses.sheet import RIGHT, Sheet
from gemmviz.ui.look.theme import THEMES

LaneBank = tuple[int, int, bool]
"""A lane, the bank of its first word, and whether that waits for a later wavefront."""
_MOST_ROWS, _MARGIN = 7, 8.0
_SHARES = 0.22, 0.6, 0.95  # where the columns end, in widths


def lane_banks(cursor: Cursor) -> list[LaneBank]:
    """Return the banks of the request to shared memory that the lens of banks shows; none without such a request."""
    playable = cursor.playable
    if playable is None or playable.recording.backend != "cuda":
        return []
    asked = warp_requests(playable).shown(playable, cursor.step, cursor.shown_block, cursor.warp, "shared")
    if asked is None:
        return []
    return bank_use(asked, playable.recording.arrays[asked.array].itemsize).first_words()


class LaneBanks(QWidget):
    """A row per lane: its bank in each kernel, and a dot in the colour of its wavefront.

    Parameters
    ----------
    session
        The session; the table is shown with the lens of banks only.
    """

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._names = "", ""
        self.rows: list[tuple[LaneBank, LaneBank]] = []
        """Per lane that both requests have, its bank in both."""
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(tr("From lane to bank"))
        self.hide()

    def show_requests(self, names: tuple[str, str], first: list[LaneBank], second: list[LaneBank]) -> None:
        """Show the requests of two kernels, or nothing where one makes none."""
        beside = {lane[0]: lane for lane in second}
        rows = [(lane, beside[lane[0]]) for lane in first if lane[0] in beside]
        if (names, rows) != (self._names, self.rows):
            self._names, self.rows = names, rows
            self.update()
        self.setVisible(bool(rows) and self._session.lens.shown == "banks")

    def sizeHint(self) -> QSize:
        """Ask for the heading, the formulas, the names, and the rows."""
        return QSize(300, round(QFontMetricsF(self.font()).height() * (_MOST_ROWS + 6.6)))

    def formulas(self) -> list[str]:
        """Return how each kernel's banks follow from the lane; an empty text where no formula does."""
        return [_formula_text([row[side] for row in self.rows]) for side in (0, 1)]

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the table: the first lanes, and the last one."""
        with QPainter(self) as painter:
            theme = THEMES[self._session.preferences.theme]
            painter.fillRect(self.rect(), QColor(theme.background))
            high = QFontMetricsF(self.font()).height()
            inside = QRectF(self.rect()).adjusted(_MARGIN, 0, -_MARGIN, 0)
            with Sheet(painter, QRectF(self.rect()), theme, QFont(self.font())) as sheet:
                line = QRectF(inside.left(), 0.4 * high, inside.width(), high)
                title_width = sheet.text(line, tr("From lane to bank"), bold=True)
                sheet.text(
                    line.adjusted(title_width + 8, 0, 0, 0), tr("the first word of each lane"), theme.muted, "small"
                )
                for name, formula in zip(self._names, self.formulas(), strict=True):
                    if formula:
                        line.translate(0, 1.1 * high)
                        wide = sheet.text(line, name, bold=True)
                        sheet.text(line.adjusted(wide + 8, 0, 0, 0), formula)
                line.translate(0, 1.2 * high)
                for at, text in enumerate((tr("lane"), *self._names)):
                    sheet.text(self._column(line, at), text, theme.muted, "small", align=RIGHT)
                shown = self.rows if len(self.rows) <= _MOST_ROWS else [*self.rows[: _MOST_ROWS - 1], self.rows[-1]]
                for number, row in enumerate(shown):
                    line.translate(0, high)
                    if number == _MOST_ROWS - 1 < len(self.rows) - 1:
                        dots = self._column(line, 0)
                        sheet.text(dots, "…", theme.muted, align=RIGHT)
                        line.translate(0, 0.8 * high)
                    self._draw_row(sheet, line, row)

    def _draw_row(self, sheet: Sheet, line: QRectF, row: tuple[LaneBank, LaneBank]) -> None:
        sheet.text(self._column(line, 0), str(row[0][0]), align=RIGHT)
        for at, (_, bank, late) in enumerate(row, 1):
            place = self._column(line, at)
            radius = 0.22 * line.height()
            place.setRight(place.right() - 4 * radius)
            sheet.text(place, str(bank), bold=late, align=RIGHT)
            sheet.painter.setPen(Qt.PenStyle.NoPen)
            sheet.painter.setBrush(sheet.amber if late else QColor(sheet.theme.read))
            sheet.painter.drawEllipse(QPointF(place.right() + 2.5 * radius, line.center().y()), radius, radius)

    def _column(self, line: QRectF, at: int) -> QRectF:
        left = _SHARES[at - 1] * line.width() if at else 0.0
        return QRectF(line.left() + left, line.top(), _SHARES[at] * line.width() - left, line.height())


def _formula_text(lanes: list[LaneBank]) -> str:
    found = bank_formula({lane: bank for lane, bank, _ in lanes})
    if found is None:
        return ""
    lane, start = tr("lane"), f" + {found.start}" if found.start else ""
    if found.step == 0:
        return tr("bank = {formula}", formula=found.start)
    if found.period < BANKS and found.step == 1:
        return tr("bank = {formula}", formula=f"{lane} mod {found.period}{start}")
    inner = lane if found.period == BANKS else f"({lane} mod {found.period})"
    product = inner if found.step == 1 else f"{found.step} × {inner}"
    return tr("bank = ({formula}) mod 32", formula=f"{product}{start}")
