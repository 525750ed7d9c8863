"""Texts about a search for the fastest parameters: its results, its candidates, and the reasons for omissions."""

from math import prod

from gemmviz.bench.status_names import status_name
from gemmviz.bench.tuning.outcome import Candidate, Outcome, params_text
from gemmviz.bench.tuning.space import BLOCK, SHARED
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.scheduled import why
from gemmviz.language import tr, trn
from gemmviz.session import Session
from gemmviz.session.measurable import why_not
from gemmviz.session.models.tuning import Tuning
from gemmviz.ui.look.figure_text import BETWEEN, gflops_text, percent, short_size, times

_MOST_LINES = 5  # of parameters below each other


def headline(session: Session, brief: bool = False) -> str:
    """Return a sentence about the search, or about a possible search; `brief`: without kernel and size."""
    tuning = session.tuning
    kernel, size = tuning.kernel, (tuning.problem.m, tuning.problem.n, tuning.problem.k)
    if kernel is None or not (tuning.candidates or tuning.running):
        if not session.choice.kernel.params:
            return no_params(session.choice.kernel)
        return why_not(session) or tr("Nothing is tuned yet: press “Tune”")
    best = tuning.candidates.get(tuning.best) if tuning.best is not None else None
    tried = {"tried": len(tuning.candidates), "all": tuning.total}
    if not tuning.candidates:
        text = tr("looking at this machine")
    elif best is None or best["gflops"] is None:
        text = tr("{tried} of {all} tried, none has a figure", **tried)
    else:
        found = {"params": params_text(best["params"]), "gflops": gflops_text(best["gflops"])}
        gain = tuning.document["gain"] if tuning.document else None
        if tuning.running:
            text = tr("{tried} of {all} tried, best so far {params}: {gflops} GFLOPS", **tried, **found)
        elif best["number"] == tuning.default:
            text = tr("the defaults are best, {params}: {gflops} GFLOPS", **found)
        elif gain is None:
            text = tr("best {params}: {gflops} GFLOPS", **found)
        else:
            text = tr("best {params}: {gflops} GFLOPS, {gain} the default", gain=times(gain), **found)
    return text if brief else tr("{kernel} at {size}: {what}", kernel=kernel.name, size=short_size(size), what=text)


def no_params(kernel: Kernel) -> str:
    """Return the sentence for a kernel that cannot be tuned."""
    return tr("{kernel} declares no parameters: choose a kernel that does, to tune it", kernel=kernel.name)


def invitation(session: Session) -> str:
    """Return the sentence about tuning the chosen kernel."""
    kernel = session.choice.kernel
    if not kernel.params:
        return no_params(kernel)
    count = prod(map(len, kernel.params.values()))
    # A line each, or where that is too high for the chart, one after another; no parameter is cut in two.
    lines = [f"{name}: {', '.join(map(str, offered))}" for name, offered in kernel.params.items()]
    few = len(lines) <= _MOST_LINES
    values = "\n".join(lines) if few else "; ".join(line.replace(" ", "\N{NO-BREAK SPACE}") for line in lines)
    what = trn(
        "{kernel} declares {count} combination of its parameters:",
        "{kernel} declares {count} combinations of its parameters:",
        count,
        kernel=kernel.name,
    )
    how = tr(
        "“Tune” (Ctrl+U) verifies and times each of them on this machine, at the size to measure. Then it times the "
        "fastest ones again, in turns. Every dot here is one of them."
    )
    how = "" if why_not(session) else how
    reason = why(kernel, session.choice.bench_problem, session.choice.bench_params)
    return "\n\n".join(text for text in (f"{what}\n{values}", reason, how) if text)


def candidate_text(candidate: Candidate, tuning: Tuning) -> str:
    """Return all facts about a candidate, a line for each kind."""
    lines = [params_text(candidate["params"])]
    marks = [
        (tuning.default, tr("the default")),
        (tuning.best, tr("the best so far") if tuning.running else tr("best")),
    ]
    lines.append(BETWEEN.join(text for number, text in marks if number == candidate["number"]))
    if candidate["gflops"]:
        rounds = candidate["rounds"]
        how = (
            trn("{count} interleaved round", "{count} interleaved rounds", rounds)
            if rounds
            else tr("measured once: a few cold samples")
        )
        lines.append(tr("{gflops} GFLOPS, {how}", gflops=gflops_text(candidate["gflops"]), how=how))
        if candidate["of_best"] and not tuning.running:
            lines.append(tr("{share} of the best, timed in the same way", share=percent(candidate["of_best"])))
    else:
        lines.append(f"{status_name(candidate['status'])}: {candidate['message']}")
    build = [
        (candidate["regs"], tr("{count} registers per thread")),
        (candidate["smem"], tr("{count} B of shared memory per block")),
        (candidate["local_bytes"], tr("{count} B of local memory per thread")),
    ]
    lines.append(BETWEEN.join(text.format(count=value) for value, text in build if value))
    lines.append(tr("candidate {place}", place=candidate["place"]))
    lines += [f"⚑ {flag}" for flag in candidate["flags"]]
    return "\n".join(line for line in lines if line)


def left_out_text(document: Outcome) -> list[str]:
    """Return the sentence about combinations that were not tried, with the reasons."""
    parts = []
    if document["untried"]:
        parts.append(trn("{count} not tried: no time", "{count} not tried: no time", document["untried"]))
    for reason, count in document["left_out"].items():
        why = tr(reason) if reason in (BLOCK, SHARED) else tr("they break {condition}", condition=reason)
        parts.append(trn("{count} left out: {why}", "{count} left out: {why}", count, why=why))
    parts += [f"⚑ {flag}" for flag in document["flags"]]
    if document["equals"]:
        alike = "; ".join(params_text(params) for params in document["equals"][:3])
        parts.append(tr("cannot be distinguished from the best: {params}", params=alike))
    return parts
