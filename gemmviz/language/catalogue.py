"""One language's gettext catalogue: ``resources/languages/CODE.po``."""

from collections.abc import Callable
from dataclasses import dataclass, field

from gemmviz import data

# The index of the plural form of a number (as in the Plural-Forms line of each file).
_FORMS: dict[str, Callable[[int], int]] = {"ko": lambda n: 0, "es": lambda n: int(n != 1)}


@dataclass(frozen=True)
class Catalogue:
    """The finished translations of one language."""

    texts: dict[str, str]
    plurals: dict[str, dict[int, str]]
    form: Callable[[int], int]
    manies: dict[str, str] = field(default_factory=dict)
    """The English plural of each text in `plurals`."""

    def one(self, text: str) -> str:
        """Return a text's translation, or the text itself."""
        return self.texts.get(text, text)

    def several(self, one: str, many: str, count: int) -> str:
        """Return the plural form of a text for a number; forms that were marked separately follow the English rule."""
        return self.plurals.get(one, {}).get(self.form(count)) or self.one(one if count == 1 else many)


def read_catalogue(code: str) -> Catalogue:
    """Read a language's catalogue; unfinished and obsolete entries are left out."""
    import polib  # late: English needs no catalogue

    entries = [
        entry
        for entry in polib.pofile(str(data.root("resources") / "languages" / f"{code}.po"), encoding="utf-8")
        if not entry.obsolete and not entry.fuzzy
    ]
    return Catalogue(
        {entry.msgid: entry.msgstr for entry in entries if entry.msgstr},
        {entry.msgid: entry.msgstr_plural for entry in entries if entry.msgid_plural},
        _FORMS[code],
        {entry.msgid: entry.msgid_plural for entry in entries if entry.msgid_plural},
    )
