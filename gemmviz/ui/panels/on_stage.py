"""Widgets that lie on the stage, in the place of its texts, so that they do not reduce its height."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent, QObject, QRect, Qt
from PySide6.QtWidgets import QWidget

from gemmviz.ui.look.style import scaled
from gemmviz.ui.stage.stage import Stage

_GAP = 6  # pixels, at a scale of type of 1
_LEAST_WIDTH = 300
_TRIES = 4
_ROOMY = 560  # the width of the stage from which there is room for a widget beside the title


class OnStage(QObject):
    """Puts one of several widgets at the caption's place, and one beside the title.

    Parameters
    ----------
    stage
        The stage. The widgets become its children.
    captions
        The widgets for the caption's place; the first one that is not hidden is placed there.
    beside_title
        The widget to the right of the title.
    wanted
        Returns whether `beside_title` is shown.
    """

    def __init__(
        self, stage: Stage, captions: Sequence[QWidget], beside_title: QWidget, wanted: Callable[[], bool]
    ) -> None:
        super().__init__(stage)
        self._stage, self._captions, self._beside = stage, list(captions), beside_title
        self._wanted = wanted
        for widget in captions:
            hidden = widget.isHidden()
            widget.setParent(stage)
            widget.setVisible(not hidden)
        beside_title.setParent(stage)
        beside_title.show()
        for widget in (*captions, beside_title):
            widget.installEventFilter(self)
        stage.arranged.connect(self.arrange)
        self.arrange()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Arrange the widgets again when one is shown, hidden, or has new content."""
        kinds = (QEvent.Type.ShowToParent, QEvent.Type.HideToParent, QEvent.Type.LayoutRequest)
        if event.type() in kinds:
            self.arrange()
        return False

    def arrange(self) -> None:
        """Give every widget its place."""
        stage, caption = self._stage, next((w for w in self._captions if not w.isHidden()), None)
        room = (stage.in_quadrant() or stage.width() >= scaled(_ROOMY)) and self._wanted()
        beside = self._beside.sizeHint().width() + round(scaled(_GAP)) if room else 0
        self._beside.setVisible(beside > 0)
        if caption is None:
            stage.take_words(0.0, beside)
        else:
            caption.setGeometry(self._place(caption, beside))
            for other in self._captions:
                if other is not caption and not other.isHidden():
                    other.lower()
            caption.raise_()
        if beside:
            title, size = stage.title_place(), self._beside.sizeHint()
            self._beside.setGeometry(QRect(title.right() - size.width(), title.top() + 2, size.width(), size.height()))

    def _place(self, caption: QWidget, beside: int) -> QRect:
        """Give a widget the best place: left of A, below the title, left of smaller matrices, outside the quadrant."""
        place = self._left_of_a(caption, beside) or self._below_title(caption, beside)
        if not self._stage.column_width(reserve=True):
            return place
        return self._left_of_a(caption, beside, reserve=True) or self._below_title(caption, beside)

    def _left_of_a(self, caption: QWidget, beside: int, reserve: bool = False) -> QRect | None:
        """Give a widget the place left of A, below a lens; None: it has no room there."""
        stage, width = self._stage, int(self._stage.column_width(reserve))
        if not width:
            return None
        stage.take_words(_height(caption, width), beside, True)
        place = stage.words_place()
        return place if place.width() <= width + 1 else None

    def _below_title(self, caption: QWidget, beside: int) -> QRect:
        """Give a widget the place below the title: its width depends on its height, and this again on its width."""
        stage = self._stage
        place = stage.words_place()
        for _ in range(_TRIES):
            width = max(place.width(), _LEAST_WIDTH)
            stage.take_words(_height(caption, width), beside)
            place = stage.words_place()
            if place.width() == width:
                break
        return place


def _height(widget: QWidget, width: int) -> int:
    for part in (widget, *widget.findChildren(QWidget)):
        if not part.testAttribute(Qt.WidgetAttribute.WA_WState_Polished):
            part.ensurePolished()  # otherwise it is measured with another font, and everything moves when it is shown
            part.updateGeometry()
    return widget.heightForWidth(width) if widget.hasHeightForWidth() else widget.sizeHint().height()
