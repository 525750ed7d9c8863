"""The Qt state of a window: position, sizes, scroll positions and focus. It is copied from one window to the next.

Both windows are built by the same code. So a widget is found by its place in the tree of widgets: at each level by
its class and its number within that class.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractScrollArea, QSplitter, QWidget

if TYPE_CHECKING:
    from gemmviz.ui.window.window import Window

Place = tuple[tuple[str, int], ...]


@dataclass
class WindowState:
    """See `take` and `give`."""

    geometry: Any
    screen_state: Qt.WindowState
    focus: Place | None
    widgets: dict[Place, Any] = field(default_factory=dict)


def take(window: "Window") -> WindowState:
    """Return a window's state."""
    focus = window.focusWidget()
    return WindowState(
        window.geometry(),
        window.windowState(),
        _place(focus, window) if focus is not None else None,
        {place: state for place, w in _tree(window) if (state := _state(w)) is not None},
    )


def give(window: "Window", state: WindowState) -> None:
    """Give a visible window the state of another one."""
    window.pages.turn_to(window.session.sight.page)
    for place, widget in list(_tree(window)):
        if place in state.widgets:
            _set_state(widget, state.widgets[place])
    focused = _at(window, state.focus) if state.focus is not None else None
    if focused is not None and focused.focusPolicy() != Qt.FocusPolicy.NoFocus:
        focused.setFocus(Qt.FocusReason.OtherFocusReason)


def give_scrolls(window: "Window", state: WindowState) -> None:
    """Set the scroll positions of another window. Every widget must have its size before."""
    for place, widget in _tree(window):
        kept = state.widgets.get(place)
        if isinstance(widget, QAbstractScrollArea) and kept is not None:
            for bar, value in zip((widget.horizontalScrollBar(), widget.verticalScrollBar()), kept, strict=True):
                bar.setValue(value)


def _state(widget: QWidget) -> Any:
    if isinstance(widget, QSplitter):
        return widget.saveState()
    if isinstance(widget, QAbstractScrollArea):
        return widget.horizontalScrollBar().value(), widget.verticalScrollBar().value()
    return None


def _set_state(widget: QWidget, state: Any) -> None:
    if isinstance(widget, QSplitter):
        widget.restoreState(state)


def _children(widget: QWidget) -> list[QWidget]:
    return [child for child in widget.children() if isinstance(child, QWidget) and not child.isWindow()]


def _tree(widget: QWidget, place: Place = ()) -> Iterator[tuple[Place, QWidget]]:
    counts: Counter[str] = Counter()
    for child in _children(widget):
        kind = type(child).__name__
        here = (*place, (kind, counts[kind]))
        counts[kind] += 1
        yield here, child
        yield from _tree(child, here)


def _place(widget: QWidget, window: QWidget) -> Place | None:
    return next((place for place, one in _tree(window) if one is widget), None)


def _at(window: QWidget, place: Place) -> QWidget | None:
    return next((widget for found, widget in _tree(window) if found == place), None)
