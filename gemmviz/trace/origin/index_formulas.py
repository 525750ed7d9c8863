"""The formulas by which a thread computes its element of C: read from the store in the source, and evaluated.

Only formulas that agree with the recording are returned: each is evaluated for the thread that stored the element, and
has to give its row or column.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

from gemmviz.catalogue.matrices import C
from gemmviz.catalogue.plain_code import plain_code
from gemmviz.trace.distinct import distinct
from gemmviz.trace.recording.recording import Recording

_TYPE = r"(?:const\s+|constexpr\s+|unsigned\s+|long\s+)*(?:int|unsigned|size_t|auto|long|uint|uint32_t)"
_DECLARED = re.compile(rf"\b{_TYPE}\s+(\w+\s*=[^;{{}}]*);")
_CHANGED = r"(?:\+\+|--)\s*{0}\b|\b{0}\s*(?:\+\+|--|(?:[-+*/%&|^]|<<|>>)?=(?!=))"
_LOOP = re.compile(
    rf"\bfor\s*\(\s*{_TYPE}\s+(\w+)\s*=\s*([^;]+);\s*\1\s*<\s*([^;]+);\s*(?:\+\+\s*\1|\1\s*\+\+|\1\s*\+=\s*([^)]+))\)"
)
_BUILT_IN = re.compile(r"\b(blockIdx|threadIdx|blockDim|gridDim)\s*\.\s*([xyz])\b")
_CAST = re.compile(r"\(\s*(?:size_t|int|long|unsigned)\s*\)")
_MOST_LOOPED, _LONGEST = 4096, 64
_PLACES = {"blockIdx", "threadIdx"}
_BINDS = {ast.Add: 1, ast.Sub: 1, ast.Mult: 2, ast.FloorDiv: 2, ast.Mod: 2}
_OPERATORS = {ast.Add: "+", ast.Sub: "−", ast.Mult: "×", ast.FloorDiv: "/", ast.Mod: "mod"}


@dataclass(frozen=True)
class Formula:
    """A formula for a row or a column.

    Attributes
    ----------
    name
        The variable's name in the source; empty if there is none.
    text, values
        The expression as in the source, and the expression with the thread's values.
    result
        The row or column, from 0.
    """

    name: str
    text: str
    values: str
    result: int


def index_formulas(recording: Recording, row: int, column: int) -> tuple[Formula | None, Formula | None]:
    """Return the formulas of the row and of the column of an element of C.

    Parameters
    ----------
    recording
        The recording, whose text is read.
    row, column
        The element.

    Returns
    -------
    tuple
        None instead of a formula if nothing was stored, or if no formula in the text gives the recorded value.
    """
    block, thread = (int(of[row, column]) for of in recording.owners)
    if block < 0 or recording.backend != "cuda":
        return None, None
    log = recording.accesses
    stores = distinct(log.site[(log.array == C) & log.write])
    lines = tuple(sorted({recording.sites[site].line for site in stores.tolist()}))
    values = dict(recording.params) | {"M": recording.m, "N": recording.n, "K": recording.k}
    places = {"blockIdx": recording.block_index(block), "threadIdx": recording.thread_index(thread)}
    for name, place in (places | {"blockDim": recording.block, "gridDim": recording.grid}).items():
        values |= {f"{name}_{axis}": int(at) for axis, at in zip("xyz", (*place, 1, 1), strict=False)}
    known = _read(recording.text, lines)
    found = []
    for wanted, side in ((row, 0), (column, 1)):
        formulas = (_formula(pair[side], wanted, known, values) for pair in known.stores)
        found.append(next((formula for formula in formulas if formula is not None), None))
    return found[0], found[1]


@dataclass(frozen=True)
class _Source:
    """The parts of a text: the (row, column) of its stores, the values of its names, and the ranges of its loops."""

    stores: tuple[tuple[ast.expr, ast.expr], ...]
    named: Mapping[str, ast.expr]
    loops: Mapping[str, tuple[ast.expr, ast.expr, ast.expr]]


@lru_cache(maxsize=8)  # an edited text changes with each key
def _read(text: str, lines: tuple[int, ...]) -> _Source:
    code = _CAST.sub(" ", _BUILT_IN.sub(r"\1_\2", plain_code(text)))
    named = {}
    for declaration in _DECLARED.finditer(code):
        for name, _, value in (part.partition("=") for part in _parts(declaration[1])):
            parsed, name = _parsed(value), name.strip()
            # Such a name gets a value only in its declaration.
            if parsed is not None and len(re.findall(_CHANGED.format(re.escape(name)), code)) == 1:
                named[name] = parsed
    loops: dict[str, tuple[ast.expr, ast.expr, ast.expr]] = {}
    for loop in _LOOP.finditer(code):
        ends = _parsed(loop[2]), _parsed(loop[3]), _parsed(loop[4] or "1")
        if ends[0] is not None and ends[1] is not None and ends[2] is not None:
            loops.setdefault(loop[1], (ends[0], ends[1], ends[2]))
    stores = []
    rows = code.splitlines()
    for line in lines:
        for index in _indices(rows[line - 1] if line <= len(rows) else ""):
            stores += _split(index)
    return _Source(tuple(stores), named, loops)


def _parts(text: str) -> Iterator[str]:
    """Yield the declarations between commas that no bracket encloses."""
    depth, begin = 0, 0
    for at, letter in enumerate(text):
        depth += (letter in "([<") - (letter in ")]>")
        if letter == "," and depth == 0:
            yield text[begin:at]
            begin = at + 1
    yield text[begin:]


def _indices(line: str) -> Iterator[ast.expr]:
    """Yield the texts in square brackets after a name, on a line."""
    for opened in re.finditer(r"\w\s*\[", line):
        depth = 0
        for at in range(opened.end() - 1, len(line)):
            depth += (line[at] == "[") - (line[at] == "]")
            if depth == 0:
                parsed = _parsed(line[opened.end() : at])
                if parsed is not None:
                    yield parsed
                break


def _parsed(text: str) -> ast.expr | None:
    try:
        tree = ast.parse(text.strip().replace("//", "/").replace("/", "//"), mode="eval").body
    except SyntaxError:
        return None
    fine = (ast.BinOp, ast.Name, ast.Constant, ast.Load, *_OPERATORS)
    return tree if all(isinstance(node, fine) for node in ast.walk(tree)) else None


def _split(index: ast.expr) -> list[tuple[ast.expr, ast.expr]]:
    """Return the possible splits of an index into row times width plus column."""
    terms = list(_terms(index))
    found = []
    for at, term in enumerate(terms):
        rest = [other for number, other in enumerate(terms) if number != at]
        if isinstance(term, ast.BinOp) and isinstance(term.op, ast.Mult) and rest:
            column = rest[0]
            for other in rest[1:]:
                column = ast.BinOp(column, ast.Add(), other)
            found += [(term.left, column), (term.right, column)]
    return found


def _terms(node: ast.expr) -> Iterator[ast.expr]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        yield from _terms(node.left)
        yield from _terms(node.right)
    else:
        yield node


def _formula(node: ast.expr, wanted: int, known: _Source, values: Mapping[str, int]) -> Formula | None:
    name = node.id if isinstance(node, ast.Name) else ""
    whole = _filled(node, known.named, 0)
    if not {n.id.partition("_")[0] for n in ast.walk(whole) if isinstance(n, ast.Name)} & _PLACES:
        return None  # a loop counter alone does not depend on the thread
    free = sorted({n.id for n in ast.walk(whole) if isinstance(n, ast.Name)} - values.keys())
    for chosen in _choices(free, known, values):
        here = {**values, **chosen}
        if _value(whole, here) == wanted:
            text = _text(whole, {})
            if len(text) > _LONGEST:
                return None
            return Formula(name, text, _text(whole, here), wanted)
    return None


def _choices(free: list[str], known: _Source, values: Mapping[str, int]) -> Iterator[dict[str, int]]:
    """Yield values for the names that are loop counters; nothing if another name has no value."""
    ranges = []
    for name in free:
        ends = [_value(_filled(end, known.named, 0), values) for end in known.loops.get(name, ())]
        if len(ends) != 3 or any(end is None for end in ends) or not ends[2]:
            return
        ranges.append(range(ends[0] or 0, ends[1] or 0, ends[2]))
    for number, chosen in enumerate(product(*ranges)):
        if number >= _MOST_LOOPED:
            return
        yield dict(zip(free, chosen, strict=True))


def _filled(node: ast.expr, named: Mapping[str, ast.expr], depth: int) -> ast.expr:
    """Return an expression with its names replaced by their values."""
    if isinstance(node, ast.Name) and node.id in named and depth < 8:
        return _filled(named[node.id], named, depth + 1)
    if isinstance(node, ast.BinOp):
        return ast.BinOp(_filled(node.left, named, depth), node.op, _filled(node.right, named, depth))
    return node


def _value(node: ast.expr, values: Mapping[str, int]) -> int | None:
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, int) else None
    if isinstance(node, ast.Name):
        return values.get(node.id)
    if not isinstance(node, ast.BinOp):
        return None
    left, right = _value(node.left, values), _value(node.right, values)
    if left is None or right is None:
        return None
    match node.op:
        case ast.Add():
            return left + right
        case ast.Sub():
            return left - right
        case ast.Mult():
            return left * right
        case ast.FloorDiv():
            return left // right if right else None
    return left % right if right else None


def _text(node: ast.expr, values: Mapping[str, int], within: int = 0) -> str:
    """Return an expression as text for people, with values in place of names that have one."""
    if isinstance(node, ast.BinOp):
        binds = _BINDS[type(node.op)]
        # An operand after a minus, a multiplication or a division keeps its brackets; sums need none.
        closer = 0 if isinstance(node.op, ast.Add) else 1
        left, right = _text(node.left, values, binds), _text(node.right, values, binds + closer)
        formula = f"{left} {_OPERATORS[type(node.op)]} {right}"
        return f"({formula})" if binds < within else formula
    if isinstance(node, ast.Name):
        return str(values[node.id]) if node.id in values else re.sub(r"_([xyz])$", r".\1", node.id)
    return str(node.value) if isinstance(node, ast.Constant) else ""
