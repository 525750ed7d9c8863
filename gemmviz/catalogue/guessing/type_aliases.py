"""Other names of types (``typedef``, ``using``, and macros that stand for a type), in the parameters of functions."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from gemmviz.catalogue.guessing.functions import Function, Parameter
from gemmviz.catalogue.guessing.macros import DEEPEST
from gemmviz.catalogue.guessing.roles import DTYPES, WHOLE

_ALIAS = re.compile(r"\btypedef\s+([\w\s:*&]+?)([\s*&])(\w+)\s*;|\busing\s+(\w+)\s*=\s*([\w\s:*&]+?)\s*;")
_NO_PART = {"const", "volatile", "restrict", "__restrict__", "__restrict", "typename", "struct", "unsigned", "signed"}
_LONGEST = 30  # tokens of a statement
Aliases = Mapping[str, Parameter]
"""A parameter without a name for each new name: its type, and whether it is a pointer."""


def type_aliases(texts: Iterable[str], macros: Mapping[str, tuple[str, ...]]) -> dict[str, Parameter]:
    """Return the type that each other name stands for.

    Parameters
    ----------
    texts
        Without comments.
    macros
        The macros without parameters: ``#define DTYPE float`` is another name, too.
    """
    found: dict[str, Parameter] = {}
    for text in texts:
        for old, mark, new, other, before in _ALIAS.findall(text):
            found[new or other] = _meant((old + mark) if new else before)
    for name, tokens in macros.items():
        if tokens and tokens[-1] in {*DTYPES, *WHOLE, "*"} and all(re.fullmatch(r"\w+|\*", word) for word in tokens):
            found.setdefault(name, _meant(" ".join(tokens)))
    return found


def naming(tokens: Sequence[str]) -> list[str]:
    """Return the statements that give a type another name, outside of functions and structures.

    Parameters
    ----------
    tokens
        Of a file.
    """
    found: list[str] = []
    inside = 0
    for at, token in enumerate(tokens):
        if token == "{" and (inside or "namespace" not in tokens[max(at - 2, 0) : at]):
            inside += 1
        elif token == "}":
            inside = max(inside - 1, 0)
        names = token == "typedef" or (token == "using" and tokens[at + 2 : at + 3] == ["="])
        if names and not inside and tokens[at - 1 : at] != [">"]:
            end = next((i for i in range(at, min(at + _LONGEST, len(tokens))) if tokens[i] in ("{", ";")), at)
            found += tokens[at : end + 1] if tokens[end] == ";" else []
    return found


def _meant(text: str) -> Parameter:
    words = [word for word in re.findall(r"\w+", text) if word not in _NO_PART]
    # `unsigned` alone is a whole number, too; of `uint8_t` and `unsigned char` only the last word counts.
    kind = words[-1] if words else "int"
    return Parameter("", kind, "*" in text, "const" in text.split())


def resolved(function: Function, aliases: Aliases) -> Function:
    """Return a function whose parameters have the types that their other names mean.

    Parameters
    ----------
    function
        The function.
    aliases
        From `type_aliases`.
    """
    own = {name for _, name, _ in function.template}

    def meant(parameter: Parameter) -> Parameter:
        for _ in range(DEEPEST):
            one = aliases.get(parameter.type)
            if one is None or parameter.type in own:
                break
            pointer, const = parameter.pointer or one.pointer, parameter.const or (one.const and one.pointer)
            parameter = replace(parameter, type=one.type, pointer=pointer, const=const)
        return parameter

    return replace(function, parameters=tuple(map(meant, function.parameters)))
