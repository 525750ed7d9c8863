"""Splits C and CUDA into tokens, and splits lists of tokens."""

import itertools
import re
from collections.abc import Iterable, Sequence

_COMMENT_OR_STRING = re.compile(
    r'//[^\n]*|/\*.*?(?:\*/|\Z)|"(?:\\.|[^"\\\n])*"|(?<![\w])\'(?:\\.|[^\'\\\n])*\'', re.DOTALL
)
_TOKEN = re.compile(
    r"[A-Za-z_]\w*|0[xX][0-9a-fA-F]+[uUlL]*|\d+\.?\d*(?:[eE][+-]?\d+)?[fFuUlL]*"
    r"|<<<|>>>|<<=|>>=|<<|>>|<=|>=|==|!=|&&|\|\||\+\+|--|\+=|-=|\*=|/=|%=|&=|\|=|->|::|[^\s\w]"
)
_LINE_END = re.compile(r"\\?\n")
_SEPARATED = re.compile(r"\b(?:0[xX][0-9a-fA-F]+(?:'[0-9a-fA-F]+)+|\d+(?:'\d+)+)")
OPEN, CLOSE = {"(": ")", "[": "]", "{": "}"}, {")", "]", "}"}
# A longer file is cut off here: a kernel is short, and guessing must end soon.
LONGEST = 400_000
MOST_TOKENS = 200_000
LONGEST_BRACKET = 15_000
_MOST_DIGITS = 19  # of an integer of 64 bits; Python refuses to read, and to write, one of thousands


def integer(digits: str) -> int | None:
    """Return the integer that decimal digits of a user's text are; None where it has more digits than 64 bits have."""
    return int(digits) if digits.isdecimal() and len(digits) <= _MOST_DIGITS else None


def split(tokens: Iterable[str], separator: str = ",") -> list[tuple[str, ...]]:
    """Split tokens at a separator outside all brackets; no tokens give no parts."""
    parts: list[tuple[str, ...]] = []
    part: list[str] = []
    depth = 0
    for token in tokens:
        depth += (token in OPEN) - (token in CLOSE)
        if token == separator and depth <= 0:
            parts.append(tuple(part))
            part = []
        else:
            part.append(token)
    return [*parts, tuple(part)] if part or parts else []


def split_arguments(tokens: Sequence[str]) -> list[tuple[str, ...]]:
    """Split template arguments: the commas of an argument that is a template with arguments do not count."""
    parts: list[tuple[str, ...]] = []
    waiting: tuple[str, ...] = ()
    for part in split(tokens):
        waiting += (",", *part) if waiting else part
        if waiting.count("<") <= waiting.count(">") + 2 * waiting.count(">>"):
            parts.append(waiting)
            waiting = ()
    # A bracket that nothing closes compares two numbers.
    return split(tokens) if waiting else parts


def split_text(text: str) -> tuple[str, ...]:
    """Split a list in a user's text at the commas outside all brackets, and drop empty parts."""
    parts, depth, part = [], 0, ""
    for letter in text:
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and depth <= 0:
            parts.append(part)
            part = ""
        else:
            part += letter
    return tuple(p.strip() for p in (*parts, part) if p.strip())


def closing(tokens: Sequence[str], start: int) -> int:
    """Return the position of the bracket that closes the one at `start`; the number of tokens if none does."""
    depth = 0
    for at in range(start, min(start + LONGEST_BRACKET, len(tokens))):
        depth += (tokens[at] in OPEN) - (tokens[at] in CLOSE)
        if depth == 0:
            return at
    return len(tokens)


def angles(body: Sequence[str], at: int) -> tuple[list[tuple[str, ...]], int]:
    """Return the template arguments that begin at a place, ``<A<1>, 2>`` too, and the place behind them."""
    depth = 0
    for end in range(at, min(at + 200, len(body))):
        depth += (body[end] == "<") - (body[end] == ">") - 2 * (body[end] == ">>")
        if depth <= 0 or body[end] in (";", "{"):
            return (split_arguments(body[at + 1 : end]), end + 1) if end > at and depth <= 0 else ([], at)
    return [], at


def tokens_of(text: str) -> tuple[str, ...]:
    """Return the tokens of a piece of code."""
    plain = _SEPARATED.sub(lambda number: number[0].replace("'", ""), text)
    return tuple(_TOKEN.findall(plain)[:MOST_TOKENS])


def without_comments(text: str) -> str:
    """Return the text with the same lines, but without comments and with empty strings."""
    return _COMMENT_OR_STRING.sub(_without, text)


def _without(found: re.Match[str]) -> str:
    begin = found[0][0]
    # A comment in a macro may have several lines: then the macro goes on behind it.
    ends = "".join(_LINE_END.findall(found[0])) if found[0].startswith("/*") else "\n" * found[0].count("\n")
    return '""' if begin == '"' else "0" if begin == "'" else " " + ends


def with_whole_launches(text: str) -> str:
    """Return a text in which the brackets of launches are whole: some editors write ``<< <grid, block >> >``.

    Two brackets in front of a launch end two lists of template arguments: ``gemm<Tile<64, 8>><<<grid, block>>>``.
    """
    text = re.sub(r"<<[ \t]+<|<[ \t]+<<", "<<<", text)
    text = re.sub(r">{2,}(?=\s*<<<)", lambda found: " ".join(found[0]), text)
    return re.sub(r">>[ \t]+>(?=\s*\()|>[ \t]+>>(?=\s*\()", ">>>", text)


def numbered(text: str) -> tuple[list[str], list[int]]:
    """Return the tokens of a text and the line of each; ``<< <`` counts as ``<<<``."""
    text = with_whole_launches(text)
    tokens, lines, line, before = [], [], 1, 0
    for found in _TOKEN.finditer(text):
        line += text.count("\n", before, found.start())
        before = found.start()
        tokens.append(found[0])
        lines.append(line)
        if len(tokens) >= MOST_TOKENS:
            break
    return tokens, lines


def is_whole(value: tuple[str, ...]) -> bool:
    """Return whether tokens may be a whole-number constant: numbers, names, arithmetic. A type is none."""
    named = value[-1:] and value[-1] in _TYPES and all(map(str.isidentifier, value))
    return (
        bool(value)
        and not named
        and all(re.fullmatch(r"(?:0[xX][0-9a-fA-F]+|\d+)[uUlL]*|[A-Za-z_]\w*|[-+*/%()]|<<|>>", t) for t in value)
    )


def is_computed(value: tuple[str, ...]) -> bool:
    """Return whether tokens may be a whole number that has a choice in it: ``a > b ? a : b``, ``std::max(a, b)``."""
    calls = (word for word, behind in itertools.pairwise(value) if behind == "(" and word.isidentifier())
    return all(word in _COMPUTE for word in calls) and is_whole(tuple(t for t in value if t not in _CHOOSING))


def partners(tokens: list[str]) -> list[int]:
    """Return the position of the closing bracket for each opening bracket; the number of tokens for other tokens."""
    found, waiting = [len(tokens)] * len(tokens), []
    for at, token in enumerate(tokens):
        if token in OPEN:
            waiting.append(at)
        elif token in CLOSE and waiting:
            found[waiting.pop()] = at
    return found


_TYPES = {
    *("float", "double", "half", "__half", "half2", "__half2", "nv_half", "__nv_half", "nv_half2", "__nv_half2"),
    *("__nv_bfloat16", "nv_bfloat16", "__nv_bfloat162", "nv_bfloat162", "__nv_fp8_e4m3", "__nv_fp8_e5m2"),
    *("int", "unsigned", "long", "short", "char", "bool", "size_t", "float2", "float4", "double2", "void"),
    *(f"{sign}int{bits}_t" for sign in ("", "u") for bits in (8, 16, 32, 64)),
}
_COMPUTE = {"max", "min", "sizeof", "int", "size_t", "unsigned", "ceil", "floor"}
_CHOOSING = {"?", ":", "<", ">", "<=", ">=", "==", "::", ","}
