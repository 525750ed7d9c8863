"""The line of the source that is there to write an array which no thread has written."""

import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from gemmviz.catalogue.errors import FrontMatterError
from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.plain_code import plain_code
from gemmviz.trace.recording.recording import Recording

_INDICES = r"(?:\[(?:[^\[\]]|\[[^\[\]]*\])*\]\s*)+"
_FUNCTION = r"\b(?!\w*(?:prefetch|load)|(?:if|for|while|switch|return)\b)\w+"
_CLOSES = {"(": ")", "{": "}"}


def line_for_shared(recording: Recording, array: str) -> int:
    """Return the first line of a function that is there to write its shared array; 0 if none is.

    The line assigns to an element, or gives the address of one to a function as the first argument.
    """
    code = plain_code(recording.text, directives=False)
    declared = list(re.finditer(rf"__shared__[^;]*?\b{re.escape(array)}\s*\[[^;]*;", code))
    if len(declared) != 1:  # two functions may have arrays of one name
        return 0
    begin = declared[0].end()
    element = rf"\b{re.escape(array)}\s*{_INDICES}"
    return _first(code, begin, _end(code, begin, "{"), rf"{element}[-+*/]?=(?!=)|\(\s*&\s*{element},")


def line_for_result(recording: Recording) -> int:
    """Return a line of the kernel that is there to write its result; 0 if none is.

    It is the first one that assigns to an element, or else the last one that gives the matrix, or the address of an
    element, to a function. A pointer that begins in the matrix is taken for it, if no other pointer has its name.
    """
    code = plain_code(recording.text, directives=False)
    head = head_end(recording, code)
    closed = _end(code, head, "(")
    begin = code.find("{", closed) + 1
    if not head or not begin or ";" in code[closed:begin]:  # a declaration without a body
        return 0
    end = _end(code, begin, "{")
    of_result = [re.escape(name) for name in _result_parameters(recording, code[head:closed])]
    if not of_result:
        return 0
    pointer = rf"(?<!const )\b\w+\s*\*\s*(\w+)\s*=\s*&?\s*(?:{'|'.join(of_result)})\b"
    inside = [name for name in re.findall(pointer, code[begin:end]) if _is_one(name, code[begin:end])]
    names = "|".join([*of_result, *inside])
    at = rf"\*\s*(?:\([^();]*\*\s*\)\s*)?(?:\(\s*)?(?:{names})\b[^;=]*"
    assigns = rf"\b(?:{names})\s*{_INDICES}[-+*/]?=(?!=)|(?<!\w ){at}=(?!=)"
    hands = rf"{_FUNCTION}(?:<[^;<>]*>)?\([^;{{}}()]*(?<![\w.])(?:{names})\b"
    return _first(code, begin, end, assigns) or _last(code, begin, end, hands)


def head_end(recording: Recording, code: str) -> int:
    """Return where the parameters of the kernel's function begin in a text, 0 if it is not found."""
    name = re.split(r"[\s<]", recording.label)[0].rpartition("::")[2]
    found = re.search(rf"\b{re.escape(name)}\s*\(", code)
    return found.end() if found else 0


def _result_parameters(recording: Recording, parameters: str) -> Iterator[str]:
    """Yield the names of the parameters that are the matrix of the result, or its tensor map."""
    with suppress(FrontMatterError):
        kernel = parse(recording.text, Path("kernel.c" if recording.backend == "c" else "kernel.cu"))
        named = [re.findall(r"\w+", one) for one in _apart(parameters)]
        if not kernel.structs and len(named) == len(kernel.args):
            for words, role in zip(named, kernel.args, strict=True):
                if words and role.partition(".")[0] == ("D" if kernel.has_d else "C"):
                    yield words[-1]


def _is_one(pointer: str, body: str) -> bool:
    """Return whether a pointer of that name is declared only once in a function."""
    return len(re.findall(rf"\w\s*\*\s*{pointer}\s*=", body)) == 1


def _apart(parameters: str) -> list[str]:
    """Return the parameters of a list, which commas separate outside of brackets."""
    depth, found = 0, [""]
    for sign in parameters:
        depth += (sign in "(<[{") - (sign in ")>]}")
        if sign == "," and not depth:
            found.append("")
        else:
            found[-1] += sign
    return found


def _end(code: str, begin: int, opened: str) -> int:
    """Return where the bracket closes that was opened before a place."""
    depth, end = 1, begin
    while depth and end < len(code):
        depth += (code[end] == opened) - (code[end] == _CLOSES[opened])
        end += 1
    return end - 1 if not depth else end


def _first(code: str, begin: int, end: int, pattern: str) -> int:
    """Return the line of the first match in a part of a text, 0 without one."""
    found = re.search(pattern, code[begin:end])
    return code.count("\n", 0, begin + found.start()) + 1 if found else 0


def _last(code: str, begin: int, end: int, pattern: str) -> int:
    """Return the line of the last match in a part of a text, 0 without one."""
    return max((code.count("\n", 0, begin + f.start()) + 1 for f in re.finditer(pattern, code[begin:end])), default=0)
