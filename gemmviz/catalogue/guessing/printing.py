"""Kernels that only print, such as the addresses that a product would read: they are no products."""

import re
from dataclasses import replace

from gemmviz.catalogue.declarations import macros
from gemmviz.catalogue.guessing.guessed_matter import Guess
from gemmviz.catalogue.guessing.kernel_text import kernel_text
from gemmviz.catalogue.guessing.tokens import closing
from gemmviz.catalogue.plain_code import plain_code

_PRINTS = re.compile(r"\bprintf\s*\(")


def only_prints(made: Guess) -> int:
    """Return the line in which a kernel prints, if it uses its pointers for nothing else; 0 for all other kernels.

    A kernel that reads its matrices, or that has no statement, is unfinished: it is not one of these.

    Parameters
    ----------
    made
        The guess.
    """
    code = plain_code(made.text)
    kernel = kernel_text(replace(made, text=code))
    begin = code.find(kernel)
    body = kernel.partition("{")[2]
    first = _PRINTS.search(body)
    if first is None or made.structs or kernel == code:
        return 0
    rest = _without_prints(body)
    words, known = {*re.findall(r"\w+", rest)}, macros(code)
    words |= {word for name in words & known.keys() for word in known[name]}
    # Inline PTX may store without a name of C++.
    if words & {name for name, kind in made.parameters if kind.endswith("*")} or words & {"asm", "__asm__"}:
        return 0
    return code.count("\n", 0, begin + len(kernel) - len(body) + first.start()) + 1


def _without_prints(body: str) -> str:
    """Return a body without its calls of printf: what they compute is printed."""
    while found := _PRINTS.search(body):
        body = body[: found.start()] + body[closing(body, found.end() - 1) + 1 :]
    return body
