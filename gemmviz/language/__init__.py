"""The language of texts for people: English is in the source, the others are in gettext catalogues.

Call `tr` when a text is shown, never when a module is imported, so that a window that is created again shows the new
language. Wrap a text in a table that is created at import in `mark`, and call `tr` when it is shown.
"""

import re
from typing import Literal

from gemmviz.language.catalogue import Catalogue, read_catalogue
from gemmviz.language.numbers import THIN, thousands
from gemmviz.language.particles import with_particles

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
    """Return the code of the current language."""
    return _code


def tr(text: str, /, **values: object) -> str:
    """Return the translation of an English text into the current language, with `values` in place of its ``{names}``.

    A text that has no translation stays English.
    """
    translated = _state[_code].one(text) if _code != "en" else text
    if isinstance(count := values.get("count"), int):
        values["count"] = thousands(count)
    return finished(translated.format(**values) if values else translated)


def trn(one: str, many: str, count: int, /, **values: object) -> str:
    """Return a text that depends on a number: `one` or `many` in English; ``{count}`` is replaced by the number."""
    translated = _state[_code].several(one, many, count) if _code != "en" else (one if count == 1 else many)
    return finished(translated.format(**{"count": thousands(count), **values}))


def tr_again(text: str, before: Language) -> str:
    """Return a text that was made while `before` was the language, in the current language.

    Its values are translated, too, as one may be a text itself. A text that fits no template of the catalogue stays as
    it is; of several lines, each is looked at alone.
    """
    if before == _code:
        return text
    from gemmviz.language.standing_texts import made_from  # late: only a change of language needs it

    code = before if before != "en" else _code
    found = made_from(text, _state[code], before == "en")
    if found is None:
        lines = text.split("\n")
        return text if len(lines) == 1 else "\n".join(tr_again(line, before) for line in lines)
    template, values = found
    filled: dict[str, object] = {name: tr_again(value, before) for name, value in values.items()}
    one, many = template.one, template.many
    if not many:
        return tr(one, **filled)
    count = filled.setdefault("count", "1")  # the form for exactly one may leave the number out
    digits = re.sub(r"\D", "", str(count))
    return trn(one, many, int(digits or 1), **filled)


def percent(share: float, decimals: int = 0) -> str:
    """Return a share as a percentage; in Spanish a thin space is before the sign."""
    text = f"{share:.{decimals}%}"
    return text.replace("%", f"{THIN}%") if _code == "es" else text


def finished(text: str) -> str:
    """Return a text with its values filled in; in Korean the particles after the values get their right form."""
    return with_particles(text) if _code == "ko" else text


def mark(text: str, /) -> str:
    """Return the text unchanged; `collect` finds it for the translators (see the module)."""
    return text
