"""A text on the stage, in the place of its caption; where it would make the matrices smaller, above the source."""

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, QRect, Qt
from PySide6.QtWidgets import QVBoxLayout, QWidget

from gemmviz.ui.known import known
from gemmviz.ui.look.style import scaled
from gemmviz.ui.stage.stage import Stage

_GAP = 6  # pixels, at a scale of type of 1
_LEAST_WIDTH = 300
_TRIES = 4
_ROOMY = 560  # the width of the stage from which there is room for a widget beside the title


class OnStage(QObject):
    """Puts a text at the caption's place, or into a column beside the stage, and buttons beside the title.

    Parameters
    ----------
    stage
        The stage.
    text
        The text: it stands left of A below a lens, or below the title. If neither has room for it, it stands at the
        top of `column`, so that no matrix becomes smaller.
    column
        The column beside the stage.
    beside_title
        The widget with the buttons to the right of the title. It becomes a child of the stage.
    wanted
        Returns whether there are buttons to show.
    settle
        Called with whether the buttons have room beside the title.
    below
        Returns the layout below two stages, which has the text if they are wide; None while there is one stage.
    """

    def __init__(
        self,
        stage: Stage,
        text: QWidget,
        column: QVBoxLayout,
        beside_title: QWidget,
        wanted: Callable[[], bool],
        settle: Callable[[bool], None],
        below: Callable[[], QVBoxLayout | None],
    ) -> None:
        super().__init__(stage)
        self._stage, self._text, self._column, self._beside = stage, text, column, beside_title
        self._wanted, self._settle, self._below, self._arranging = wanted, settle, below, False
        self._home: Stage | QVBoxLayout = stage
        self._move(None)
        beside_title.setParent(stage)
        beside_title.show()
        for widget in (text, beside_title):
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
        """Give every widget its place; while the stage waits for its turn, nothing (see `Arrival`)."""
        if self._arranging or not self._stage.updatesEnabled():
            return
        self._arranging = True
        try:
            self._arrange()
        finally:
            self._arranging = False

    def _arrange(self) -> None:
        stage, text = self._stage, self._text
        if self._below() is None:
            text.setMinimumHeight(0)
        below, roomy = self._below(), stage.width() >= scaled(_ROOMY)
        apart = below is not None and not text.isHidden()
        space = (stage.in_quadrant() or roomy) and not apart
        self._settle(space)
        room = space and self._wanted()
        beside = self._beside.sizeHint().width() + round(scaled(_GAP)) if room else 0
        self._beside.setVisible(beside > 0)
        if text.isHidden():
            stage.take_words(0.0, beside)
        elif below is not None:
            stage.take_words(0.0, beside)
            self._move(below if roomy else self._column)
            # A layout asks the text's own layout for its height, which differs from stop to stop.
            text.setMinimumHeight(_height(text, known(text.parentWidget()).width()))
        else:
            place = self._left_of_a(beside) or self._below_title(beside)
            if place is None:
                stage.take_words(0.0, beside)
            self._move(None if place is not None else self._column)
            if place is not None:
                text.setGeometry(place)
                text.raise_()
        if beside:
            title, size = stage.title_place(), self._beside.sizeHint()
            self._beside.setGeometry(QRect(title.right() - size.width(), title.top() + 2, size.width(), size.height()))

    def _move(self, column: QVBoxLayout | None) -> None:
        """Put the text into a column, or onto the stage; a part of it that has the keyboard keeps it."""
        text = self._text
        home = self._stage if column is None else column
        if text.parentWidget() is not None and home is self._home:
            return
        hidden, focus = text.isHidden(), text.window().focusWidget()
        if isinstance(self._home, QVBoxLayout):
            self._home.removeWidget(text)
        if column is None:
            text.setParent(self._stage)
        else:
            column.insertWidget(0, text)
        self._home = home
        text.setVisible(not hidden)
        if focus is not None and text.isAncestorOf(focus):
            focus.setFocus(Qt.FocusReason.OtherFocusReason)

    def _left_of_a(self, beside: int) -> QRect | None:
        """Give the text the place left of A, below a lens; None: it has no room there."""
        stage, width = self._stage, int(self._stage.column_width())
        height = _height(self._text, width) if width else 0.0
        if not width or not stage.holds(height, narrow=True):
            return None
        stage.take_words(height, beside, True)
        place = stage.words_place()
        return place if place.width() <= width + 1 else None

    def _below_title(self, beside: int) -> QRect | None:
        """Give the text the place below the title: its width depends on its height, and this again on its width."""
        stage = self._stage
        stage.take_words(0.0, beside)
        place = stage.words_place()
        for _ in range(_TRIES):
            width = max(place.width(), _LEAST_WIDTH)
            height = _height(self._text, width)
            if not stage.holds(height):
                return None
            stage.take_words(height, beside)
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
