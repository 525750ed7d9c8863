"""The documents that the kernels come from, and which kernel stands for each name that they use."""

import tomllib
from dataclasses import dataclass, field
from typing import Literal

from gemmviz import data
from gemmviz.catalogue.plain import Plain

Given = Literal["printed", "repaired", "described", "reconstructed"]
"""The document prints the kernel; prints it with slips, which are mended here; says in words what it does; or gives its
results alone."""


@dataclass(frozen=True)
class Name:
    """What a document calls one of its kernels.

    Attributes
    ----------
    name
        In the document's own words.
    kernel
        The name of the kernel of the ladder that implements it.
    listing
        Where in the document it is shown.
    text
        What the document gives of it: see `Given`.
    repaired
        What the kernel here has that the printed one lacks, or does otherwise; empty where nothing.
    params
        The values of the kernel's parameters at which the document shows it; empty where it leaves them open.
    """

    name: str
    kernel: str
    listing: str
    text: Given
    repaired: str = ""
    params: dict[str, tuple[int, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class Document:
    """One document: what ``source`` in a kernel's front matter refers to, and every name it uses.

    Attributes
    ----------
    id
        ``"S0"`` to ``"S4"``.
    title, kind, language
        For people; the title in English.
    year
        None where the document does not say.
    names
        In the document's own order.
    """

    id: str
    title: str
    kind: str
    language: str
    year: int | None
    names: tuple[Name, ...]


def documents() -> list[Document]:
    """Return the documents that gemmviz implements, from ``resources/sources.toml``."""
    table = tomllib.loads((data.root("resources") / "sources.toml").read_text(encoding="utf-8"))
    return [
        Document(**{"year": None, **entry, "names": tuple(map(_name, entry["names"]))}) for entry in table["document"]
    ]


def _name(entry: Plain) -> Name:
    params = {key: tuple(values) for key, values in entry.get("params", {}).items()}
    return Name(**{**entry, "params": params})
