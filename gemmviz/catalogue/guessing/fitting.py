"""Values of a kernel's parameters that fit each other and its arithmetic."""

import itertools
import re
from collections.abc import Iterator, Mapping

from gemmviz.catalogue.guessing.constant_conditions import Conditions
from gemmviz.catalogue.guessing.folding import evaluate, fold
from gemmviz.catalogue.guessing.kernel_arithmetic import KernelArithmetic
from gemmviz.catalogue.guessing.launch_shape import Shape
from gemmviz.catalogue.guessing.polynomial import Polynomial, parse
from gemmviz.catalogue.guessing.roles import GuessReason, Term, kind_of
from gemmviz.catalogue.guessing.tunable import THREADS
from gemmviz.language import tr

_SHARED_BYTES = 48 * 1024
_MOST_TRIED, _MOST_COMBINATIONS = 15_000, 3000  # values of one parameter after the other, and of all together
_MOST_FITTING = 64


class Fitting(KernelArithmetic):
    """Chooses values for the parameters of one kernel."""

    def _choose(self, made: Shape, rows: list[Term], columns: list[Term]) -> None:
        """Choose the values closest to the usual ones with a legal block whose loads cover its tiles."""
        known = {name: tokens for name, tokens in self.source.constants.items() if name not in self.source.tunable}
        conditions = Conditions(self.function, known, frozenset(made.params))
        fitting = (values for values in _combinations(made.params, conditions) if self._fits(values, rows, columns))
        some = list(itertools.islice(fitting, _MOST_FITTING))
        # First those whose loops over a tile end where the next tile begins.
        values = next((one for one in some if self._joins(one)), some[0] if some else None)
        if values is not None:
            alone = len(made.params) - sum(name in self.free for name in made.params) == 1
            for name, value in values.items():
                offered = made.params[name]
                keep = name in self.free or (alone and len(offered) > 1)
                rest = (
                    [v for v in offered if v != value and self._fits(values | {name: v}, rows, columns)] if keep else []
                )
                made.params[name] = (value, *rest)
            if made.params:
                made.why["params"] = GuessReason(0.7, tr("usual sizes with a legal block whose loads cover its tiles"))
            return
        made.params = {name: values[:1] for name, values in made.params.items()}
        if made.params:
            made.why["params"] = GuessReason(
                0.2, tr("no usual sizes fit the arithmetic of the source: these are the usual sizes without a check")
            )

    def _fits(self, values: Mapping[str, int], rows: list[Term], columns: list[Term]) -> bool:
        threads = 1.0
        for extents in self._threads(rows, columns, values).values():
            for extent in extents:
                number = self._number(extent, values)
                if number is None or number < 1 or number != int(number):
                    return False
                threads *= number
        free = [evaluate(extent, values) or 1 for extent in self.free if extent]
        for count in free:
            threads = max(threads, count)
        if len(free) > 1:
            threads = max(threads, free[0] * free[1])
        given = self._number(parse(list(self.function.bounds)), values) if self.function.bounds else None
        if threads > 1024 or (given and threads not in (1, given)):
            return False
        for name in values:
            if re.fullmatch(THREADS, name, re.IGNORECASE) and threads not in (1, values[name]):
                return False
        if self._static_bytes(values) > _SHARED_BYTES or not self._asserted(values):
            return False
        return all(self._covers(self.found[m], threads, values) for m in "AB")

    def _static_bytes(self, values: Mapping[str, int]) -> float:
        total = 0.0
        for name, extents in self.indexing.shared.items():
            count = 1.0
            for extent in extents:
                count *= self._number(extent, values) or 1
            total += count * _element_bytes(self.indexing.shared_types.get(name, "")) * bool(extents)
        return total

    def _asserted(self, values: Mapping[str, int]) -> bool:
        for found in re.finditer(r"static_assert \( (.*?)(?:, \" \" )?\) ;", self.body):
            text = fold(found[1].replace("&&", "and").replace("||", "or"))
            held = evaluate(re.sub(r"[A-Za-z_]\w*", lambda w: str(self.constants.get(w[0], w[0])), text), values)
            if held == 0:
                return False
        return True

    def _covers(self, found: list[Term], threads: float, values: Mapping[str, int]) -> bool:
        """Return whether a linear thread index, split into a row and a column, covers the tile exactly."""
        for strided in (True, False):
            side = [t for t in found if bool(t.size) == strided]
            numbers = {id(t): self._number(t.factor, values) or 0 for t in side}
            for term in side:
                quotient = re.fullmatch(r"\((?:threadIdx\.x) ([/%]) (\w+|\(.*\))\)", term.atom)
                if not quotient:
                    continue
                by = evaluate(self._text(Polynomial.name(quotient[2])), values)
                larger = [n for n in numbers.values() if n > numbers[id(term)]]
                if not by or by != int(by) or (quotient[1] == "/" and threads % by):
                    return False
                extent = threads / by if quotient[1] == "/" else by
                if larger and extent * numbers[id(term)] != min(larger):
                    return False
        return True

    def _joins(self, values: Mapping[str, int]) -> bool:
        """Return whether each loop of a known number of turns ends where the next larger part of its side begins."""
        for matrix, strided in itertools.product("AB", (True, False)):
            side = [t for t in self.found[matrix] if bool(t.size) == strided]
            parts = [(self._number(t.factor, values) or 0, self._turns(t.atom, values), t) for t in side]
            steps = [number for number, turns, t in parts if kind_of(t.atom) == "loop" and not turns]
            for number, turns, term in parts:
                larger = [n for n, _, t in parts if t is not term and n >= number]
                if turns and min([*larger, *steps], default=number * turns) != number * turns:
                    return False
        return True

    def _turns(self, atom: str, values: Mapping[str, int]) -> float:
        """Return how often a loop runs; 0 where that depends on a size."""
        loop = next((one for one in self.indexing.loops if f"{one.variable}#" == atom), None)
        if loop is None or loop.start.value != 0:
            return 0
        bound, step = (self._number(part, values) for part in (loop.bound, loop.step))
        return bound / step if bound and step else 0


def _combinations(params: dict[str, tuple[int, ...]], conditions: Conditions) -> Iterator[dict[str, int]]:
    """Yield values for all parameters that meet some conditions, the most usual combinations first."""
    names = list(params)
    left = _MOST_TRIED

    def rest(values: dict[str, int], less_usual: int) -> Iterator[dict[str, int]]:
        nonlocal left
        left -= 1
        if left < 0:
            return
        at = len(values)
        if at == len(names):
            yield values
            return
        most = len(params[names[at]]) - 1
        later = sum(len(params[name]) - 1 for name in names[at + 1 :])
        for place in range(max(0, less_usual - later), min(most, less_usual) + 1):
            more = values | {names[at]: params[names[at]][place]}
            if conditions.allow(more):
                yield from rest(more, less_usual - place)

    sums = range(sum(len(values) - 1 for values in params.values()) + 1)
    found = itertools.chain.from_iterable(rest({}, less_usual) for less_usual in sums)
    yield from itertools.islice(found, _MOST_COMBINATIONS)


def _element_bytes(kind: str) -> int:
    if kind == "double":
        return 8
    return 2 if "half" in kind else 4
