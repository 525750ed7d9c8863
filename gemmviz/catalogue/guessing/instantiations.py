"""Explicit instantiations of templates: ``template void run<float, 16>(...);``, ``template void run(float *a);``."""

from collections.abc import Iterator, Sequence

from gemmviz.catalogue.guessing.functions import HostFile
from gemmviz.catalogue.guessing.tokens import closing, split, split_arguments

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
    for tokens, at, end in _explicit(files):
        opens = _opening(tokens, end - 1, at) if tokens[end - 1] == ">" else 0
        arguments = tuple(tuple(part) for part in split_arguments(tokens[opens + 1 : end - 1])) if opens else ()
        _keep(found, tokens[opens - 1], arguments)
    return found


def signatures(files: Sequence[HostFile]) -> dict[str, list[tuple[Tokens, ...]]]:
    """Return the parameters that the files instantiate templates of functions with, where no arguments are given.

    Parameters
    ----------
    files
        As for `instantiations`.
    """
    found: dict[str, list[tuple[Tokens, ...]]] = {}
    for tokens, _, end in _explicit(files):
        if tokens[end - 1].isidentifier():
            parameters = split(tokens[end + 1 : closing(tokens, end)])
            _keep(found, tokens[end - 1], tuple(tuple(part) for part in parameters))
    return found


def _explicit(files: Sequence[HostFile]) -> Iterator[tuple[Sequence[str], int, int]]:
    """Yield the tokens of a file, and the places of ``template`` and of the parameters, of each instantiation."""
    for file in files:
        tokens = file.tokens
        for at in (i for i, word in enumerate(tokens) if word == "template" and tokens[i + 1 : i + 2] != ["<"]):
            end = next((i for i in range(at, min(at + _LONGEST, len(tokens))) if tokens[i] in "(;{"), at)
            if tokens[end] == "(" and end > at + 1:
                yield tokens, at, end


def _keep(found: dict[str, list[tuple[Tokens, ...]]], name: str, arguments: tuple[Tokens, ...]) -> None:
    several = found.setdefault(name, []) if arguments else []
    if arguments and arguments not in several and len(several) < _MOST:
        several.append(arguments)


def _opening(tokens: Sequence[str], close: int, least: int) -> int:
    """Return the place of the bracket that a ``>`` closes; 0 for none."""
    depth = 0
    for at in range(close, least, -1):
        depth += (tokens[at] == ">") - (tokens[at] == "<")
        if not depth:
            return at
    return 0
