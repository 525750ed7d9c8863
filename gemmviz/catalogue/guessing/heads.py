"""The head of a function: its template, its launch bounds, its parameters."""

import re

from gemmviz.catalogue.guessing.functions import Parameter
from gemmviz.catalogue.guessing.tokens import closing, split

_QUALIFIERS = {
    *("const", "volatile", "restrict", "__restrict__", "__restrict", "struct", "register", "__grid_constant__"),
    *("typename", "unsigned", "signed"),
}


def head_of(tokens: list[str], name: int) -> list[str]:
    """Return the tokens between the end of the previous declaration and a function's name."""
    start = name
    while start > 0 and tokens[start - 1] not in (";", "}", "{"):
        start -= 1
    return tokens[start:name]


def bounds_of(head: list[str]) -> tuple[str, ...]:
    """Return the tokens of the first argument of ``__launch_bounds__``; nothing without one."""
    if "__launch_bounds__" not in head:
        return ()
    at = head.index("__launch_bounds__") + 1
    parts = split(head[at + 1 : closing(head, at)]) if head[at : at + 1] == ["("] else []
    bound: tuple[str, ...] = ()
    for part in parts:  # a type may have commas: Traits<64, 32>::THREADS
        bound += (",", *part) if bound else part
        if bound.count("<") == bound.count(">"):
            return bound
    return ()


def template_of(head: list[str]) -> tuple[tuple[str, str, str], ...]:
    """Return kind, name and default of each parameter of a template."""
    if "template" not in head:
        return ()
    at = head.index("template") + 1
    depth, end = 0, at
    for end in range(at, len(head)):
        depth += (head[end] == "<") - (head[end] == ">") - 2 * (head[end] == ">>")
        if depth <= 0:
            break
    found = []
    for part in split(head[at + 1 : end]):
        default = part[part.index("=") + 1 :] if "=" in part else ()
        words = [w for w in (part[: part.index("=")] if "=" in part else part) if re.match(r"[A-Za-z_]", w)]
        if len(words) >= 2:
            kind = "typename" if words[0] in ("typename", "class") else words[-2]
            found.append((kind, words[-1], " ".join(default)))
    return tuple(found)


def parameter_of(part: tuple[str, ...]) -> Parameter:
    """Return the parameter that tokens between commas declare."""
    part = part[: part.index("=")] if "=" in part else part
    pointer = "*" in part or "[" in part
    front = part[: part.index("*")] if "*" in part else part
    words = [w for w in part[: part.index("[")] if re.match(r"[A-Za-z_]", w)] if "[" in part else []
    words = words or [w for w in part if re.match(r"[A-Za-z_]", w)]
    kind = [w for w in words if w not in _QUALIFIERS]
    if len(kind) == 1 and not {"unsigned", "signed"} & set(words):
        return Parameter("", kind[0], pointer, "const" in front)
    return Parameter(kind[-1] if kind else "", kind[-2] if len(kind) > 1 else "int", pointer, "const" in front)
