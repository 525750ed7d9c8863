"""Statements of inline PTX that declare registers with the names that the compiler gives.

In a block of braces such a name hides the compiler's register, and the compiler may have put an operand of the same
statement there. Only the compiler's PTX shows whether it has: this is a warning, and no finding.
"""

import re
from collections.abc import Iterator

from gemmviz.catalogue.plain_code import plain_code, without_comments
from gemmviz.language import tr

_STATEMENT = re.compile(r"\b(?:asm|__asm|__asm__)\b(?:\s*(?:volatile|__volatile__|goto))*\s*\(")
_DECLARATION = re.compile(r"\.reg\s*\.\w+\s+([^;\"]*)")
# Of predicates, of whole numbers of 16, 32, 64 and 128 bits, and of floats of 16, 32 and 64 bits.
_COMPILERS = re.compile(r"%%?(?:p|rs|r|rd|rq|h|hh|f|fd)(?:\d+|<\s*\d+\s*>)(?!\w)")
_OPERAND = re.compile(r"(?<!%)%\d")
_BRACKET = re.compile(r"[()]")


def hidden_registers(text: str, file: str) -> Iterator[str]:
    """Yield a sentence for each statement with operands that declares registers with the compiler's names.

    Parameters
    ----------
    text, file
        A source, and its name for people.
    """
    if ".reg" not in text:
        return
    code, whole = plain_code(text), without_comments(text)
    for statement in _STATEMENT.finditer(code):
        said = whole[statement.start() : _end(code, statement.end() - 1)]
        if not _OPERAND.search(said):
            continue
        for declared in _DECLARATION.finditer(said):
            name = _COMPILERS.search(declared[1])
            if name:
                place = statement.start() + declared.start(1) + name.start()
                yield tr(
                    "{file}:{line}: {name} may hide a register of the compiler, which gives such names, and an operand "
                    "may be in it: C may be wrong on a GPU, and a recording does not show it. Choose other names",
                    file=file,
                    line=text.count("\n", 0, place) + 1,
                    name=name[0].replace("%%", "%"),
                )
                break


def _end(code: str, opening: int) -> int:
    depth = 0
    for bracket in _BRACKET.finditer(code, opening):
        depth += 1 if bracket[0] == "(" else -1
        if not depth:
            return bracket.end()
    return len(code)
