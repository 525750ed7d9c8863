"""Names of keys as people know them: arrows as arrows, the others in the language that is spoken."""

from gemmviz.language import mark, tr

_ARROWS = {"Left": "←", "Right": "→", "Up": "↑", "Down": "↓"}
_NAMES = {
    "Space": mark("Space"),
    "Home": mark("Home"),
    "End": mark("End"),
    "PgUp": mark("Page Up"),
    "PgDown": mark("Page Down"),
    "Backspace": mark("Backspace"),
}


def key_text(key: str) -> str:
    """Return the name of a key with its modifiers, for example ``"Shift+←"``.

    Parameters
    ----------
    key
        As an action has it, for example ``"Shift+Left"``.
    """
    held, plus, last = key.rpartition("+")
    if not last:  # the key with a plus
        return key
    name = _ARROWS.get(last) or (tr(_NAMES[last]) if last in _NAMES else last)
    return f"{held}{plus}{name}"
