"""Serves a request to tune, in the engine's process."""

import threading
import time
from collections.abc import Callable
from contextlib import closing

from gemmviz.backends.machine import schedule_for_this_gpu
from gemmviz.bench.measure import Bench, Finished, Measurement, MeasureStep
from gemmviz.bench.row import Row
from gemmviz.bench.tuning.outcome import outcome, params_text
from gemmviz.bench.tuning.search import PROTOCOL, Search
from gemmviz.bench.tuning.space import space
from gemmviz.bench.verification_reference import References
from gemmviz.catalogue.capability import need
from gemmviz.catalogue.errors import Unavailable
from gemmviz.engine.attempts import begin, tried, tuned_kernel
from gemmviz.engine.benching import Backends, machine_header
from gemmviz.engine.messages import Header, Progress, Reply, Searched, TuneRequest
from gemmviz.language import tr

# Reasons that apply to all candidates if they apply to one: there is no GPU, or no memory for the matrices.
_HOPELESS = ("skipped", "oom")


def tune(
    request: TuneRequest,
    cancel: threading.Event,
    send: Callable[[Reply], None],
    backends: Backends | None = None,
) -> bool:
    """Search for the fastest parameters; return True if a candidate broke the GPU's context and the process must end.

    Parameters
    ----------
    request
        The kernel, the size and the limits of the search.
    cancel
        Checked after every record of every measurement; the best result so far is then the answer.
    send
        Takes the replies.
    backends
        The backends that run kernels; by default, the real devices.

    Raises
    ------
    GemmvizError
        For a kernel or size that cannot be tuned, and if no candidate can run on this machine.
    """
    started = time.monotonic() - request.spent_s
    schedule_for_this_gpu()
    kernel, problem = tuned_kernel(request)
    backends = backends or Backends()
    send(Progress(request.run, tr("Looking at this machine"), 0.0))
    header = machine_header([kernel], PROTOCOL, backends)
    send(Header(request.run, header))
    needs = need(kernel.capability, str(header["device"]["cc"])) if header["device"] else ""
    if needs:
        raise Unavailable(f"{kernel.name} {needs}")
    search = begin(request, problem, space(kernel, problem, request.held, header["device"]))
    shared = Bench(PROTOCOL, backends.find, References(PROTOCOL.seed), header["device"])
    done = 0.0

    while (number := search.next(time.monotonic() - started)) is not None:
        begun = time.monotonic()
        one = Measurement(kernel, problem, search.space.candidates[number], shared, search.rows.get(number))
        with closing(one.round()) as records:
            for record in records:
                if cancel.is_set():
                    break
                spent = time.monotonic() - started
                match record:
                    case MeasureStep():
                        left = search.left_s(spent)
                        done = max(done, spent / (spent + left) if left else 0.0)
                        send(
                            Progress(request.run, _progress_text(search, number, left), done, record.deadline_s, number)
                        )
                    case Finished():
                        if not search.usable:
                            _refuse_hopeless(record.row)
                        search.take(number, record.row, record.final, time.monotonic() - begun)
                        send(tried(request.run, search, number, record.final))
                        if record.row["status"] == "crash":
                            return True
        if cancel.is_set():
            break
    spent = time.monotonic() - started
    send(Searched(request.run, outcome(kernel, problem, search, header, spent, cancel.is_set())))
    return False


def _refuse_hopeless(row: Row) -> None:
    if row["status"] in _HOPELESS:
        raise Unavailable(row["message"])


def _progress_text(search: Search, number: int, left_s: float) -> str:
    """Describe the current trial, the best so far, and the remaining time."""
    params, best = params_text(search.space.candidates[number]), search.best
    if search.finalists:
        rounds = search.rounds(number) + 1
        text = tr(
            "{count} candidates in turns, round {round}: {params}",
            count=len(search.remaining),
            round=rounds,
            params=params,
        )
    else:
        place, count = len(search.order) + 1, len(search.space.candidates)
        text = tr("Candidate {place} of {count}: {params}", place=place, count=count, params=params)
    if best is not None:
        figure = f"{search.gflops(best):.4g}"
        best_params = params_text(search.space.candidates[best])
        text = tr("{what}; best so far {gflops} GFLOPS ({params})", what=text, gflops=figure, params=best_params)
    return tr("{what}; about {seconds} s left", what=text, seconds=round(left_s)) if best is not None else text
