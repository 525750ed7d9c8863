"""Why no launch of a kernel can be right, where its files show it: one sentence, for people."""

import re
from collections.abc import Iterable, Sequence

from gemmviz.catalogue.guessing.cxx import Surroundings
from gemmviz.catalogue.guessing.guessed_matter import Guess

_PLACE = re.compile(r"\{\{\s*([A-Za-z_]\w*)\s*\}\}")
_LEAST_PLACES = 2  # one alone may be a value in two brackets
_OF_PACKED = re.compile(r"(?i).*(?:scale|zero|zp|q_?weight|packed|group_?size|g_?idx|lut|codebook|dequant|perm).*")


def hindrance(made: Guess, around: Surroundings | None, *, empty: bool = False) -> str:
    """Return what keeps a kernel from being described; an empty text where the files show nothing of the kind.

    Parameters
    ----------
    made
        The guess.
    around
        The files around the kernel's file.
    empty
        Whether the kernel has no statement.
    """
    places = list(dict.fromkeys(_PLACE.findall(made.text)))
    if len(places) >= _LEAST_PLACES:
        named = _some(f"{{{{{one}}}}}" for one in places)
        return f"the file is not complete: a script fills in {named} before it is compiled"
    packed = [name for (name, _), role in zip(made.parameters, made.roles, strict=True) if _is_packed(name, role)]
    if packed:
        return f"{_some(packed)} belong to packed or scaled matrices, and only plain products of A and B are described"
    return (
        "the body of the kernel is empty: nothing computes C" if empty else _headers(around.missing if around else ())
    )


def _is_packed(name: str, role: str) -> bool:
    return not role and _OF_PACKED.fullmatch(name) is not None


def _headers(missing: Sequence[tuple[str, str]]) -> str:
    for header, submodule in missing:
        if submodule:
            command = f"`git submodule update --init {submodule}`"
            return f"{header} is not here, and the submodule {submodule} is empty: {command}"
    names = [header for header, _ in missing]
    return f"{_some(names)}: no folder of the project has such a header; -I names another folder" if names else ""


def _some(names: Iterable[str]) -> str:
    named = list(names)
    return ", ".join(named[:3]) + (", ..." if len(named) > 3 else "")
