"""The choice of the recorded accesses: those that a compiler leaves, or every one that the text names."""

from PySide6.QtWidgets import QComboBox

from gemmviz.language import tr
from gemmviz.session.choice import Choice
from gemmviz.session.tour.stops import Tour
from gemmviz.ui.connections import listen


class ViewBox(QComboBox):
    """The choice of the view, above the stage; a lesson makes it by itself.

    Parameters
    ----------
    choice
        The model with the chosen view.
    tour
        While a lesson leads, nothing is chosen here.
    """

    def __init__(self, choice: Choice, tour: Tour) -> None:
        super().__init__()
        self._choice, self._tour = choice, tour
        self._on_stage = True
        self.addItem(tr("as compiled"), False)
        self.addItem(tr("as written"), True)
        self.setToolTip(
            tr(
                "Recorded as compiled: the accesses that a compiler leaves, which keeps in registers what it can, as a "
                "GPU's does. As written: every access that the text names. (Ctrl+Alt+R)"
            )
        )
        self.setAccessibleName(tr("Which accesses are recorded"))
        self.activated.connect(lambda *_: choice.choose(as_written=self.currentData()))
        listen(self, choice.chosen, self._show_choice)
        listen(self, tour.changed, self._take_place)
        self._show_choice()

    def show_on_stage(self, on_stage: bool) -> None:
        """Set whether the stage is in sight, to which the choice belongs."""
        self._on_stage = on_stage
        self._take_place()

    def _show_choice(self) -> None:
        self.setCurrentIndex(self.findData(self._choice.as_written))
        self.setEnabled(self._choice.kernel.recordable)

    def _take_place(self) -> None:
        self.setVisible(self._on_stage and self._tour.lesson is None)
