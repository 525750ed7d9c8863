"""The language of texts for people: English is in the source, the others are in gettext catalogues.

`tr` is called where a text is shown, never where a module is imported, so that a window which is built again speaks the
new language. A text that must stand in a table at import is wrapped in `mark`, and in `tr` where it is shown.
"""

from typing import Literal

from gemmviz.language.catalogue import Catalogue, read_catalogue

Language = Literal["en", "ko", "es"]
LANGUAGES: dict[Language, str] = {"en": "English", "ko": "한국어", "es": "Español"}
"""Code and own name of every language."""

_state: dict[str, Catalogue] = {}
_code: Language = "en"


def set_language(code: str) -> None:
    """Use a language from now on.

    Raises
    ------
    KeyError
        When it is none of `LANGUAGES`.
    """
    global _code
    if code not in LANGUAGES:
        raise KeyError(code)
    if code != "en" and code not in _state:
        _state[code] = read_catalogue(code)
    _code = code


def language() -> Language:
    """Return the code of the language that is spoken."""
    return _code


def tr(text: str, /, **values: object) -> str:
    """Return an English text in the language that is spoken, its ``{names}`` replaced by `values`.

    A text that has no translation stays English.
    """
    said = _state[_code].one(text) if _code != "en" else text
    return said.format(**values) if values else said


def trn(one: str, many: str, count: int, /, **values: object) -> str:
    """Return a text that depends on a number: `one` or `many` in English; ``{count}`` is replaced by the number."""
    said = _state[_code].several(one, many, count) if _code != "en" else (one if count == 1 else many)
    return said.format(**{"count": count, **values})


def mark(text: str, /) -> str:
    """Return the text as it is; it is collected for the translators (see the module)."""
    return text
