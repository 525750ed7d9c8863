"""Loops of a kernel that never end in thread (0, 0, 0), whatever the launch: their step is an index of the thread."""

import re
from collections.abc import Sequence

from gemmviz.catalogue.guessing.flaw import Flaw
from gemmviz.catalogue.guessing.functions import Function
from gemmviz.catalogue.guessing.guessed_matter import Guess
from gemmviz.catalogue.guessing.kernel_text import kernel_line, kernel_text
from gemmviz.catalogue.guessing.roles import WHOLE
from gemmviz.catalogue.guessing.tokens import closing
from gemmviz.language import tr

# Before a loop: it may not be reached. In a loop: it may be left.
_MAY_SKIP = {"if", "while", "do", "switch", "?", "&&", "||"}
_LEAVES = {"return", "break", "goto", "asm", "__asm__", "__trap"}
# Values that are 0 in thread (0, 0, 0).
_ZERO = {"0", "+", "(", ")", "threadIdx", ".", "x", "y", "z"}
_CHANGES = {"=", "+=", "-=", "*=", "/=", "%=", "<<=", ">>=", "&=", "|=", "^=", "++", "--"}


def endless(made: Guess, kernel: Function) -> tuple[Flaw, ...]:
    """Return the first loop of a kernel whose step is 0 in thread (0, 0, 0), which it reaches and does not leave.

    Parameters
    ----------
    made, kernel
        The guess for a kernel, and the kernel.
    """
    body = kernel.body
    sizes = {one.name for one in kernel.parameters if one.type in WHOLE and not one.pointer}
    for at in (i for i, token in enumerate(body) if token == "for" and body[i + 1 : i + 2] == ("(",)):
        end = closing(body, at + 1)
        name, axis = _stepped(body[at + 2 : end], sizes)
        if name and (_MAY_SKIP | _LEAVES).isdisjoint(body[:at]) and not _is_left(_inside(body, end + 1), name):
            step = f"threadIdx.{axis}"
            said = tr("the loop over {name} has no end in thread (0, 0, 0): its step {step} is 0", name=name, step=step)
            return (Flaw("no end", _line(made, name, axis), said),)
    return ()


def _stepped(head: Sequence[str], sizes: set[str]) -> tuple[str, str]:
    """Return the variable and the axis of ``int i = 0; i < n; i += threadIdx.x``, whose n is a size; "" for others."""
    parts = " ".join(head).split(" ; ")
    step = re.fullmatch(r"(\w+) \+= threadIdx \. ([xyz])", parts[-1])
    if len(parts) != 3 or not step:
        return "", ""
    first = re.fullmatch(rf"(?:\w+ )*{step[1]} = (.*)", parts[0])
    asked = re.fullmatch(rf"{step[1]} <=? (\w+)", parts[1])
    starts = first is not None and {*first[1].split()} <= _ZERO
    return (step[1], step[2]) if starts and asked and asked[1] in sizes else ("", "")


def _inside(body: Sequence[str], at: int) -> Sequence[str]:
    """Return the statement behind the head of a loop."""
    if body[at : at + 1] == ("{",):
        return body[at : closing(body, at)]
    end = next((i for i in range(at, len(body)) if body[i] == ";"), len(body))
    return body[at:end]


def _is_left(inside: Sequence[str], name: str) -> bool:
    """Return whether the statements of a loop may leave it, or change its variable."""
    near = [(inside[i - 1], inside[i + 1]) for i in range(1, len(inside) - 1) if inside[i] == name]
    changed = any(before in ("++", "--", "&") or behind in _CHANGES for before, behind in near)
    return changed or not _LEAVES.isdisjoint(inside)


def _line(made: Guess, name: str, axis: str) -> int:
    """Return the line of a loop in the file, from 1; the kernel's own where a macro has the loop."""
    text = kernel_text(made)
    found = re.search(rf"\bfor\s*\([^;{{}}]*;[^;{{}}]*;\s*{name}\s*\+=\s*threadIdx\s*\.\s*{axis}\s*\)", text)
    return kernel_line(made) + (text.count("\n", 0, found.start()) if found else 0)
