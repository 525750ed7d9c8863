"""The choice of the recorded accesses: those that remain after compilation, or all accesses in the source."""

from PySide6.QtWidgets import QComboBox

from gemmviz.language import tr
from gemmviz.session.models.choice import Choice
from gemmviz.ui.connections import listen


class ViewBox(QComboBox):
    """The choice of the view.

    Parameters
    ----------
    choice
        The model with the chosen view.
    """

    def __init__(self, choice: Choice) -> None:
        super().__init__()
        self._choice = choice
        self.addItem(tr("as compiled"), False)
        self.addItem(tr("as written"), True)
        self.setToolTip(
            tr(
                "Recorded as compiled: the accesses that remain after compilation. The compiler keeps values in "
                "registers where it can, like a GPU's compiler. As written: every access in the source. (Ctrl+Alt+R)"
            )
        )
        self.setAccessibleName(tr("Which accesses are recorded"))
        self.activated.connect(lambda *_: choice.choose(as_written=self.currentData()))
        listen(self, choice.chosen, self._show_choice)
        self._show_choice()

    def _show_choice(self) -> None:
        self.setCurrentIndex(self.findData(self._choice.as_written))
        self.setEnabled(self._choice.kernel.recordable)
