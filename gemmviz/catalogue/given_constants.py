"""Constants of a source that stand for sizes: their definitions get the values of a launch."""

import re
from collections.abc import Mapping

from gemmviz.catalogue.errors import BuildError
from gemmviz.catalogue.plain_code import plain_code

# Up to the name: a declaration of constants, or an enum that is still open.
_DECLARING = re.compile(r"\b(?:const|constexpr)\b[^{}]*\Z|\benum\b[\w\s:]*\{[^{}]*\Z")


def with_constants(text: str, values: Mapping[str, int], file: str = "") -> str:
    """Return a source in which constants have other values; every line keeps its number.

    Parameters
    ----------
    text
        C or CUDA, with its own headers in place.
    values
        The value of each constant: a macro, a ``const`` or ``constexpr`` variable, or a member of an ``enum``.
    file
        Its name, for messages.

    Raises
    ------
    BuildError
        For a constant that the source does not define.
    """
    for name, value in values.items():
        plain = plain_code(text)
        spans = [*_macros(plain, name), *_variables(plain, name)]
        if not spans:
            raise BuildError(f"{file}: constants names {name!r}, and the source defines no such constant")
        for start, end in sorted(spans, reverse=True):
            lines = "\\\n" * text.count("\n", start, end)
            text = f"{text[:start]}{value}{lines and ' ' + lines}{text[end:]}"
    return text


def _macros(plain: str, name: str) -> list[tuple[int, int]]:
    """Return where the values of a macro's definitions stand."""
    pattern = re.compile(rf"^[ \t]*#[ \t]*define[ \t]+{name}[ \t]+((?:\\\n|[^\n])*\S)", re.MULTILINE)
    return [found.span(1) for found in pattern.finditer(plain)]


def _variables(plain: str, name: str) -> list[tuple[int, int]]:
    """Return where the values stand that declarations give to a constant."""
    pattern = re.compile(rf"(?<![\w.>#]){name}\s*(?:=(?!=)|\{{)\s*([^,;{{}}=\n]*[^,;{{}}=\s])")
    found = []
    for place in pattern.finditer(plain):
        start = max(plain.rfind(mark, 0, place.start()) for mark in ";}")
        if _DECLARING.search(plain[start + 1 : place.start()]):
            found.append(place.span(1))
    return found
