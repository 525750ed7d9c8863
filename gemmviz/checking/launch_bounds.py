"""Finds a launch with more threads per block than the kernel's ``__launch_bounds__`` allow.

CUDA C++ Programming Guide, "Launch Bounds": such a launch fails. The bound is an expression of the source, so it is
computed here from the template's arguments, the launch's macros, and the constants of the file and of its headers. If a
name in it has no known value, or several, there is no finding.
"""

import re
from collections.abc import Mapping

from gemmviz.backends.toolchain import with_own_headers
from gemmviz.catalogue.guessing.cxx import read_source
from gemmviz.catalogue.guessing.functions import Function
from gemmviz.catalogue.guessing.host.expressions import Node, read
from gemmviz.catalogue.guessing.tokens import split, tokens_of
from gemmviz.catalogue.launch import Launch
from gemmviz.catalogue.plain_code import plain_code
from gemmviz.language import tr
from gemmviz.trace.hazards import Finding

_WORD = "__launch_bounds__"
_DEEPEST = 30
_NUMBER = re.compile(r"(0[xX][0-9a-fA-F]+|\d+)[uUlL]*")


def launch_bounds_findings(job: Launch) -> list[Finding]:
    """Return the finding about a block with more threads than its kernel allows; none if it allows them.

    Parameters
    ----------
    job
        A launch of a CUDA kernel.
    """
    kernel = job.kernel
    if _WORD not in kernel.text:
        return []
    text = with_own_headers(kernel.text, kernel.path)
    name, _, arguments = job.entry.partition("<")
    source = read_source(text)
    found = [one for one in source.kernels if one.name.rpartition("::")[2] == name.rpartition("::")[2]]
    if len(found) != 1 or not found[0].bounds:
        return []
    once = {name: value for name, value in source.constants.items() if not _several(text, name)}
    given = _template(found[0], arguments.removesuffix(">"))
    values = once | {name: (str(value),) for name, value in (job.macros | job.constants).items()} | given
    bound = _value(read(found[0].bounds), values)
    if bound is None or bound <= 0 or job.threads <= bound:
        return []
    sentence = tr(
        "a block has {count} threads, and __launch_bounds__ allows {most} at most: a GPU refuses this launch",
        count=job.threads,
        most=bound,
    )
    return [Finding("too many threads", _line(kernel.text, name), sentence)]


def _several(text: str, name: str) -> bool:
    """Return whether a text defines a macro several times: conditions that are not known here choose one."""
    return len(re.findall(rf"^[ \t]*#[ \t]*define[ \t]+{name}\b", text, re.MULTILINE)) > 1


def _template(function: Function, arguments: str) -> dict[str, tuple[str, ...]]:
    """Return the tokens of each template argument of an entry."""
    given = [tuple(part) for part in split(tokens_of(arguments))] if arguments else []
    defaults = {name: tokens_of(default) for _, name, default in function.template if default}
    return defaults | {name: part for (_, name, _), part in zip(function.template, given, strict=False)}


def _value(node: Node, values: Mapping[str, tuple[str, ...]], depth: int = 0) -> int | None:
    """Return the value of an expression of whole numbers; None if it is not known."""
    if depth > _DEEPEST:
        return None
    match node:
        case ("number", text):
            number = _NUMBER.fullmatch(text)
            return int(number[1], 0) if number and not re.match(r"0\d", number[1]) else None
        case ("name", (name,), None, None) if name in values:
            return _value(read(values[name]), values, depth + 1)
        case ("cast", _, inside):
            return _value(inside, values, depth + 1)
        case ("unary", sign, inside):
            operand = _value(inside, values, depth + 1)
            return None if operand is None else {"-": -operand, "+": operand, "!": int(not operand)}.get(sign)
        case ("choice", asked, one, other):
            chosen = _value(asked, values, depth + 1)
            return None if chosen is None else _value(one if chosen else other, values, depth + 1)
        case ("binary", sign, left, right):
            return _joined(sign, _value(left, values, depth + 1), _value(right, values, depth + 1))
    return None


def _joined(sign: str, left: int | None, right: int | None) -> int | None:
    """Return the value of an operator between two whole numbers; None if one of them is not known."""
    if left is None or right is None or (min(left, right) < 0 and sign in ("/", "%", "<<", ">>")):
        return None
    match sign:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
        case "/" | "%":
            return None if not right else left // right if sign == "/" else left % right
        case "==" | "!=":
            return int((left == right) == (sign == "=="))
        case "<" | ">=":
            return int((left < right) == (sign == "<"))
        case ">" | "<=":
            return int((left > right) == (sign == ">"))
        case "&&":
            return int(bool(left and right))
        case "||":
            return int(bool(left or right))
        case "<<" | ">>" if right < 32:
            return left << right if sign == "<<" else left >> right
    return None


def _line(text: str, entry: str) -> int:
    """Return the line of the bounds in front of an entry's name, from 1; 0 if they are in a header."""
    code = plain_code(text)
    heads = [found.start() for found in re.finditer(rf"\b{re.escape(entry.rpartition('::')[2])}\s*\(", code)]
    for head in heads:
        at = code.rfind(_WORD, 0, head)
        if at >= 0 and not re.search(r"[;{}]", code[at:head]):
            return code.count("\n", 0, at) + 1
    return 0
