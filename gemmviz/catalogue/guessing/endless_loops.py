"""Loops of a kernel that never end in thread (0, 0, 0), whatever the launch.

Their step is an index of the thread, or goes away from the end of the loop.
"""

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
_ASSIGNS = {"=", "+=", "-=", "*=", "/=", "%=", "<<=", ">>=", "&=", "|=", "^=", "++", "--"}


def endless(made: Guess, kernel: Function) -> tuple[Flaw, ...]:
    """Return the first loop of a kernel that has no end in thread (0, 0, 0), which it reaches and does not leave.

    Parameters
    ----------
    made, kernel
        The guess for a kernel, and the kernel.
    """
    body = kernel.body
    sizes = {one.name for one in kernel.parameters if one.type in WHOLE and not one.pointer}
    for at in (i for i, token in enumerate(body) if token == "for" and body[i + 1 : i + 2] == ("(",)):
        end = closing(body, at + 1)
        name, axis, bound = _stepped(body[at + 2 : end], sizes)
        down = _counted_down(body[at + 2 : end])
        # Without curly brackets the loop is taken as all that follows.
        inside = body[end + 1 : closing(body, end + 1) if body[end + 1 : end + 2] == ("{",) else len(body)]
        left = not _LEAVES.isdisjoint(inside) or _changes(inside, name or down) or (name and _changes(body, bound))
        if down and (_MAY_SKIP | _LEAVES).isdisjoint(body[:at]) and not left:
            said = tr(
                "the loop over {name} has no end: {name} gets smaller, and the loop goes on below a bound", name=down
            )
            return (Flaw("no end", _line(made, rf"(?:{down}\s*--|--\s*{down})"), said),)
        if name and (_MAY_SKIP | _LEAVES).isdisjoint(body[:at]) and not left:
            step = f"threadIdx.{axis}"
            said = tr("the loop over {name} has no end in thread (0, 0, 0): its step {step} is 0", name=name, step=step)
            return (Flaw("no end", _line(made, rf"{name}\s*\+=\s*threadIdx\s*\.\s*{axis}"), said),)
    return ()


def _counted_down(head: Sequence[str]) -> str:
    """Return i of ``int i = 0; i < n; i--``; an empty text for another loop. A number without a sign begins again."""
    found = re.fullmatch(r"int (\w+) = 0 ; \1 <=? [^;]+ ; (?:\1 --|-- \1)", " ".join(head))
    return found[1] if found else ""


def _stepped(head: Sequence[str], sizes: set[str]) -> tuple[str, str, str]:
    """Return i, x and n of ``int i = 0; i < n; i += threadIdx.x``, where n is a size; empty texts for other loops."""
    parts = " ".join(head).split(" ; ")
    step = re.fullmatch(r"(\w+) \+= threadIdx \. ([xyz])", parts[-1])
    if len(parts) != 3 or not step:
        return "", "", ""
    first = re.fullmatch(rf"(?:\w+ )*{step[1]} = (.*)", parts[0])
    asked = re.fullmatch(rf"{step[1]} <=? (\w+)", parts[1])
    starts = first is not None and {*first[1].split()} <= _ZERO
    return (step[1], step[2], asked[1]) if starts and asked and asked[1] in sizes else ("", "", "")


def _changes(tokens: Sequence[str], name: str) -> bool:
    """Return whether a variable may get another value."""
    tokens = (";", *tokens, ";")
    near = [(tokens[i - 1], tokens[i + 1]) for i in range(1, len(tokens) - 1) if tokens[i] == name]
    return any(before in ("++", "--", "&") or behind in _ASSIGNS for before, behind in near)


def _line(made: Guess, step: str) -> int:
    """Return the line of the loop with a step in the file, from 1; the kernel's own where a macro has the loop."""
    text = kernel_text(made)
    found = re.search(rf"\bfor\s*\([^;{{}}]*;[^;{{}}]*;\s*{step}\s*\)", text)
    return kernel_line(made) + (text.count("\n", 0, found.start()) if found else 0)
