"""The choices above a chart, and the line below it with the origins of its figures."""

from PySide6.QtWidgets import QCheckBox, QComboBox, QLabel, QSizePolicy

from gemmviz.language import tr
from gemmviz.session.models.results import Results
from gemmviz.ui.charts.figures.figure_table import CHOICE
from gemmviz.ui.connections import listen
from gemmviz.ui.look.figure_text import measured_briefly, measured_text, origin_name, short_size
from gemmviz.ui.look.style import letters_wide

_BOX_LETTERS = 10


class SizeBox(QComboBox):
    """A list of the sizes that have figures; the session keeps the chosen one.

    Parameters
    ----------
    results
        The results with the figures.
    """

    def __init__(self, results: Results) -> None:
        super().__init__()
        self._results = results
        self.setObjectName(CHOICE)
        self.setAccessibleName(tr("Size that is shown"))
        self.setToolTip(
            tr(
                "M × N × K of the shown figures. Auto: the size measured last on this machine; without a "
                "measurement, the size at which most kernels have a reference"
            )
        )
        letters_wide(self, _BOX_LETTERS)
        self.view().setMinimumWidth(190)
        self.activated.connect(lambda *_: results.want_size(self.currentData()))

    def refresh(self) -> None:
        """List the current sizes, and select the chosen one."""
        sizes = self._results.sizes()
        entries = [(tr("auto size"), None), *((short_size(size), size) for size in sizes)]
        if [self.itemData(i) for i in range(self.count())] != [size for _, size in entries]:
            self.clear()
            for text, size in entries:
                self.addItem(text, size)
        # findData would compare tuples by identity.
        wanted = self._results.size_wanted
        self.setCurrentIndex(sizes.index(wanted) + 1 if wanted in sizes else 0)


class ReferenceBox(QCheckBox):
    """Shows or hides references from other machines; it is hidden if there are none.

    Parameters
    ----------
    results
        The results with the references.
    """

    def __init__(self, results: Results) -> None:
        super().__init__(tr("references"))
        self._results = results
        self.setAccessibleName(tr("Show references measured elsewhere"))
        self.clicked.connect(results.want_references)
        for signal in (results.referenced, results.device_changed):
            listen(self, signal, self._show)
        self._show()

    def _show(self) -> None:
        references = self._results.references
        if self.parent() is not None or not references:  # without a parent it would open as a window
            self.setVisible(bool(references))
        self.setChecked(self._results.references_shown)
        names = "\n".join(f"{r.gpu or r.cpu}, {r.date}" for r in references)
        text = tr("Results from other machines, hollow or dashed, where this machine has none:")
        self.setToolTip(f"{text}\n{names}")


class SourceLegend(QLabel):
    """The legend of a chart: figures measured on this machine, and references."""

    def __init__(self, results: Results) -> None:
        super().__init__()
        self._results = results
        self.setObjectName("muted")
        self.setWordWrap(True)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)

    def say(self, origins: list[str], solid: str, hollow: str, brief: bool = False, more: tuple[str, ...] = ()) -> None:
        """Show the origins of the drawn figures (empty: this machine), each once, with its mark in the chart.

        Then follow the marks and texts in `more`.
        """
        here = measured_briefly(self._results) if brief else measured_text(self._results)
        texts = [(hollow, origin_name(origin)) if origin else (solid, here) for origin in dict.fromkeys(origins)]
        # There is no line break between a mark and its text.
        parts = [f"{mark}\N{NO-BREAK SPACE}{text}" for mark, text in texts] + list(more)
        self.setText("    ".join(parts))
        self.setVisible(bool(parts))
