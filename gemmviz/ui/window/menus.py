"""The menus of the window, made from its table of actions."""

from collections.abc import Iterable

from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMainWindow, QMenu

from gemmviz.language import tr
from gemmviz.ui.window.actions import Action
from gemmviz.ui.window.menu_keys import MenuKeys
from gemmviz.ui.window.window_actions import SUBMENU


def fill_menus(window: QMainWindow, table: Iterable[Action]) -> None:
    """Put the actions into the menus of a window's menu bar; a menu is made where an action first names it."""
    menus: dict[str, QMenu] = {}
    MenuKeys(window.menuBar())
    for record in sorted(table, key=lambda one: one.id == "quit"):  # people look for it at the end of its menu
        action = QAction(record.title, window)
        action.setObjectName(record.id)
        action.setShortcuts([QKeySequence(k) for k in record.keys])
        action.triggered.connect(lambda *_, record=record: record.callback())
        _menu(window, record.menu, menus).addAction(action)


def _menu(window: QMainWindow, path: str, menus: dict[str, QMenu]) -> QMenu:
    """Return the menu at a path such as ``"View > Language"``."""
    menu = menus.get(path)
    if menu is None:
        above, _, title = path.rpartition(SUBMENU)
        parent = _menu(window, above, menus) if above else window.menuBar()
        menu = menus[path] = parent.addMenu(tr(title))
    return menu
