"""The documents that the kernels come from, and the kernel of each name in them."""

import tomllib
from dataclasses import dataclass, field
from typing import Literal

from gemmviz import data
from gemmviz.catalogue.typed_reading import read_as

Given = Literal["printed", "repaired", "described", "reconstructed"]
"""The document prints the kernel, prints it with small errors that are corrected here, describes it in words, or gives
only its results."""


@dataclass(frozen=True)
class Name:
    """A document's name of one of its kernels.

    Attributes
    ----------
    name
        In the document's own words.
    kernel
        The name of the kernel of the ladder that implements it.
    listing
        Its place in the document.
    text
        The form in which the document gives it: see `Given`.
    repaired
        Additions and changes of the kernel here to the printed one; empty if there are none.
    params
        The values of the kernel's parameters at which the document shows it; empty if it leaves them open.
    """

    name: str
    kernel: str
    listing: str
    text: Given
    repaired: str = ""
    params: dict[str, tuple[int, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class Document:
    """One document: the target of ``source`` in a kernel's front matter, and every name in it.

    Attributes
    ----------
    id
        ``"S0"`` to ``"S4"``.
    title, kind, language
        For people; the title in English.
    names
        In the document's own order.
    year
        None if the document does not give it.
    """

    id: str
    title: str
    kind: str
    language: str
    names: tuple[Name, ...]
    year: int | None = None


def documents() -> list[Document]:
    """Return the documents that gemmviz implements, from ``resources/sources.toml``."""
    table = tomllib.loads((data.root("resources") / "sources.toml").read_text(encoding="utf-8"))
    return read_as(table["document"], list[Document])
