"""Explicit instantiations of templates: ``template void run<float, 16>(...);``."""

from collections.abc import Sequence

from gemmviz.catalogue.guessing.functions import HostFile
from gemmviz.catalogue.guessing.tokens import split

_LONGEST = 80  # tokens from ``template`` to the function's parameters
_MOST = 8
Tokens = tuple[str, ...]


def instantiations(files: Sequence[HostFile]) -> dict[str, list[tuple[Tokens, ...]]]:
    """Return the arguments that the files instantiate templates of functions with, by the function's name.

    Parameters
    ----------
    files
        The kernel's file and those around it.
    """
    found: dict[str, list[tuple[Tokens, ...]]] = {}
    for file in files:
        tokens = file.tokens
        for at in (i for i, word in enumerate(tokens) if word == "template" and tokens[i + 1 : i + 2] != ["<"]):
            end = next((i for i in range(at, min(at + _LONGEST, len(tokens))) if tokens[i] in "(;{"), at)
            if tokens[end] != "(" or tokens[end - 1] != ">":
                continue
            opens = _opening(tokens, end - 1, at)
            arguments = tuple(tuple(part) for part in split(tokens[opens + 1 : end - 1])) if opens else ()
            several = found.setdefault(tokens[opens - 1], []) if arguments else []
            if arguments and arguments not in several and len(several) < _MOST:
                several.append(arguments)
    return found


def _opening(tokens: Sequence[str], close: int, least: int) -> int:
    """Return the place of the bracket that a ``>`` closes; 0 for none."""
    depth = 0
    for at in range(close, least, -1):
        depth += (tokens[at] == ">") - (tokens[at] == "<")
        if not depth:
            return at
    return 0
