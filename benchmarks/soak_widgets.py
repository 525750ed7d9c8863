"""Uses any visible widget, as a click or a key would."""

from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QComboBox,
    QPushButton,
    QSlider,
    QTabWidget,
    QToolButton,
)

_KINDS = (QAbstractButton, QComboBox, QTabWidget, QAbstractItemView, QSlider)


def use_any(window, random):
    """Use any button, box, tab or list of a window; return the action."""
    found = [widget for kind in _KINDS for widget in window.findChildren(kind) if _usable(widget, window)]
    if not found:
        return "no widget"
    widget = random.choice(found)
    if isinstance(widget, QAbstractButton):
        widget.click()
    elif isinstance(widget, QComboBox):
        choose_in(widget, random)
    elif isinstance(widget, QTabWidget):
        widget.setCurrentIndex(random.randrange(max(widget.count(), 1)))
    elif isinstance(widget, QSlider):
        widget.setValue(random.randint(widget.minimum(), widget.maximum()))
    else:
        rows = widget.model().rowCount() if widget.model() is not None else 0
        if rows:
            widget.setCurrentIndex(widget.model().index(random.randrange(rows), 0))
    return f"widget: {type(widget).__name__}"


def choose_in(box, random):
    """Choose an entry of a box."""
    if box.count():
        index = random.randrange(box.count())
        box.setCurrentIndex(index)
        box.activated.emit(index)


def _usable(widget, window):
    """Return whether a widget can be used now, and neither measures for minutes nor opens a modal menu."""
    if not (widget.isVisible() and widget.isEnabled() and widget.window() is window):
        return False
    if isinstance(widget, QToolButton | QPushButton) and widget.menu() is not None:
        return False
    measures = window.measuring.isAncestorOf(widget) or window.claims.isAncestorOf(widget)
    return not (isinstance(widget, QAbstractButton) and measures)
