"""Searches for the fastest values of a kernel's parameters: a look at each combination, then the best ones in turns.

The search chooses the next measurement and uses the figures; `gemmviz.bench.measure` takes each figure, so that every
candidate is verified and timed by the same rules as every other figure of gemmviz. With a tuner library this would not
be so. Kernel Tuner compiles, runs, checks and times by itself: its figures would follow other rules, a candidate that
breaks the device would affect more than its own row, and it needs SciPy, pandas, scikit-learn and four more packages.
Libraries like Optuna only choose the next trial, which is the smallest part of the work here: the spaces are lists of
some dozens to some thousands of combinations, and the hard part is to distinguish two candidates that differ by less
than the machine's noise.

1. **Look**: one round of a few cold samples for each candidate. The default comes first. Then some neighbours of the
   fastest one up to now (one parameter changed; if the fastest has no neighbours left, those of the second, and so on)
   alternate with candidates from the whole space, chosen with a fixed seed, until all are tried or the time is over.
2. **Interleaved rounds**: the fastest ones and the default, the *finalists*, are measured in turns, each round in the
   reverse order of the previous one. Finalists that are clearly slower than the leader in paired rounds are removed,
   until the others are certainly equal or the time is over.

Candidates that are not clearly slower than the leader are *equal* to it; of equal candidates the first in the declared
order is taken, which is the default if it is among them.
"""

import random
from collections.abc import Iterable
from math import exp, log, sqrt
from statistics import fmean, stdev

from gemmviz.bench.protocol import Protocol
from gemmviz.bench.row import Row
from gemmviz.bench.tuning.space import Params, Space

ROUNDS = 12
"""The largest number of interleaved rounds."""
_ALL_ROUNDS = ROUNDS + 2  # the look, the others, and one that is never made: the last round would have a hot pass
LEAST_ROUNDS = 3
"""With fewer paired rounds, no candidate counts as slower than another."""
MOST_FINALISTS = 8
PROTOCOL = Protocol(
    rounds=_ALL_ROUNDS,
    warmup_s=0.05,
    min_samples=5 * _ALL_ROUNDS,
    min_time_s=0.1 * _ALL_ROUNDS,
    target_iqr=0.05,
    timeout_s=0.5 * _ALL_ROUNDS,
)
"""The rules of a search: the look is the first round, the interleaved ones are the others."""

_LOOK_SHARE = 0.6  # the share of the time for looks, if there are too many candidates to look at all
_FINALISTS_WITHIN = 0.15  # finalists are within this share of the fastest look
_LOOK_NOISE = 0.03  # possible difference of two single rounds at different times
_LOOKS_PER_STRANGER = 4  # one of so many looks is at a candidate from anywhere, the others are at neighbours
_LEAST_DIFFERENCE = 0.002
_ALIKE = 0.005  # a difference that is certainly smaller does not matter: no more rounds are needed
_SEED = 2026
_USUAL_ROUNDS = 6
# Student's t, 99%, one-sided, by degrees of freedom from 2: several candidates are judged, after every round.
_T = {2: 6.96, 3: 4.54, 4: 3.75, 5: 3.36, 6: 3.14, 7: 3.00, 8: 2.90, 9: 2.82, 10: 2.76, 11: 2.72}


class Search:
    """The state of a search: `next` returns the candidate to measure, and `take` receives the result.

    Parameters
    ----------
    space
        The candidates.
    flops
        Floating-point operations of one launch.
    seconds
        The time limit of the search; the default is tried in any case.
    known
        (candidate, row, whether it is final) of a search that is continued, in the order in which they were first
        tried.
    """

    def __init__(self, space: Space, flops: int, seconds: float, known: Iterable[tuple[int, Row, bool]] = ()) -> None:
        self.space = space
        self.seconds = seconds
        self.order: list[int] = []
        self.rows: dict[int, Row] = {}
        self.finalists: list[int] = []
        self._flops = flops
        self._over: set[int] = set()
        self._dropped: set[int] = set()
        self._looked_s = self._rounds_s = 0.0
        self._looks = self._rounds = 0
        self._shuffled = list(range(len(space.candidates)))
        random.Random(_SEED).shuffle(self._shuffled)
        for number, row, final in known:
            self.take(number, row, final)
        if any(len(row["rounds"]) > 1 for row in self.rows.values()):
            self._choose_finalists()
            self._drop()

    # The next candidate

    def next(self, spent_s: float) -> int | None:
        """Return the candidate whose next round to measure, or None if the search is over.

        Parameters
        ----------
        spent_s
            The duration of the search up to now.
        """
        if not self.finalists:
            number = self._next_look(spent_s)
            if number is not None:
                return number
            self._choose_finalists()
        return self._next_round(spent_s)

    def take(self, number: int, row: Row, final: bool, took_s: float = 0.0) -> None:
        """Take the result of a round of a candidate, or its failure, and its duration."""
        if number not in self.rows:
            self.order.append(number)
        self.rows[number] = row
        if final:
            self._over.add(number)
        if len(row["rounds"]) > 1:
            self._rounds, self._rounds_s = self._rounds + 1, self._rounds_s + took_s
        else:
            self._looks, self._looked_s = self._looks + 1, self._looked_s + took_s

    def _next_look(self, spent_s: float) -> int | None:
        space, tried = self.space, len(self.order)
        if tried == len(space.candidates) or (tried and spent_s >= _LOOK_SHARE * self.seconds):
            return None
        if not tried:
            return space.default_number or 0
        untried = [number for number in self._shuffled if number not in self.rows]
        if tried % _LOOKS_PER_STRANGER:
            for fast in sorted(self.usable, key=lambda i: -_look_gflops(self.rows[i])):
                for number in untried:
                    if _changed(space.candidates[number], space.candidates[fast]) == 1:
                        return number
        return untried[0]

    def _choose_finalists(self) -> None:
        ranked = sorted(self.usable, key=lambda i: -_look_gflops(self.rows[i]))
        fastest = _look_gflops(self.rows[ranked[0]]) if ranked else 0.0
        within = [i for i in ranked if _look_gflops(self.rows[i]) * (1 + _FINALISTS_WITHIN) >= fastest]
        self.finalists = within[:MOST_FINALISTS]
        default = self.space.default_number
        if default in self.usable and default not in self.finalists:
            self.finalists.append(default)

    def _next_round(self, spent_s: float) -> int | None:
        running = [i for i in self.remaining if i not in self._over]
        if len(running) < 2 or spent_s >= self.seconds:
            return None
        least = min(map(self.rounds, running))
        if least == max(map(self.rounds, running)):
            self._drop()
            running = [i for i in running if i not in self._dropped]
            if least >= ROUNDS or self.settled or len(running) < 2:
                return None
        # The order is reversed in the next round, so that drift within a round cancels out.
        order = sorted(running, reverse=bool(least % 2))
        return next(i for i in order if self.rounds(i) == least)

    def _drop(self) -> None:
        """Remove finalists that are clearly slower than the leader; keep the default for comparison."""
        leader = self.best
        if leader is None:
            return
        slower = {i for i in self.remaining if i != self.space.default_number and self._clearly_slower(i, leader)}
        self._dropped |= slower

    # Current results

    @property
    def usable(self) -> list[int]:
        """The candidates that were right and have a figure, in the order in which they were tried."""
        return [i for i in self.order if self.rows[i]["status"] == "ok" and self.rows[i]["gflops"]]

    @property
    def remaining(self) -> list[int]:
        """The finalists that have not been removed."""
        usable = set(self.usable)
        return [i for i in self.finalists if i in usable and i not in self._dropped]

    @property
    def best(self) -> int | None:
        """The fastest candidate up to now, or None; in interleaved rounds their leader."""
        remaining = self.remaining
        if remaining and all(map(self.rounds, remaining)):
            return max(remaining, key=self.gflops)
        return max(self.usable, key=lambda i: _look_gflops(self.rows[i]), default=None)

    @property
    def winner(self) -> int | None:
        """The first candidate, in the declared order, that is equal to the fastest."""
        best = self.best
        return None if best is None else min([best, *self.equals])

    @property
    def equals(self) -> list[int]:
        """The candidates that are not clearly slower than the fastest."""
        best = self.best
        if best is None:
            return []
        if self.rounds(best) < LEAST_ROUNDS:
            least = self.gflops(best) * (1 - _LOOK_NOISE)
            return [i for i in self.usable if i != best and self.gflops(i) >= least]
        return [i for i in self.remaining if i != best and not self._clearly_slower(i, best)]

    @property
    def clear(self) -> bool:
        """Whether interleaved rounds have shown that all others are slower than the fastest."""
        best = self.best
        return best is not None and self.rounds(best) >= LEAST_ROUNDS and not self.equals

    @property
    def settled(self) -> bool:
        """Whether more interleaved rounds would not change its result."""
        best = self.best
        return best is not None and self.rounds(best) >= LEAST_ROUNDS and all(self._alike(i, best) for i in self.equals)

    def rounds(self, number: int) -> int:
        """Return the number of interleaved rounds that a candidate has finished."""
        return len(self._round_s(number))

    def gflops(self, number: int) -> float:
        """Return a candidate's GFLOPS: the mean of its interleaved rounds, or its look."""
        seconds = self._round_s(number)
        if not seconds:
            return float(self.rows[number]["gflops"] or 0.0)
        return self._flops / exp(fmean(map(log, seconds))) / 1e9

    def gain(self, number: int, over: int) -> float:
        """Return the ratio of two candidates' speeds: in the rounds of both, else in their looks."""
        pairs = self._pairs(over, number)
        return exp(fmean(pairs)) if pairs else _look_gflops(self.rows[number]) / _look_gflops(self.rows[over])

    def left_s(self, spent_s: float) -> float:
        """Return the expected remaining duration of the search, in seconds."""
        look = self._looked_s / max(self._looks, 1)
        # An interleaved round neither compiles nor computes a reference; its duration is known after the first one.
        one_round = self._rounds_s / self._rounds if self._rounds else look / 2
        if self.finalists:
            done = max(map(self.rounds, self.remaining), default=0)
            left = (max(_USUAL_ROUNDS, done + 1) - done) * len(self.remaining) * one_round
            return max(min(left, self.seconds - spent_s), 0.0)
        looking = (len(self.space.candidates) - len(self.order)) * look
        looking = max(min(looking, _LOOK_SHARE * self.seconds - spent_s), 0.0)
        left = looking + min(MOST_FINALISTS, len(self.space.candidates)) * _USUAL_ROUNDS * one_round
        return max(min(left, self.seconds - spent_s), 0.0)

    def _round_s(self, number: int) -> list[float]:
        """Return the medians of a candidate's interleaved rounds, in seconds."""
        return [one["median_s"] for one in self.rows[number]["rounds"][1:]]

    def _pairs(self, slow: int, fast: int) -> list[float]:
        """Return the logarithms of the ratios of two candidates' times, round by round."""
        return [log(s / f) for s, f in zip(self._round_s(slow), self._round_s(fast), strict=False)]

    def _clearly_slower(self, number: int, than: int) -> bool:
        pairs = self._pairs(number, than)
        return len(pairs) >= LEAST_ROUNDS and fmean(pairs) > max(_noise(pairs), _LEAST_DIFFERENCE)

    def _alike(self, number: int, other: int) -> bool:
        pairs = self._pairs(number, other)
        return len(pairs) >= LEAST_ROUNDS and abs(fmean(pairs)) + _noise(pairs) < _ALIKE


def _noise(pairs: list[float]) -> float:
    """Return the possible error of the mean of some paired rounds."""
    return _T[len(pairs) - 1] * stdev(pairs) / sqrt(len(pairs))


def _look_gflops(row: Row) -> float:
    """Return the GFLOPS of a candidate's first round."""
    return float(row["rounds"][0]["gflops"])


def _changed(one: Params, other: Params) -> int:
    """Return the number of parameters that differ."""
    return sum(one[name] != other[name] for name in one)
