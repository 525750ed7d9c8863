"""Widgets that stand on the stage, where its words stand: they take no height from it."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent, QObject, QRect, Qt
from PySide6.QtWidgets import QWidget

from gemmviz.ui.look.style import scaled
from gemmviz.ui.stage.stage import Stage

_GAP = 6  # pixels, at a scale of type of 1
_LEAST_WIDTH = 300
_TRIES = 4
_ROOMY = 560  # of the stage, from which on its line has room for something beside the title


class OnStage(QObject):
    """Puts one of several widgets in the caption's place, and one beside the title.

    Parameters
    ----------
    stage
        The stage. The widgets become its children.
    captions
        The first of them that is not hidden stands in the caption's place.
    beside_title
        Stands at the right of the title.
    wanted
        Returns whether it is to be shown.
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
        """Arrange anew when a widget is shown, hidden, or has another content."""
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
            # The room for the words depends on their height, and with their width again their height.
            place = stage.words_place()
            for _ in range(_TRIES):
                width = max(place.width(), _LEAST_WIDTH)
                stage.take_words(_height(caption, width), beside)
                place = stage.words_place()
                if place.width() == width:
                    break
            caption.setGeometry(place)
            for other in self._captions:
                if other is not caption and not other.isHidden():
                    other.lower()
            caption.raise_()
        if beside:
            title, size = stage.title_place(), self._beside.sizeHint()
            self._beside.setGeometry(QRect(title.right() - size.width(), title.top() + 2, size.width(), size.height()))


def _height(widget: QWidget, width: int) -> int:
    for part in (widget, *widget.findChildren(QWidget)):
        if not part.testAttribute(Qt.WidgetAttribute.WA_WState_Polished):
            part.ensurePolished()  # else it is measured in another type, and all moves once more when it is shown
            part.updateGeometry()
    return widget.heightForWidth(width) if widget.hasHeightForWidth() else widget.sizeHint().height()
