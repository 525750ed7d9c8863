"""Arithmetic on declared names, and nothing else: the form of grids and constraints in front matter."""

import ast
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from gemmviz.catalogue.errors import FrontMatterError
from gemmviz.language import tr

Number = int | Fraction | bool
Values = Mapping[str, Number | float]
_Compiled = Callable[[Values], Number]
_Assigning = Callable[[dict[str, Number | float]], None]

_OPERATORS = (
    *(ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod),
    *(ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE),
)
_FUNCTIONS: dict[str, Callable[..., Number]] = {"ceil": math.ceil, "floor": math.floor, "min": min, "max": max}
LONGEST = 200
_CHECKED_LATER = ContextVar("_CHECKED_LATER", default=False)


@dataclass(frozen=True)
class Expression:
    """One expression of the front matter, checked when it is made (but see `checked_later`) and evaluated later.

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
        if not _CHECKED_LATER.get():
            _names(self.text)

    def names(self) -> set[str]:
        """Return the names that need a value."""
        return set(_names(self.text))

    def evaluate(self, values: Values) -> Number:
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
            return _compiled(self.text)(values)
        except KeyError as error:
            raise not_declared(self.text, error.args[0]) from None
        except ZeroDivisionError:
            text = tr("{expression} divides by zero", expression=repr(self.text))
            raise FrontMatterError(text, about=self.text) from None

    def integer(self, values: Values) -> int:
        """Return the value as an integer; an expression with another value is refused.

        Raises
        ------
        FrontMatterError
            As `evaluate` does, and for a value that is not whole.
        """
        value = self.evaluate(values)
        if value != int(value):
            text = tr(
                "{expression} is {value}, which is not a whole number",
                expression=repr(self.text),
                value=_decimal(value),
            )
            raise FrontMatterError(text, about=self.text)
        return int(value)


def not_declared(text: str, name: str) -> FrontMatterError:
    """Return the error about an expression that uses a name without a value."""
    message = tr("{expression} names {name}, which is not declared", expression=repr(text), name=repr(name))
    return FrontMatterError(message, about=text)


def all_hold(expressions: Iterable[Expression]) -> Callable[[Values], bool]:
    """Return a function that says whether all conditions hold: to search a size with it is much quicker.

    The function takes the value of each name. It raises `FrontMatterError` as `Expression.evaluate` does, without a
    text for people.
    """
    test = _joined(tuple(expression.text for expression in expressions))

    def holds(values: Values) -> bool:
        try:
            return bool(test(values))
        except (KeyError, ZeroDivisionError) as error:
            raise FrontMatterError(str(error)) from None

    return holds


def in_order(
    named: Iterable[tuple[str, Expression]], exact: bool = True
) -> Callable[[dict[str, Number | float]], None]:
    """Return a function that evaluates expressions one after the other, much quicker than one by one.

    Parameters
    ----------
    named
        Names, each with its expression, which may use the names before it.
    exact
        Whether divisions are exact. Else they are floats, which is quicker still.

    The function takes the value of each other name, and adds the value of each of these. It raises `FrontMatterError`
    as `Expression.evaluate` does, without a text for people.
    """
    run = _assigned(tuple((name, expression.text) for name, expression in named), exact)

    def evaluate(values: dict[str, Number | float]) -> None:
        try:
            run(values)
        except (KeyError, ZeroDivisionError) as error:
            raise FrontMatterError(str(error)) from None

    return evaluate


@contextmanager
def checked_later() -> Iterator[None]:
    """Let expressions be made from texts that were checked before: each is checked again when it is first used."""
    token = _CHECKED_LATER.set(True)
    try:
        yield
    finally:
        _CHECKED_LATER.reset(token)


def checks_now() -> bool:
    """Return whether expressions are checked when they are made, and not later."""
    return not _CHECKED_LATER.get()


@lru_cache(maxsize=2048)  # most kernels have expressions of others
def _names(text: str) -> frozenset[str]:
    """Check a text, and return the names in it that need a value."""
    return frozenset(n.id for n in ast.walk(_checked(text)) if isinstance(n, ast.Name)) - _FUNCTIONS.keys()


def _checked(text: str) -> ast.expr:
    """Return the tree of a text, if that is nothing but arithmetic."""
    if len(text) > LONGEST:
        raise FrontMatterError(tr("an expression of {count} characters is too long", count=len(text)), about=text)
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise FrontMatterError(tr("{text} is not an expression", text=repr(text)), about=text) from None
    for node in ast.walk(tree):
        _check(node, text)
    return tree.body


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
    elif isinstance(node, ast.operator | ast.cmpop):
        fine = isinstance(node, _OPERATORS)
    else:
        fine = isinstance(node, (*allowed, *signs))
    if not fine:
        message = tr(
            "{text} may hold only arithmetic on names and integers, {functions}",
            text=repr(text),
            functions=", ".join(_FUNCTIONS),
        )
        raise FrontMatterError(message, about=text)


@lru_cache(maxsize=2048)
def _compiled(text: str) -> _Compiled:
    """Return a function that evaluates a text, after a check. Sizes are found by trying thousands: Python compiles it.

    The code has arithmetic, subscripts of its argument, and calls of the functions in `_KNOWN`; it can do nothing else.
    """
    return _function(_Exact().visit(_checked(text)))


@lru_cache(maxsize=256)
def _joined(texts: tuple[str, ...]) -> _Compiled:
    """Return a function that evaluates conditions up to the first that does not hold."""
    always = [ast.Constant(True), ast.Constant(True)]  # Python wants at least two
    return _function(ast.BoolOp(ast.And(), [*always, *(_Exact().visit(_checked(text)) for text in texts)]))


@lru_cache(maxsize=2048)
def _assigned(named: tuple[tuple[str, str], ...], exact: bool) -> Callable[[dict[str, Number | float]], object]:
    """Return a function that adds the values of texts to its argument, under their names."""
    rewritten = _Exact() if exact else _Near()
    put = [_called("put", _name(_VALUES), ast.Constant(name), rewritten.visit(_checked(text))) for name, text in named]
    return _function(ast.Tuple(put, ast.Load()))  # its value is not used


def _function(body: ast.expr) -> _Compiled:
    argument = ast.arguments([], [ast.arg(_VALUES)], kwonlyargs=[], kw_defaults=[], defaults=[])
    code = ast.fix_missing_locations(ast.Expression(ast.Lambda(argument, body)))
    compiled: _Compiled = eval(compile(code, "<expression>", "eval"), {"__builtins__": {}, **_KNOWN})
    return compiled


class _Exact(ast.NodeTransformer):
    """Replaces names by their values, divisions by fractions, and the results of ``and`` and ``or`` by truth values."""

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.Subscript(_name(_VALUES), ast.Constant(node.id), ast.Load())

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        left, right = self.visit(node.left), self.visit(node.right)
        return _called("quotient", left, right) if isinstance(node.op, ast.Div) else ast.BinOp(left, node.op, right)

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        # Short-circuits as in Python, so that "TS > 0 and M % TS == 0" never divides by zero.
        return _called("bool", ast.BoolOp(node.op, [self.visit(part) for part in node.values]))

    def visit_Call(self, node: ast.Call) -> ast.expr:
        assert isinstance(node.func, ast.Name)
        name, arguments = node.func.id, node.args
        if (len(arguments) == 1) != (name in ("ceil", "floor")) or not arguments:
            return _called("wrong_number", ast.Constant(name))
        match arguments:
            case [ast.BinOp(op=ast.Div()) as division] if name in ("ceil", "floor"):
                # Without a fraction on the way; this is exact, too.
                up = name == "ceil"
                one, other = self._parts(division)
                down = ast.BinOp(_minus(one) if up else one, ast.FloorDiv(), other)
                return _minus(down) if up else down
        return _called(name, *map(self.visit, arguments))

    def _parts(self, division: ast.BinOp) -> tuple[ast.expr, ast.expr]:
        """Return what is divided, and by what. ``(a / b) / c`` is ``a / (b * c)``, also where it divides by zero."""
        right = self.visit(division.right)
        match division.left:
            case ast.BinOp(op=ast.Div()) as inner:
                one, other = self._parts(inner)
                return one, ast.BinOp(other, ast.Mult(), right)
        return self.visit(division.left), right


class _Near(_Exact):
    """The same with divisions of floats; those that ``ceil`` and ``floor`` round are exact for whole numbers."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        return ast.BinOp(self.visit(node.left), node.op, self.visit(node.right))


def _name(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())


def _called(name: str, *arguments: ast.expr) -> ast.expr:
    return ast.Call(_name(name), list(arguments), [])


def _minus(operand: ast.expr) -> ast.expr:
    return ast.UnaryOp(ast.USub(), operand)


def _quotient(one: Number, other: Number) -> Number:
    """Divide exactly. Most quotients are whole, and a whole number is much quicker than a fraction."""
    if type(one) is int and type(other) is int:
        whole, rest = divmod(one, other)
        if rest == 0:
            return whole
    return Fraction(one, other)


def _wrong_number(name: str) -> Number:
    raise FrontMatterError(tr("{function} has the wrong number of arguments", function=f"{name}()"), about=f"{name}(")


_VALUES = "values"
_KNOWN: dict[str, object] = {**_FUNCTIONS, "quotient": _quotient, "bool": bool, "put": dict.__setitem__}
_KNOWN["wrong_number"] = _wrong_number
