"""Definitions without which a kernel, or a function that it calls, is not there: ``#ifdef USE_GPU`` around it."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from gemmviz.catalogue.guessing.tokens import integer

_DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(if|ifdef|ifndef|elif|else|endif)\b((?:\\\n|[^\n])*)", re.MULTILINE)
_DEFINED = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", re.MULTILINE)
_DEFINES = re.compile(
    r"^[ \t]*#[ \t]*define[ \t]+(\w+)|__(?:device|global)__[^;{}()]*?(\w+)\s*\(|\bstruct\s+(\w+)", re.M
)
_TERM = re.compile(r"(?:defined\s*\(?\s*)?(\w+)\s*\)?|(\w+)\s*(==|>=|>)\s*(\d+)")
# Names that compilers and CUDA's own headers define.
_OF_COMPILER = re.compile(r"_\w+|CUDA_VERSION|CUDART_VERSION|CUDNN_\w+|WIN32|NDEBUG|GV_\w+")


@dataclass(frozen=True)
class _Part:
    """A part of a text between two directives, and the definitions that its conditions ask for."""

    text: str
    asks: tuple[tuple[str, int], ...]


def asked_definitions(texts: Sequence[str], kernel: str) -> dict[str, int]:
    """Return the macros, and their values, that a kernel needs and no text defines.

    Parameters
    ----------
    texts
        The kernel's file, then its headers, without comments.
    kernel
        The kernel's name.
    """
    defined = defined_names(texts)
    parts = [part for text in texts for part in _parts(text, defined)]
    if not any(part.asks for part in parts):
        return {}
    head = re.compile(rf"__global__[^;{{}}]*?\b{re.escape(kernel)}\s*\(")
    needed = [part for part in parts if head.search(part.text)][:1]
    if not needed:
        return {}
    free = {name for part in parts if not part.asks for name in _defines(part.text)}
    words = set(re.findall(r"\w+", needed[0].text)) - free
    # A function of a header that only some definitions give.
    needed += [part for part in parts if part.asks and not words.isdisjoint(_defines(part.text))]
    asked: dict[str, int] = {}
    for part in needed:
        for name, value in part.asks:
            asked.setdefault(name, value)
    return asked


def defined_names(texts: Iterable[str]) -> set[str]:
    """Return the names that texts define as macros."""
    return {name for text in texts for name in _DEFINED.findall(text)}


def _defines(text: str) -> Iterator[str]:
    return (next(filter(None, found)) for found in _DEFINES.findall(text))


def _parts(text: str, defined: set[str]) -> Iterator[_Part]:
    """Yield the parts of a text; a dead part, ``#if 0``, is left out."""
    at = 0
    open_: list[tuple[tuple[str, int], ...] | None] = []
    for found in [*_DIRECTIVE.finditer(text), None]:
        end = found.start() if found else len(text)
        if None not in open_ and text[at:end].strip():
            yield _Part(text[at:end], tuple(one for asks in open_ for one in asks or ()))
        if found is None:
            return
        at, word, terms = found.end(), found[1], found[2].replace("\\\n", " ")
        if word in ("if", "ifdef", "ifndef"):
            open_.append(() if word == "ifndef" else _asks(terms, defined, alone=word == "ifdef"))
        elif open_ and word == "elif":
            open_[-1] = _asks(terms, defined)
        elif open_ and word == "else":
            open_[-1] = ()
        elif open_:
            open_.pop()


def _asks(terms: str, defined: set[str], *, alone: bool = False) -> tuple[tuple[str, int], ...] | None:
    """Return the definitions that make a condition true; none where it may be true without; None if it is false."""
    terms = re.sub(r"/\*.*?\*/|//.*", "", terms).strip()
    if terms == "0":
        return None
    return tuple(_of_terms(terms.split("||")[0].split("&&"), defined, alone=alone))


def _of_terms(terms: Iterable[str], defined: set[str], *, alone: bool) -> Iterator[tuple[str, int]]:
    for term in terms:
        plain = term.strip() if alone or "(" not in term or "defined" in term else term.strip().strip("() ")
        found = _TERM.fullmatch(plain)
        name = (found[1] or found[2]) if found else ""
        if not found or not name or name.isdecimal() or name in defined or _OF_COMPILER.fullmatch(name):
            continue
        value = integer(found[4]) if found[2] else 1
        if value is not None:
            yield name, value + (found[3] == ">")
