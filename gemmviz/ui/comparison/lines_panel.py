"""The lines of code in which the two kernels of a duel differ."""

from html import escape

from PySide6.QtGui import QTextOption
from PySide6.QtWidgets import QFrame, QLabel, QSizePolicy, QTextBrowser, QVBoxLayout, QWidget

from gemmviz.language import tr, trn
from gemmviz.session import Session
from gemmviz.ui.comparison.bars import side_colours
from gemmviz.ui.connections import listen
from gemmviz.ui.look.figure_text import shown_name
from gemmviz.ui.look.fonts import mono_families
from gemmviz.ui.look.theme import THEMES
from gemmviz.versions.differing_lines import CodeLine, Passage, differing_lines


class LinesPanel(QWidget):
    """Lists the lines that differ: those of the chosen kernel above those of the one beside.

    Parameters
    ----------
    session
        The session with the comparison.
    """

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._shown: object = None
        self.passages: tuple[Passage, ...] = ()
        self.heading = QLabel()
        self.heading.setObjectName("heading")
        self.heading.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.list = QTextBrowser()
        self.list.setFrameShape(QFrame.Shape.NoFrame)
        self.list.setAccessibleName(tr("Lines that differ"))
        self.list.document().setDocumentMargin(8)
        self.list.setWordWrapMode(QTextOption.WrapMode.WordWrap)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.heading)
        column.addWidget(self.list, 1)
        self.heading.setContentsMargins(8, 6, 8, 2)
        for signal in (session.comparison.changed, session.comparison.matched, session.preferences.themed):
            listen(self, signal, self.refresh)
        listen(self, session.choice.chosen, self.refresh)
        self.refresh()

    def refresh(self, *_: object) -> None:
        """Show the lines of the present pair; nothing is done for a pair that is shown already."""
        session = self._session
        if not session.comparison.on:
            return
        kernels = session.choice.kernel, session.second.choice.kernel
        shown = (*(kernel.text for kernel in kernels), session.preferences.theme)
        if shown == self._shown:
            return
        self._shown = shown
        entries = kernels[0].entry.partition("<")[0], kernels[1].entry.partition("<")[0]
        self.passages = differing_lines(kernels[0].text, kernels[1].text, entries)
        count = sum(max(len(passage.mine), len(passage.other)) for passage in self.passages)
        self.heading.setText(
            trn("{count} line differs", "{count} lines differ", count) if count else tr("Their code is the same")
        )
        names = shown_name(kernels[0], session), shown_name(kernels[1], session)
        self.list.setHtml("".join(self._passage(passage, names) for passage in self.passages))

    def _passage(self, passage: Passage, names: tuple[str, str]) -> str:
        """Return a passage as a table: a row for each line, with its kernel, its number and its code."""
        theme = THEMES[self._session.preferences.theme]
        colours = side_colours(theme.name)
        family = ", ".join(f"'{family}'" for family in mono_families())

        def row(line: CodeLine | None, side: int) -> str:
            text = escape(line.text) if line else f"<i>{escape(tr('no such line'))}</i>"
            colour = theme.text if line else theme.muted
            return (
                f'<tr bgcolor="{theme.raised}">'
                f'<td style="padding:3px 6px; color:{colours[side]}"><b>{escape(names[side])}</b></td>'
                f'<td width="100%" style="padding:3px 6px; color:{colour}; font-family:{family}">{text}</td></tr>'
            )

        rows = [row(line, side) for side in (0, 1) for line in ((passage.mine, passage.other)[side] or (None,))]
        return (
            f'<p style="color:{theme.muted}; margin-bottom:1px">{escape(_place(passage))}</p>'
            f'<table width="100%" cellspacing="0">{"".join(rows)}</table>'
        )


def _place(passage: Passage) -> str:
    """Return the numbers of a passage's first lines: one where it is the same in both files."""
    mine, other = (str(side[0].number) if side else "–" for side in (passage.mine, passage.other))
    return tr("line {number}", number=mine if mine == other else f"{mine}, {other}")
