"""The effects of keys and mouse, as a list in columns with a search."""

from html import escape

from gemmviz.language import tr
from gemmviz.ui.look.fonts import mono_style
from gemmviz.ui.window.actions import Action
from gemmviz.ui.window.key_names import key_text

_NO_WRAP = 'style="white-space: nowrap"'
# The number of columns that fit on a screen of 1280 pixels.
_COLUMNS = 2
Groups = dict[str, list[tuple[str, str]]]
"""For each heading: keys or gestures as rich text, and their effects."""


def help_groups(actions: list[Action]) -> Groups:
    """Return the effects of all keys and of the mouse, in the order of the menus."""
    groups: Groups = {}
    for action in actions:
        keys = [f"<code>{escape(key_text(key))}</code>" for key in action.keys]
        named = tr("{key} or {other}", key=keys[0], other=keys[1]) if len(keys) == 2 else ", ".join(keys)
        menu = action.menu.rpartition(" > ")[2]
        groups.setdefault(tr(menu), []).append((named, action.title))
    groups[tr("Mouse")] = [
        (tr("click a cell"), tr("its owner and its accesses")),
        (tr("click a line number"), tr("to its next execution")),
        (tr("Ctrl+click a line"), tr("the same, as a double-click while locked")),
        (tr("wheel, drag"), tr("zoom and shift the stage")),
        (tr("click, drag the timeline"), tr("go to a step")),
        (tr("Shift+drag the timeline"), tr("loop these steps; its ends can be dragged")),
        (tr("click a flag"), tr("to a stop of the lesson")),
    ]
    groups[tr("While the source is edited")] = [
        ("<code>Ctrl+Z</code>, <code>Ctrl+Shift+Z</code>", tr("undo, redo (a revert, too)")),
        ("<code>Tab</code>, <code>Shift+Tab</code>", tr("indent by 4, and back")),
        ("<code>Ctrl+/</code>", tr("comment lines out, or in")),
        ("<code>Esc</code>", tr("to the stage, where keys play")),
    ]
    groups[tr("Everywhere")] = [
        ("<code>Tab</code>", tr("to the next box or button")),
        (tr("<code>Space, arrows</code>"), tr("there: press, choose")),
    ]
    return groups


def help_text(groups: Groups, wanted: str = "") -> str:
    """Return the list as rich text; with a search text, only the entries with all of its words."""
    words = wanted.casefold().split()
    columns: list[list[str]] = [[] for _ in range(_COLUMNS)]
    for heading, entries in groups.items():
        found = [entry for entry in entries if all(word in f"{heading} {' '.join(entry)}".casefold() for word in words)]
        if not found:
            continue
        rows = [f"<tr><td colspan=2><br><b>{heading}</b></td></tr>"]
        rows += [f"<tr><td {_NO_WRAP}>{keys}&nbsp;&nbsp;</td><td {_NO_WRAP}>{does}</td></tr>" for keys, does in found]
        min(columns, key=len).extend(rows)
    if not any(columns):
        return tr("No entry has these words.")
    cells = "".join(f"<td><table>{''.join(rows)}</table></td><td>&nbsp;&nbsp;&nbsp;</td>" for rows in columns)
    return _in_our_font(f"<table><tr>{cells}</tr></table>")


def _in_our_font(text: str) -> str:
    """Write keys in the font that comes with gemmviz: `<code>` alone means a font of the system."""
    return text.replace("<code>", f'<span style="{mono_style()}">').replace("</code>", "</span>")
