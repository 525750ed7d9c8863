"""Writes a text of another language again in the current one: a text that stands on the screen follows a new language.

A text is compared with the catalogue's templates. The one that it was made from gives back its values, and the current
language's template takes them. So texts also follow that were made in another process.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from string import Formatter
from typing import NamedTuple

from gemmviz.language.catalogue import Catalogue
from gemmviz.language.particles import as_pattern

_LONGEST = 20_000
_FEWEST_LETTERS = 4  # of a template with names: “{one} of {all}” fits too much
_LETTER = re.compile(r"[^\W\d_]")
_SYLLABLE = re.compile("[가-힣]")  # a Korean letter is a syllable: it counts twice


@dataclass(frozen=True)
class Template:
    """A text with ``{names}`` in one language, and the English text (and its plural) that it is looked up with."""

    text: str
    one: str
    many: str = ""

    def values(self, text: str) -> dict[str, str] | None:
        """Return the values that `text` has in place of the names; None: it was not made from this template."""
        parsed = _parsed(self.text)
        if any(piece not in text for piece in parsed.plain):
            return None
        first, *others = parsed.parts
        found = first[1].match(text)
        if found is None or (not others and found.end() != len(text)):
            return None
        values: dict[str, str] = {}
        for number, ((name, *beside), pattern) in enumerate(others):
            begin = found.end()
            last = number == len(others) - 1
            found = _at_end(pattern, text, begin) if last else pattern.search(text, begin)
            if found is None or values.setdefault(name, text[begin : found.start()]) != text[begin : found.start()]:
                return None
            values |= dict.fromkeys(beside, "")
        return values

    @property
    def weight(self) -> int:
        """The number of its letters outside of names, Korean ones twice; 0 if they are too few to recognise it."""
        return _parsed(self.text).weight


def templates(catalogue: Catalogue, english: bool) -> Iterator[Template]:
    """Yield the templates of a catalogue's language, or the English ones."""
    for one, translated in catalogue.texts.items():
        yield Template(one if english else translated, one)
    for one, forms in catalogue.plurals.items():
        many = catalogue.manies.get(one, one)
        for text in (one, many) if english else forms.values():
            yield Template(text, one, many)


def made_from(text: str, catalogue: Catalogue, english: bool) -> tuple[Template, Mapping[str, str]] | None:
    """Return the template that a text was made from, and its values; of several that fit, the one with most letters."""
    if len(text) > _LONGEST or not _LETTER.search(text):
        return None
    best: tuple[Template, Mapping[str, str]] | None = None
    for template in templates(catalogue, english):
        values = template.values(text)
        if values is not None and template.weight > (best[0].weight if best is not None else 0):
            best = template, values
    return best


class _Parsed(NamedTuple):
    plain: tuple[str, ...]  # the texts between the names that have no Korean particle
    # For each text between the names: the names before it, and its pattern. Of names that nothing divides, the first
    # one takes the whole value.
    parts: list[tuple[tuple[str, ...], re.Pattern[str]]]
    weight: int


@lru_cache(maxsize=8192)
def _parsed(template: str) -> _Parsed:
    pieces: list[tuple[tuple[str, ...], str]] = []
    literal = ""
    names: tuple[str, ...] = ()
    for before, field, _, _ in Formatter().parse(template):
        literal += before
        if field is not None:
            if literal or not names:
                pieces.append((names, literal))
                literal, names = "", ()
            names = (*names, field)
    pieces.append((names, literal))
    texts = [piece for _, piece in pieces]
    letters = sum(len(_LETTER.findall(piece)) + len(_SYLLABLE.findall(piece)) for piece in texts)
    return _Parsed(
        tuple(piece for piece in texts if as_pattern(piece) == re.escape(piece)),
        [(names, re.compile(as_pattern(piece))) for names, piece in pieces],
        letters if len(pieces) == 1 or letters >= _FEWEST_LETTERS else 0,
    )


def _at_end(pattern: re.Pattern[str], text: str, begin: int) -> re.Match[str] | None:
    """Return where the text ends as the pattern says, after `begin`."""
    return re.compile(f"(?:{pattern.pattern})\\Z").search(text, begin)
