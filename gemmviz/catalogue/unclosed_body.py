"""A body without its closing brace: what follows it counts as a part of it, and a compiler names a later line."""

import re
from dataclasses import dataclass

from gemmviz.catalogue.plain_code import plain_code
from gemmviz.language import tr

_ELSE = re.compile(r"\s*#\s*(?:else|elif)\b")
_IF, _ENDIF = re.compile(r"\s*#\s*if(?P<never>\s+0\b)?"), re.compile(r"\s*#\s*endif\b")
_DIRECTIVE = re.compile(r"\s*#")
_NO_BODY = re.compile(r"\b(?:namespace|extern|class|struct|union|enum)\b[^;{}()]*$")
# At the left edge: the first words of a function.
_FUNCTION = re.compile(
    r"(?:__global__|__device__|__host__|template\s*<|(?:static\s+|inline\s+)*(?:int|void|float|bool)\s+\w+\s*\()"
)


@dataclass(frozen=True, slots=True)
class UnclosedBody:
    """A body that is not closed.

    Attributes
    ----------
    line
        Its first line.
    following
        The line where the next function begins at the left edge.
    """

    line: int
    following: int

    def __str__(self) -> str:
        """Return a sentence for the user."""
        return tr(
            "a closing brace is missing: the body that begins in line {line} is not closed before line {following}",
            line=self.line,
            following=self.following,
        )


def unclosed_body(text: str) -> UnclosedBody | None:
    """Return the first body of a source that has no closing brace; None where braces are even, or no line shows it.

    Parameters
    ----------
    text
        C, C++ or CUDA. Of the branches of a condition of the preprocessor the first one counts.
    """
    opened: list[tuple[int, bool]] = []
    before = ""
    first: UnclosedBody | None = None
    for number, line in enumerate(first_branches(plain_code(text)), 1):
        bodies = [at for at, is_body in opened if is_body]
        if first is None and bodies and _FUNCTION.match(line):
            first = UnclosedBody(bodies[0], number)
        for sign in re.findall(r"[{}]|[^{}]+", line + "\n"):
            if sign == "{":
                opened.append((number, _NO_BODY.search(before) is None))
                before = ""
            elif sign == "}":
                if not opened:
                    return None
                opened.pop()
                before = ""
            else:
                before += sign
    return first if opened else None


def first_branches(code: str) -> list[str]:
    """Return the lines of a source, empty where a directive stands, or a further branch of a condition.

    Parameters
    ----------
    code
        The source, without comments and texts.
    """
    lines: list[str] = []
    depth, off = 0, 0  # conditions around this line, and the one whose further branch it is in
    never = continued = False
    for line in code.split("\n"):
        if found := _IF.match(line):
            depth += 1
            if found["never"] and not off:
                off, never = depth, True
        elif _ELSE.match(line):
            if never and off == depth:
                off, never = 0, False
            else:
                off = off or depth
        elif _ENDIF.match(line):
            off = 0 if off == depth else off
            depth -= 1
        directive = continued or _DIRECTIVE.match(line) is not None
        continued = directive and line.endswith("\\")
        lines.append("" if directive or off else line)
    return lines
