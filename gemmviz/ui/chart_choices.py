"""What can be chosen above a chart, and the line below it that says where its figures come from."""

from PySide6.QtWidgets import QCheckBox, QComboBox, QLabel, QSizePolicy

from gemmviz.bench.figures import Size, size_of
from gemmviz.session import Session
from gemmviz.ui.chart import CHOICE
from gemmviz.ui.figure_text import short_size

_BOX_WIDTH = 104


class SizeBox(QComboBox):
    """The sizes at which there are figures; at first the one that was measured last.

    Parameters
    ----------
    session
        Whose figures.
    """

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self.setObjectName(CHOICE)
        self.setAccessibleName("Size that is shown")
        self.setToolTip("M × N × K whose figures are shown")
        self.setFixedWidth(_BOX_WIDTH)
        self.view().setMinimumWidth(190)

    def chosen(self) -> Size | None:
        """Return the size to show; None where there are no figures."""
        if self.currentData() in (sizes := self._session.sizes()):
            return self.currentData()
        return self._by_itself(sizes)

    def _by_itself(self, sizes: list[Size]) -> Size | None:
        """Return the size measured last, else the one chosen for measuring, else the largest."""
        newest, problem = self._session.figures.newest, self._session.bench_problem
        for size in (size_of(newest) if newest else None, (problem.m, problem.n, problem.k)):
            if size in sizes:
                return size
        return sizes[-1] if sizes else None

    def refresh(self) -> None:
        """List the sizes there are now, and keep what was chosen."""
        sizes, kept = self._session.sizes(), self.currentData()
        entries = [("last size", None), *((short_size(size), size) for size in sizes)]
        if [self.itemData(i) for i in range(self.count())] == [size for _, size in entries]:
            return
        self.clear()
        for text, size in entries:
            self.addItem(text, size)
        self.setCurrentIndex(max(self.findData(kept), 0))


class PlaceBox(QComboBox):
    """Rungs of the CPU, of the GPU, or both."""

    def __init__(self) -> None:
        super().__init__()
        for text, value in (("CPU + GPU", None), ("CPU", "CPU"), ("GPU", "GPU")):
            self.addItem(text, value)
        self.setObjectName(CHOICE)
        self.setAccessibleName("Where the rungs run")
        self.setToolTip("Show the rungs of the CPU, of the GPU, or both")
        self.setFixedWidth(_BOX_WIDTH)


class ReferenceBox(QCheckBox):
    """Shows or hides what was measured elsewhere; invisible where there are no such results.

    Parameters
    ----------
    session
        Whose references.
    """

    def __init__(self, session: Session) -> None:
        super().__init__("references")
        self._session = session
        self.setAccessibleName("Show references measured elsewhere")
        self.clicked.connect(session.want_references)
        for signal in (session.referenced, session.device_changed):
            signal.connect(self._show)
        self._show()

    def _show(self) -> None:
        references = self._session.references
        self.setVisible(bool(references))
        self.setChecked(self._session.references_shown)
        names = "\n".join(f"{r.gpu or r.cpu}, {r.date}" for r in references)
        self.setToolTip(
            f"Results that were measured elsewhere, hollow or dashed, where this machine has none:\n{names}"
        )


class SourceLegend(QLabel):
    """Says which of the figures in a chart were measured here and which are references."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self.setObjectName("muted")
        self.setWordWrap(True)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)

    def say(self, origins: list[str], solid: str, hollow: str, brief: bool = False) -> None:
        """Name the origins of what is drawn (empty: here), each once, with the marks that the chart draws them with."""
        here = "measured here" if brief else f"measured here: {self._session.device or 'this machine'}"
        parts = [f"{hollow} {origin}" if origin else f"{solid} {here}" for origin in dict.fromkeys(origins)]
        self.setText("    ".join(parts))
        self.setVisible(bool(parts))
