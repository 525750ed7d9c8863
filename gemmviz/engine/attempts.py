"""The known results of a search, kept outside the process that a candidate may crash."""

import time
from dataclasses import dataclass, field, replace

from gemmviz.bench import results
from gemmviz.bench.document import Document
from gemmviz.bench.row import Row, Status
from gemmviz.bench.tuning.outcome import candidate, outcome
from gemmviz.bench.tuning.search import Search
from gemmviz.bench.tuning.space import Space, space
from gemmviz.catalogue.errors import GemmvizError
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.problem import Problem
from gemmviz.engine.launched import requested
from gemmviz.engine.messages import Searched, Tried, TuneRequest
from gemmviz.language import tr


@dataclass
class Attempts:
    """The known results of a search whose process may die.

    Attributes
    ----------
    request
        The original request.
    header
        The engine's facts about the machine.
    known
        (candidate, row, whether it is final), in the order of their first round.
    """

    request: TuneRequest
    header: Document | None = None
    known: dict[int, tuple[Row, bool]] = field(default_factory=dict)
    _started: float = field(default_factory=time.monotonic)
    _space: Space | None = None

    def rest(self) -> TuneRequest:
        """Return the request for the remaining work."""
        spent = time.monotonic() - self._started if self.header else 0.0
        return replace(self.request, known=[[n, *one] for n, one in self.known.items()], spent_s=spent)

    def take(self, reply: Tried) -> None:
        """Keep the row of a candidate."""
        self.known[reply.number] = reply.row, reply.final

    def fail(self, number: int, status: Status, message: str) -> Tried:
        """Keep the row of a candidate that crashed the process, and return the message about it."""
        kernel, problem = tuned_kernel(self.request)
        search = self._search(kernel, problem)
        row = (search.rows.get(number) or results.new_row(kernel, problem, search.space.candidates[number])).copy()
        results.fail(row, status, message)
        self.known[number] = row, True
        return tried(self.request.run, self._search(kernel, problem), number, True)

    def conclude(self) -> Searched | None:
        """Return the result of a cancelled search up to now; None if the search had not begun."""
        if self.header is None:
            return None
        kernel, problem = tuned_kernel(self.request)
        search, spent = self._search(kernel, problem), time.monotonic() - self._started
        return Searched(self.request.run, outcome(kernel, problem, search, self.header, spent, True))

    def _search(self, kernel: Kernel, problem: Problem) -> Search:
        if self._space is None:
            self._space = space(kernel, problem, self.request.held, self.header["device"] if self.header else None)
        return begin(self.rest(), problem, self._space)


def tuned_kernel(request: TuneRequest) -> tuple[Kernel, Problem]:
    """Return the kernel to tune, and the size.

    Raises
    ------
    GemmvizError
        For a kernel that cannot be tuned.
    """
    kernel = requested(request)
    if not kernel.recordable:
        raise GemmvizError(tr("{kernel} is a library: there is nothing to tune", kernel=kernel.name))
    if kernel.exhibit:
        raise GemmvizError(tr("{kernel} is an exhibit: exhibits are never timed", kernel=kernel.name))
    return kernel, Problem(request.m, request.n, request.k)


def begin(request: TuneRequest, problem: Problem, found: Space) -> Search:
    """Return the search of a space with its known results."""
    return Search(found, problem.flops, request.seconds, ((n, row, final) for n, row, final in request.known))


def tried(run: int, search: Search, number: int, final: bool) -> Tried:
    """Return the message about a candidate after a round."""
    found = search.space
    return Tried(
        run,
        number,
        candidate(search, number),
        search.rows[number],
        final,
        search.best,
        found.default_number,
        len(found.candidates),
    )
