"""Matrices as structures with a template's type and with functions: they are read as plain structures.

``template <class T> struct View { T *data; int cols; T &operator()(int r, int c) { return data[r * cols + c]; } }``
is read as ``struct View { float *data; int cols; }``, and ``A(i, k)`` as ``A.data[i * A.cols + k]``.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from gemmviz.catalogue.guessing.roles import DTYPES, REAL, WHOLE

_HEAD = re.compile(
    r"(?:\btemplate\s*<\s*(?:typename|class)\s+(?P<type>\w+)\s*>\s*)?"
    r"\b(?:struct|class)\s+(?:alignas\s*\(\w+\)\s*)?(?P<name>\w+)\s*\{"
)
_KERNEL = re.compile(r"__global__([^;{}]{0,2000})[;{]")
_LONGEST = 4000  # letters of a structure
_MOST_USES = 400
# The head of a function: qualifiers, type, name, parameters.
_FUNCTION = re.compile(
    r"(?:(?<=[;{}:])|^)(?P<head>[\w\s:*&<>,]*?)(?P<name>operator\s*(?:\(\s*\)|\S{1,2})|~?\w+)\s*"
    r"\((?P<parameters>[^(){};]*)\)(?P<tail>[\s\w]*(?::[^{};]*)?(?:=\s*(?:default|delete)\s*)?)(?P<end>[{;])"
)
_ACCESS = re.compile(r"\b(?:public|private|protected)\s*:(?!:)")
_RETURNED = re.compile(r"\s*(?:return\s+([^;{}]+)|([^;{}=]+=[^;{}=]+));\s*")
_SET = re.compile(r"(\w+)\s*[({]\s*(\w+)\s*[)}]")
_VALUE = re.compile(r"\s*=\s*[^,;=]+(?=[,;])")
_TYPES = {*DTYPES, *REAL, *WHOLE}


@dataclass(frozen=True)
class _Access:
    """A function of a structure that returns or sets an element: its parameters, and the text of that."""

    parameters: tuple[str, ...]
    element: str


def plain_views(texts: Sequence[str]) -> list[str]:
    """Return texts with plain structures in the place of such structures, and with elements in the place of calls.

    Only structures that a kernel takes are changed. Lines keep their numbers.

    Parameters
    ----------
    texts
        A file and its headers, without comments. A structure in one may be used in another.
    """
    found = list(texts)
    heads = " ".join(head for text in texts for head in _KERNEL.findall(text))
    for number, text in enumerate(texts):
        for head in _HEAD.finditer(text):
            end = _closing(text, head.end() - 1)
            whole = text[head.start() : end]
            taken = re.search(rf"\b{head['name']}\b", heads) and "<<<" not in whole
            if not taken or "*" not in whole or len(whole) > _LONGEST or not (head["type"] or "(" in whole):
                continue
            kind = _only_type(head["name"], head["type"], found) if head["type"] else ""
            made = _plain(text[head.end() : end - 1], head["name"], head["type"] or "", kind)
            if made is None or (head["type"] and not kind):
                continue
            members, functions = made
            inner = f"struct {head['name']} {{{members}}}"
            inner += "\n" * (whole.count("\n") - inner.count("\n"))
            found[number] = found[number].replace(whole, inner, 1)
            if head["type"]:
                use = re.compile(rf"\b{head['name']}\s*<[^<>;(){{}}]*>")
                found = [use.sub(head["name"], one) for one in found]
            found = [_with_elements(one, head["name"], functions) for one in found]
    return found


def _only_type(name: str, parameter: str, texts: Sequence[str]) -> str:
    """Return the one type for which a template is used; nothing where there are several, or none."""
    given = [use for text in texts for use in re.findall(rf"\b{name}\s*<([^<>;(){{}}]*)>", text)]
    kinds = {" ".join(word for word in re.findall(r"\w+", one) if word != "const") for one in given[:_MOST_USES]}
    known = kinds & _TYPES
    return known.pop() if len(known) == 1 and all(k in _TYPES or len(k.split()) == 1 for k in kinds) else ""


def _plain(body: str, name: str, parameter: str, kind: str) -> tuple[str, dict[str, _Access]] | None:
    """Return the members of a structure without its functions, and the functions that return or set an element.

    The members stand in the order in which its constructor takes them.
    """
    body = _ACCESS.sub(lambda found: ";" + " " * (len(found[0]) - 1), body)
    functions: dict[str, _Access] = {}
    order: list[str] = []
    parts: list[str] = []
    at = 0
    for function, end in _functions(body):
        if function.start("head") < at:
            continue
        parts.append(body[at : function.start("head")])
        inside = body[function.end("end") : end - 1] if function["end"] == "{" else ""
        parts.append("\n" * body.count("\n", function.start("head"), end))
        at = end
        returned = _RETURNED.fullmatch(inside)
        names = tuple(re.findall(r"(\w+)\s*(?:,|$)", function["parameters"]))
        called = re.sub(r"\s", "", function["name"])
        if called == name and names:
            sets = {value: member for member, value in _SET.findall(function["tail"])}
            order = [sets.get(one, "") for one in names]
        if returned and names and (called == "operator()" or called.isidentifier()):
            functions[called] = _Access(names, (returned[1] or returned[2]).strip())
    members = "".join([*parts, body[at:]])
    members = re.sub(r";(?:\s*;)+", lambda found: ";" + "\n" * found[0].count("\n"), members)
    members = re.sub(r"^\s*;", lambda found: "\n" * found[0].count("\n"), members)
    members = _VALUE.sub("", members)
    if "(" in members or "{" in members:
        return None
    members = _in_order(members, order)
    members = re.sub(rf"\b{parameter}\b", kind, members) if parameter and kind else members
    own = {*re.findall(r"(\w+)\s*[,;]", members)}
    for called, one in functions.items():
        # Only members get the name of the matrix in front; other words are macros, constants and functions.
        element = re.sub(
            r"(?<![\w.])[A-Za-z_]\w*", lambda word: f"@{word[0]}" if word[0] in own else word[0], one.element
        )
        functions[called] = _Access(one.parameters, element)
    return members, functions


def _in_order(members: str, order: Sequence[str]) -> str:
    """Return the members in another order, where it names each of them once."""
    found: dict[str, str] = {}
    for statement in filter(str.strip, members.split(";")):
        first, *others = statement.split(",")
        head = re.fullmatch(r"\s*((?:[\w:]+\s+|[\w:]+(?=\*))+?)([*\s]*(?:__restrict__\s+)?)(\w+)\s*", first)
        if head is None:
            return members
        found[head[3]] = f"{head[1].strip()} {head[2].strip()}{head[3]};"
        for other in others:
            found[other.strip(" *\n\t")] = f"{head[1].strip()} {other.strip()};"
    if sorted(order) != sorted(found):
        return members
    return " ".join(found[name] for name in order) + "\n" * members.count("\n")


def _functions(body: str) -> Iterator[tuple[re.Match[str], int]]:
    """Yield the functions of a structure, each with its end."""
    at = 0
    while function := _FUNCTION.search(body, at):
        at = _closing(body, function.end() - 1) if function["end"] == "{" else function.end()
        yield function, at


def _with_elements(text: str, name: str, functions: Mapping[str, _Access]) -> str:
    """Return a text in which calls of a structure's functions are the elements that they return."""
    if not functions:
        return text
    declared = re.findall(rf"\b{name}\s+(?:const\s*)?(?:&\s*)?(?:__restrict__\s+)?(\w+)\s*(?=[,)])", text)
    for own in dict.fromkeys(declared):
        for called, access in functions.items():
            call = rf"(?<![\w.>]){own}\s*" + (r"\(" if called == "operator()" else rf"(?:\.|->)\s*{called}\s*\(")
            text = _replaced(text, re.compile(call), own, access)
    return text


def _replaced(text: str, call: re.Pattern[str], own: str, access: _Access) -> str:
    parts: list[str] = []
    at = 0
    while (found := call.search(text, at)) and len(parts) < 2 * _MOST_USES:
        end = _closing(text, found.end() - 1)
        given = _arguments(text[found.end() : end - 1])
        if len(given) != len(access.parameters):
            parts.append(text[at : found.end()])
            at = found.end()
            continue
        values = dict(zip(access.parameters, given, strict=True))

        def value(word: re.Match[str], values: Mapping[str, str] = values) -> str:
            return f"({values[word[0]]})" if word[0] in values else word[0]

        element = re.sub(r"(?<![\w.@])[A-Za-z_]\w*", value, access.element).replace("@", f"{own}.")
        parts += [text[at : found.start()], element, "\n" * text.count("\n", found.start(), end)]
        at = end
    return "".join([*parts, text[at:]])


def _arguments(text: str) -> list[str]:
    found, depth, start = [], 0, 0
    for at, letter in enumerate(text):
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and not depth:
            found.append(text[start:at].strip())
            start = at + 1
    return [*found, text[start:].strip()]


def _closing(text: str, start: int) -> int:
    """Return the place behind the bracket that closes the one at a place."""
    depth = 0
    for at in range(start, len(text)):
        depth += (text[at] in "([{") - (text[at] in ")]}")
        if not depth:
            return at + 1
    return len(text)
