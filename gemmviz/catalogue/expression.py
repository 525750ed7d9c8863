"""Arithmetic on declared names, and nothing else: the form of grids and constraints in front matter."""

import ast
import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from gemmviz.catalogue.errors import FrontMatterError

Number = int | Fraction | bool
_Compiled = Callable[[Mapping[str, int]], Number]

_BINARY: dict[type[ast.operator], Callable[[Number, Number], Number]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: Fraction,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_COMPARE: dict[type[ast.cmpop], Callable[[Number, Number], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_FUNCTIONS: dict[str, Callable[..., Number]] = {"ceil": math.ceil, "floor": math.floor, "min": min, "max": max}
LONGEST = 200


@dataclass(frozen=True)
class Expression:
    """One expression of the front matter, checked when it is made and evaluated later.

    Division is exact (rational), so ``ceil(N / TS)`` is right for every integer. Conditions may be joined with
    ``and`` / ``or`` / ``not``.

    Parameters
    ----------
    text
        For example ``"ceil(N / TS)"`` or ``"M % TS == 0"``.

    Raises
    ------
    FrontMatterError
        When the text is anything but arithmetic, comparisons and ceil, floor, min, max on names and integers.
    """

    text: str

    def __post_init__(self) -> None:
        _read(self.text)

    def names(self) -> set[str]:
        """Return the names that need a value."""
        return set(_read(self.text)[1])

    def evaluate(self, values: Mapping[str, int]) -> Number:
        """Return the value of the expression.

        Parameters
        ----------
        values
            The value of each name.

        Raises
        ------
        FrontMatterError
            For a name without a value, and for a division by zero.
        """
        try:
            return _read(self.text)[0](values)
        except KeyError as error:
            raise FrontMatterError(f"{self.text!r} names {error.args[0]!r}, which is not declared") from None
        except ZeroDivisionError:
            raise FrontMatterError(f"{self.text!r} divides by zero") from None

    def integer(self, values: Mapping[str, int]) -> int:
        """Return the value as an integer; an expression with another value is refused.

        Raises
        ------
        FrontMatterError
            As `evaluate` does, and for a value that is not whole.
        """
        value = self.evaluate(values)
        if value != int(value):
            raise FrontMatterError(f"{self.text!r} is {_decimal(value)}, which is not a whole number")
        return int(value)


@lru_cache(maxsize=2048)  # most kernels have expressions of others
def _read(text: str) -> tuple[_Compiled, frozenset[str]]:
    """Return a checked text as a function of its names' values, and the names in it that need a value."""
    if len(text) > LONGEST:
        raise FrontMatterError(f"an expression of {len(text)} characters is too long")
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise FrontMatterError(f"{text!r} is not an expression") from None
    nodes = list(ast.walk(tree))
    for node in nodes:
        _check(node, text)
    return _compiled(tree.body), frozenset(node.id for node in nodes if isinstance(node, ast.Name)) - _FUNCTIONS.keys()


def _decimal(value: Number) -> str:
    try:
        return f"{float(value):g}"
    except OverflowError:
        return "huge"


def _check(node: ast.AST, text: str) -> None:
    allowed = (ast.Expression, ast.BinOp, ast.UnaryOp, ast.Compare, ast.BoolOp, ast.Name, ast.Load, ast.Call)
    signs = (ast.operator, ast.cmpop, ast.boolop, ast.USub, ast.Not)
    if isinstance(node, ast.Constant):
        fine = type(node.value) is int
    elif isinstance(node, ast.Call):
        fine = isinstance(node.func, ast.Name) and node.func.id in _FUNCTIONS and not node.keywords
    elif isinstance(node, ast.operator):
        fine = type(node) in _BINARY
    elif isinstance(node, ast.cmpop):
        fine = type(node) in _COMPARE
    else:
        fine = isinstance(node, (*allowed, *signs))
    if not fine:
        raise FrontMatterError(f"{text!r} may hold only arithmetic on names and integers, ceil, floor, min and max")


def _compiled(node: ast.expr) -> _Compiled:
    """Return a function that evaluates a checked tree; to walk the tree for each of many sizes would take long."""
    match node:
        case ast.Constant(value=int(value)):
            return lambda values: value
        case ast.Name(id=name):
            return operator.itemgetter(name)
        case ast.BinOp(left=left, op=op, right=right):
            combine, one, other = _BINARY[type(op)], _compiled(left), _compiled(right)
            return lambda values: combine(one(values), other(values))
        case ast.UnaryOp(op=op, operand=operand):
            inner = _compiled(operand)
            if isinstance(op, ast.Not):
                return lambda values: not inner(values)
            return lambda values: -inner(values)
        case ast.BoolOp(op=op, values=nodes):
            # Short-circuits as in Python, so that "TS > 0 and M % TS == 0" never divides by zero.
            parts, join = [_compiled(part) for part in nodes], all if isinstance(op, ast.And) else any
            return lambda values: join(part(values) for part in parts)
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            compare, one, other = _COMPARE[type(op)], _compiled(left), _compiled(right)
            return lambda values: compare(one(values), other(values))
        case ast.Compare(left=left, ops=ops, comparators=rights):
            return _chain([_COMPARE[type(op)] for op in ops], [_compiled(term) for term in (left, *rights)])
        case ast.Call(
            func=ast.Name(id="ceil" | "floor" as name), args=[ast.BinOp(left=left, op=ast.Div(), right=right)]
        ):
            # Without a fraction on the way; this is exact, too.
            one, other = _compiled(left), _compiled(right)
            if name == "ceil":
                return lambda values: -(-one(values) // other(values))
            return lambda values: one(values) // other(values)
        case ast.Call(func=ast.Name(id=name), args=arguments):
            return _call(name, [_compiled(argument) for argument in arguments])
    raise FrontMatterError(f"cannot evaluate {ast.dump(node)}")


def _chain(compares: list[Callable[[Number, Number], bool]], terms: list[_Compiled]) -> _Compiled:
    def evaluate(values: Mapping[str, int]) -> bool:
        found = [term(values) for term in terms]
        return all(compare(a, b) for compare, a, b in zip(compares, found, found[1:], strict=False))

    return evaluate


def _call(name: str, arguments: list[_Compiled]) -> _Compiled:
    def evaluate(values: Mapping[str, int]) -> Number:
        try:
            return _FUNCTIONS[name](*(argument(values) for argument in arguments))
        except TypeError:
            raise FrontMatterError(f"{name}() has the wrong number of arguments") from None

    return evaluate
