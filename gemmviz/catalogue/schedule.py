"""A kernel's schedule: the parameters that it takes for a size when the user gives none, by a small model of its time.

The front matter declares sets of values, and the expression of a cost: a time in any unit, used only to compare sets.
Among the sets that can be launched, the one with the least cost is taken. The names of the expressions are M, N, K, the
parameters, ``SMS`` (multiprocessors of the GPU, see `made_for`), and those that the schedule declares itself, each from
names before it. The values of a set may be expressions of each other, in any order.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

import msgspec

from gemmviz.catalogue.errors import FrontMatterError
from gemmviz.catalogue.expression import Expression, Number, all_hold, checks_now, in_order
from gemmviz.catalogue.typed_reading import Misfit, read_as
from gemmviz.language import tr

USUAL_MULTIPROCESSORS = 132
"""Multiprocessors for which schedules are made where no GPU is known: those of an H100 (SXM) and of an H200."""
Params = dict[str, int]
_RESULTS = ("(rows)", "(columns)", "(tiles)", "(cost)")  # no names of expressions
Sizes = tuple[int, int, int]


class _ScheduleTable(msgspec.Struct, forbid_unknown_fields=True):
    sets: list[dict[str, int | str]]
    tile: tuple[str, str]
    tiles: str
    cost: str
    names: dict[str, str] = {}
    each: dict[str, list[int | str]] = {}


@dataclass(frozen=True)
class Schedule:
    """A schedule as it is declared.

    Attributes
    ----------
    sets
        Sets of values of parameters; a value is an expression of sizes and of other parameters of the set.
    each
        Further parameters, each with the values that a set is tried with if it has no value of its own.
    names
        Names that the cost is made of, with their expressions, in order.
    tile
        Rows and columns of C that a block computes at once.
    tiles
        How many blocks' worth of work there are: tiles, times their parts.
    cost
        The cost of a set of parameters; the best set has the least.
    """

    sets: tuple[tuple[tuple[str, Expression], ...], ...]
    each: tuple[tuple[str, tuple[Expression, ...]], ...]
    names: tuple[tuple[str, Expression], ...]
    tile: tuple[Expression, Expression]
    tiles: Expression
    cost: Expression

    @property
    def decides(self) -> frozenset[str]:
        """The parameters that it gives values."""
        return frozenset(name for one in self.sets for name, _ in one) | {name for name, _ in self.each}


@dataclass(frozen=True)
class Choice:
    """A set of values for a size.

    Attributes
    ----------
    params
        The values.
    rows, columns
        Of C, that a block computes at once.
    tiles
        How many blocks' worth of work there are.
    cost
        By the model; a ratio of two of them is a ratio of times.
    multiprocessors
        Those of the GPU that the choice is for.
    """

    params: Params
    rows: int
    columns: int
    tiles: int
    cost: float
    multiprocessors: int

    @property
    def busy(self) -> int:
        """The multiprocessors that have work."""
        return min(self.tiles, self.multiprocessors)


class _Gpu:
    multiprocessors = USUAL_MULTIPROCESSORS


def made_for(multiprocessors: int | None) -> None:
    """Make the schedules of this process for a GPU with so many multiprocessors; None: with `USUAL_MULTIPROCESSORS`."""
    _Gpu.multiprocessors = multiprocessors or USUAL_MULTIPROCESSORS


def _misshapen() -> FrontMatterError:
    text = tr(
        "schedule must be a table of sets (a list of tables of parameters), tile (two expressions), tiles, cost, and "
        "maybe names and each"
    )
    return FrontMatterError(text, about="schedule")


def read_schedule(value: object, params: Mapping[str, tuple[int, ...]]) -> Schedule:
    """Return the schedule that the key ``schedule`` of a front matter declares.

    Raises
    ------
    FrontMatterError
        When it declares none, names a parameter that there is not, or has values that need each other.
    """
    try:
        table = read_as(value, _ScheduleTable)
    except Misfit:
        raise _misshapen() from None
    if not table.sets:
        raise _misshapen()
    strange = {name for one in table.sets for name in one} | set(table.each)
    if strange - params.keys():
        text = tr("schedule names {name}, which is no parameter", name=repr(min(strange - params.keys())))
        raise FrontMatterError(text, about="schedule")
    schedule = Schedule(
        tuple(tuple((name, Expression(str(value))) for name, value in one.items()) for one in table.sets),
        tuple((name, tuple(Expression(str(value)) for value in values)) for name, values in table.each.items()),
        tuple((name, Expression(text)) for name, text in table.names.items()),
        (Expression(table.tile[0]), Expression(table.tile[1])),
        Expression(table.tiles),
        Expression(table.cost),
    )
    if checks_now():
        _in_order(schedule)
    return schedule


def choices(
    schedule: Schedule, must_hold: tuple[Expression, ...], sizes: Sizes, defaults: Params, given: Params
) -> tuple[Choice, ...]:
    """Return the sets that can be launched at a size, the one with the least cost first.

    Parameters
    ----------
    schedule
        The schedule.
    must_hold
        The kernel's conditions.
    sizes
        M, N and K.
    defaults
        Values of the parameters that no set names.
    given
        Values that the user gives: no set changes them.
    """
    gpu = _Gpu.multiprocessors
    return _choices(schedule, must_hold, sizes, tuple(defaults.items()), tuple(given.items()), gpu)


@lru_cache(maxsize=4096)
def _choices(
    schedule: Schedule,
    must_hold: tuple[Expression, ...],
    sizes: Sizes,
    defaults: tuple[tuple[str, int], ...],
    given: tuple[tuple[str, int], ...],
    multiprocessors: int,
) -> tuple[Choice, ...]:
    known = dict(zip(("M", "N", "K"), sizes, strict=True)) | {"SMS": multiprocessors}
    found: dict[tuple[tuple[str, int], ...], Choice] = {}
    fits, judge = all_hold(must_hold), in_order(_judged(schedule), exact=False)
    for values in _sets(schedule, known, dict(defaults), dict(given)):
        key = tuple(values.items())
        if key in found:
            continue
        with suppress(FrontMatterError, OverflowError, ValueError):  # the latter two: of numbers beyond floats
            everything: dict[str, Number | float] = {**known, **values}
            if fits(everything):
                judge(everything)
                rows, columns, tiles, cost = (float(everything[name]) for name in _RESULTS)
                found[key] = Choice(values, int(rows), int(columns), int(tiles), cost, multiprocessors)
    return tuple(sorted(found.values(), key=lambda one: one.cost))


@lru_cache(maxsize=64)
def _in_order(schedule: Schedule) -> tuple[tuple[tuple[str, tuple[Expression, ...]], ...], ...]:
    """Return the parameters of each set with their values, each after the parameters that its values name."""
    sets = []
    for one in schedule.sets:
        left = dict(schedule.each) | {name: (expression,) for name, expression in one}
        ordered = []
        while left:
            name = next((name for name in left if not _named(left[name]) & left.keys() - {name}), None)
            if name is None:
                text = tr("schedule: the values of {names} need each other", names=", ".join(sorted(left)))
                raise FrontMatterError(text, about="schedule")
            ordered.append((name, left.pop(name)))
        sets.append(tuple(ordered))
    return tuple(sets)


def _named(expressions: tuple[Expression, ...]) -> set[str]:
    return {name for one in expressions for name in one.names()}


def _sets(schedule: Schedule, sizes: Params, defaults: Params, given: Params) -> Iterator[Params]:
    names = defaults | given
    for one in _in_order(schedule):
        free = [(name, values) for name, values in one if name not in given]
        for values in product(*(values for _, values in free)):
            pairs = [(name, expression) for (name, _), expression in zip(free, values, strict=True)]
            # Most sets differ in numbers only, and have the expressions of others.
            numbers = {name: int(expression.text) for name, expression in pairs if expression.text.isdecimal()}
            chosen: dict[str, Number | float] = {**sizes, **names, **numbers}
            try:
                in_order((name, expression) for name, expression in pairs if name not in numbers)(chosen)
            except FrontMatterError:
                continue
            params = {name: int(chosen[name]) for name in names}
            if all(params[name] == chosen[name] for name, _ in free):
                yield params


def _judged(schedule: Schedule) -> tuple[tuple[str, Expression], ...]:
    """Return all that a set is judged by, in order, and at last what `_RESULTS` names."""
    results = zip(_RESULTS, (*schedule.tile, schedule.tiles, schedule.cost), strict=True)
    return (*schedule.names, *results)
