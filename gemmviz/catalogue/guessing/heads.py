"""The head of a function: its template, its launch bounds, its parameters."""

import re
from collections.abc import Iterable, Iterator, Sequence

from gemmviz.catalogue.guessing.functions import Parameter
from gemmviz.catalogue.guessing.tokens import closing, split

_QUALIFIERS = {
    *("const", "volatile", "restrict", "__restrict__", "__restrict", "struct", "register", "__grid_constant__"),
    *("typename", "unsigned", "signed"),
}
_NO_TYPE = {"__restrict__", "__restrict", "restrict", "__grid_constant__", "register"}
_LONGEST_TAIL = 200


def head_of(tokens: list[str], name: int) -> list[str]:
    """Return the tokens between the end of the previous declaration and a function's name."""
    start = name
    while start > 0 and tokens[start - 1] not in (";", "}", "{"):
        start -= 1
    return tokens[start:name]


def body_at(tokens: Sequence[str], at: int, partner: Sequence[int]) -> int:
    """Return the place of the bracket that opens a function's body; 0 where none does.

    Parameters
    ----------
    tokens, at
        The place behind the function's parameters.
    partner
        The place of the closing bracket for each opening one.
    """
    end = min(at + _LONGEST_TAIL, len(tokens))
    while at < end and tokens[at] in ("const", "noexcept", "override", "final", "&", "&&"):
        at += 1
    if tokens[at : at + 1] == ["->"]:  # the type of the result
        at = next((i for i in range(at, end) if tokens[i] in ("{", ";")), end)
    elif tokens[at : at + 1] == [":"]:  # the members that a constructor sets
        at += 1
        while at + 1 < end and tokens[at].isidentifier() and tokens[at + 1] in ("(", "{"):
            at = partner[at + 1] + 1
            at += tokens[at : at + 1] == [","]
    return at if at < end and tokens[at] == "{" else 0


def bounds_of(head: list[str]) -> tuple[str, ...]:
    """Return the tokens of the first argument of ``__launch_bounds__``; nothing without one."""
    whole = next(iter(_arguments(head, "__launch_bounds__")), ())
    return whole if whole.count("<") <= whole.count(">") + 2 * whole.count(">>") else ()


def clusters_of(head: list[str]) -> tuple[tuple[str, ...], ...]:
    """Return the tokens of each argument of ``__cluster_dims__``; nothing without it."""
    return tuple(_arguments(head, "__cluster_dims__"))


def _arguments(head: list[str], of: str) -> Iterator[tuple[str, ...]]:
    at = head.index(of) + 1 if of in head else len(head)
    return _joined(split(head[at + 1 : closing(head, at)]) if head[at : at + 1] == ["("] else [])


def _joined(parts: Iterable[tuple[str, ...]]) -> Iterator[tuple[str, ...]]:
    """Yield the parts between commas that stand in no angle brackets: ``Traits<64, 32>::THREADS`` is one."""
    whole: tuple[str, ...] = ()
    for part in parts:
        whole += (",", *part) if whole else part
        front = whole[: whole.index("=")] if "=" in whole else whole  # a default may compare
        if front.count("<") <= front.count(">") + 2 * front.count(">>"):
            yield whole
            whole = ()
    if whole:
        yield whole


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
    for part in _joined(split(head[at + 1 : end])):
        default = part[part.index("=") + 1 :] if "=" in part else ()
        front = part[: part.index("=")] if "=" in part else part
        words = [w for w in front if re.match(r"[A-Za-z_]", w)]
        if function := _function_of(front):
            found.append(("auto", function, " ".join(default)))
        elif len(words) >= 2:
            of_arguments = front[front.index("<") - 1] if "<" in front else ""  # OneOf<float, half> T
            kind = "typename" if words[0] in ("typename", "class") else of_arguments or words[-2]
            found.append((kind, words[-1], " ".join(default)))
    return tuple(found)


def _function_of(part: tuple[str, ...]) -> str:
    """Return the name of a pointer to a function, ``void (*run)(float *, int)``; "" for anything else."""
    at = next((i for i in range(len(part) - 3) if part[i] == "(" and part[i + 1] in "*&" and part[i + 3] == ")"), -1)
    return part[at + 2] if at > 0 and part[at + 4 : at + 5] == ("(",) else ""


def parameters_of(tokens: Sequence[str]) -> tuple[Parameter, ...]:
    """Return the parameters that the tokens between a function's brackets declare."""
    return tuple(_parameter(part) for part in _joined(split(tokens)) if part != ("void",))


def _parameter(part: tuple[str, ...]) -> Parameter:
    """Return the parameter that tokens between commas declare."""
    part = part[: part.index("=")] if "=" in part else part
    if function := _function_of(part):
        return Parameter(function, "auto", False, False, "auto")
    pointer = "*" in part or "[" in part
    front = part[: part.index("*")] if "*" in part else part
    words = [w for w in part[: part.index("[")] if re.match(r"[A-Za-z_]", w)] if "[" in part else []
    words = words or [w for w in part if re.match(r"[A-Za-z_]", w)]
    kind = [w for w in words if w not in _QUALIFIERS]
    alone = len(kind) == 1 and not {"unsigned", "signed"} & set(words)
    name = "" if alone or not kind else kind[-1]
    word = kind[0] if alone else kind[-2] if len(kind) > 1 else "int"
    # A byte without "unsigned" has a sign; of wider numbers the bits of sums and products are the same.
    word = f"unsigned {word}" if word == "char" and "unsigned" in words and pointer else word
    return Parameter(name, word, pointer, "const" in front, _declared(part, name))


def _declared(part: tuple[str, ...], name: str) -> str:
    """Return the type in a declaration: the tokens without the parameter's name; an array is a pointer."""
    whole = part[: part.index("[")] if "[" in part else part
    last = len(whole) - 1 - whole[::-1].index(name) if name in whole else len(whole)
    words = [word for at, word in enumerate(whole) if at != last and word not in _NO_TYPE]
    return " ".join(words) + " *" * ("[" in part)
