"""What if…?: a menu that removes or changes declared parts of the chosen kernel."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QHBoxLayout, QMenu, QSizePolicy, QToolButton, QWidget

from gemmviz.catalogue.breaks import Break, fitting, removes
from gemmviz.catalogue.errors import GemmvizError
from gemmviz.language import mark, tr
from gemmviz.session import Message
from gemmviz.session.choice import Choice
from gemmviz.session.messages import Messages
from gemmviz.ui.connections import listen

_LOOK_FOR = {
    "race": mark("two threads at one element with no barrier between; C may still be right, by luck."),
    "out of bounds": mark("accesses outside the matrices, at sizes that the tiles do not divide."),
    "read of memory nobody wrote": mark("elements that are read before anybody wrote them."),
    "barrier divergence": mark("threads that wait at a barrier which others never reach."),
    "element of C never written": mark("elements of C that keep the old content of their memory."),
    "element of C written by two threads": mark("elements of C that two threads write."),
    "wrong result": mark("a C that is not A × B, though every access is in order."),
    "uncoalesced": mark("lanes of a warp that touch more sectors than they need."),
    "bank conflicts": mark("lanes of a warp that wait for one bank of shared memory."),
    "fewer sectors": mark("lanes of a warp that now touch neighbouring elements."),
    "fewer bank conflicts": mark("lanes of a warp that no longer wait for one bank."),
    "none": mark("the time and the counters; there is no defect, and no request is worse than before."),
}
_KEY = "Ctrl+B"


class BreakBox(QWidget):
    """A button with a menu of the changes that the chosen kernel declares; those that are made are ticked.

    Changes that only remove code come first, under a heading of their own.

    Parameters
    ----------
    choice
        The choice with the kernel to change.
    messages
        Shows a message when the kernel declares no changes.
    """

    def __init__(self, choice: Choice, messages: Messages) -> None:
        super().__init__()
        self._choice, self._messages = choice, messages
        self.button = QToolButton()
        self.button.setObjectName("slim")
        self.button.setAccessibleName(tr("What if…?"))
        self.button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextOnly)
        # The arrow that marks a menu stands in the padding.
        self.button.setStyleSheet("padding-right: 16px;")
        self.button.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.menu = QMenu(self)
        self.menu.setToolTipsVisible(True)
        self.button.setMenu(self.menu)
        self.offered: tuple[Break, ...] | None = None
        self._mend = QAction(tr("Undo all changes"), self)
        self._mend.setToolTip(tr("Back to the text before"))
        self._mend.triggered.connect(lambda *_: self._break(()))
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.button)
        for signal in (choice.chosen, choice.kernels_changed):
            listen(self, signal, self.refresh)
        self.refresh()

    def refresh(self) -> None:
        """Offer the chosen kernel's changes, and tick those that are made."""
        base, made = self._choice.base, self._choice.breaks
        offered = fitting(base)
        if offered != self.offered:
            self.offered = offered
            self._fill(offered)
        for action in self.menu.actions():
            action.setChecked(action.objectName() in made)
        self._mend.setVisible(bool(made))
        self.button.setEnabled(bool(offered))
        self.button.setText(tr("What if…? ({count})", count=len(made)) if made else tr("What if…?"))
        self.button.setToolTip(self._tip())

    def open(self) -> None:
        """Open the menu by key, at its first entry; show the reason where there is no entry."""
        if not self.button.isEnabled():
            self._messages.tell(Message(self._tip(), "info"))
            return
        self.menu.popup(self.button.mapToGlobal(self.button.rect().bottomLeft()))
        self.menu.setActiveAction(next(action for action in self.menu.actions() if action.isCheckable()))

    def _fill(self, offered: tuple[Break, ...]) -> None:
        """Fill the menu: changes that remove code, other changes, and the way back."""
        self.menu.clear()
        for heading, part in (
            (tr("Remove"), [change for change in offered if removes(change)]),
            (tr("Change"), [change for change in offered if not removes(change)]),
        ):
            if part:
                # A disabled entry, as the style does not draw the text of a section.
                self.menu.addAction(heading).setEnabled(False)
                self.menu.addActions([self._action(change) for change in part])
        self.menu.addSeparator()
        self.menu.addAction(self._mend)

    def _tip(self) -> str:
        if not self.offered:
            return tr("{kernel} declares no changes to try.", kernel=self._choice.base.name)
        titles = [tr(change.title) for change in self.offered if change.id in self._choice.breaks]
        what = "\n".join(titles) or tr("Remove or change a part of this kernel, and see its purpose")
        return f"{what} ({_KEY})"

    def _action(self, change: Break) -> QAction:
        action = QAction(tr(change.title), self.menu)
        action.setObjectName(change.id)
        action.setCheckable(True)
        action.setToolTip(look_for(change))
        action.triggered.connect(lambda on, change=change: self._toggle(change, on))
        return action

    def _toggle(self, change: Break, on: bool) -> None:
        wanted = [made for made in self._choice.breaks if made != change.id]
        self._break((*wanted, change.id) if on else tuple(wanted))

    def _break(self, ids: tuple[str, ...]) -> None:
        try:
            self._choice.break_it(ids)
        except GemmvizError as error:
            self._messages.tell(Message(str(error)))
            self.refresh()


def look_for(change: Break) -> str:
    """Return the effects to look for when a change is made, with the size that shows them."""
    lines = [tr("Look for {what}", what=tr(_LOOK_FOR[kind])) for kind in change.expect]
    where = [" × ".join(map(str, change.at))] if change.at else []
    where += [f"{name} = {value}" for name, value in change.params.items()]
    return "\n".join([*lines, *([tr("It shows at {where}.", where=", ".join(where))] if where else [])])
