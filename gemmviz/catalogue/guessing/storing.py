"""Whether a kernel stores anything: an exercise that somebody has begun may only declare its variables."""

from itertools import pairwise

from gemmviz.catalogue.guessing.flaw import Flaw
from gemmviz.catalogue.guessing.functions import Function
from gemmviz.catalogue.guessing.guessed_matter import Guess
from gemmviz.catalogue.guessing.kernel_text import kernel_line
from gemmviz.language import tr

_ASSIGNS = frozenset({"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "++", "--"})
_ASM = frozenset({"asm", "__asm__", "__asm"})
# Words in front of a bracket that are no call, or a call that stores nothing.
_STORES_NOTHING = frozenset(
    {"if", "for", "while", "switch", "return", "sizeof", "alignof", "min", "max", "printf", "assert", "ceil", "floor"}
    | {"int", "unsigned", "float", "size_t", "alignas", "__align__"}
    | {"__syncthreads", "__syncwarp", "__cvta_generic_to_shared"}
    | {"static_cast", "reinterpret_cast", "const_cast"}
)


def stores_nothing(kernel: Function) -> bool:
    """Return whether no statement of a kernel can store an element of an array. A call of an unknown function may.

    Parameters
    ----------
    kernel
        As it is written, without the bodies of the functions that it calls.
    """
    body = kernel.body
    if not _ASM.isdisjoint(body):
        return False
    for at, (word, behind) in enumerate(pairwise(body)):
        called = _before_angles(body, at) if word in (">", ">>") else word  # ``store<16>(`` is a call, too
        if behind == "(" and called.isidentifier() and called not in _STORES_NOTHING:
            return False
        if behind in _ASSIGNS and (word in ("]", ")") or _is_reached(body, at)):
            return False
        if word in ("++", "--") and behind in ("*", "("):
            return False
        if word == "&" and behind.isidentifier() and body[at + 2 : at + 3] in (("=",), (":",), ("{",)):
            return False  # a reference: who assigns to it may store an element
    return True


def _before_angles(body: tuple[str, ...], at: int) -> str:
    """Return the word before the template arguments that end at a place; nothing where none begin."""
    depth = 0
    for place in range(at, 0, -1):
        depth += (body[place] == ">") + 2 * (body[place] == ">>") - (body[place] == "<")
        if depth == 0:
            return body[place - 1]
    return ""


def _is_reached(body: tuple[str, ...], at: int) -> bool:
    """Return whether a name is reached through another one: ``c->x = 1``, ``*c = 1``; not in ``float *c = a``."""
    before = body[at - 1] if at else ""
    return before in (".", "->") or (before == "*" and (at < 2 or not body[at - 2].isidentifier()))


def storing_nothing(made: Guess, kernel: Function) -> tuple[Flaw, ...]:
    """Return the flaw of a kernel that stores nothing; none for another kernel."""
    if not stores_nothing(kernel):
        return ()
    return (Flaw("another result", kernel_line(made), tr("the kernel stores nothing: nothing computes C")),)
