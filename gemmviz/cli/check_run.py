"""Records what ``gemmviz check`` has planned, and collects what is found."""

from dataclasses import dataclass, field, replace

from gemmviz.catalogue.errors import BuildError, ConstraintError, FrontMatterError, KernelFault, KernelTimeout
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.cli.check_plan import Plan
from gemmviz.cli.record import engine_reply
from gemmviz.engine.messages import RecordRequest
from gemmviz.engine.supervisor import Engine
from gemmviz.trace.hazards import Finding
from gemmviz.trace.hazards import find as find_hazards
from gemmviz.trace.recording import Recording
from gemmviz.trace.sites import SiteTraffic, by_site
from gemmviz.trace.timeline import Timeline

# Below this a request is about as good as it can be: an edge of a matrix, a row that begins within a sector.
_WASTEFUL = 1.5


@dataclass
class Report:
    """What was found at one size with one value of each parameter; ``label`` is how people read the latter."""

    label: str
    problem: Problem
    params: dict[str, int]
    findings: list[Finding] = field(default_factory=list)
    costs: list[SiteTraffic] = field(default_factory=list)

    @property
    def things(self) -> list[Finding | SiteTraffic]:
        """Findings, then costs."""
        return [*self.findings, *self.costs]

    def __str__(self) -> str:
        return f"{self.label} at {self.problem}"


def check(kernel: Kernel, todo: Plan, *, must_fit: bool) -> tuple[list[Report], list[str]]:
    """Return a report per launch, and what was left out and why.

    Parameters
    ----------
    kernel, todo
        What to check how.
    must_fit
        Whether a size that the kernel does not take is an error; else it is left out while there are others.

    Raises
    ------
    ConstraintError, BuildError, Unavailable
        When a size is refused that must fit, or nothing at all could be recorded.
    """
    reports: list[Report] = []
    left_out = list(todo.left_out)
    usual = todo.launches[0][1]
    refusal: ConstraintError | None = None
    engine = Engine()
    try:
        for number, (problem, params) in enumerate(todo.launches):
            try:
                reports.append(_report(kernel, problem, params, engine, number))
            except ConstraintError as error:
                if must_fit and params == usual:
                    raise
                refusal = refusal or error
                left_out.append(f"{_label(kernel, params)} at {problem}: {error}")
            except BuildError as error:
                if not reports:
                    raise
                text = str(error).removeprefix(f"{kernel.path.name}:{error.line}: ")
                reports.append(_only(kernel, problem, params, Finding("does not compile", error.line or 0, text)))
            except KernelTimeout as error:
                finding = Finding("crash", error.line or 0, str(error).split(": ", 1)[-1])
                reports.append(_only(kernel, problem, params, finding))
                if todo.launches[number + 1 :]:
                    left_out.append("other sizes and parameters, as this one did not end")
                break
    finally:
        engine.close()
    if refusal and not reports:
        raise refusal
    return reports, left_out


def _report(kernel: Kernel, problem: Problem, params: dict[str, int], engine: Engine, number: int) -> Report:
    try:
        job = launch(kernel, problem, params)
    except FrontMatterError as error:
        return _only(kernel, problem, params, Finding("front matter", _line(kernel, error), str(error)))
    request = RecordRequest(number, str(kernel.path), kernel.text, problem.m, problem.n, problem.k, job.params)
    report = Report(job.label, problem, job.params)
    try:
        reply = engine_reply(request, engine)
    except KernelTimeout:
        raise
    except KernelFault as fault:
        report.findings = [Finding("crash", fault.line or 0, str(fault).split(": ", 1)[-1])]
        return report
    recording = Recording.from_plain(reply.recording)
    report.findings = find_hazards(recording, c_is_input="beta" in kernel.args)
    if kernel.backend == "cuda":
        sites = _by_line(by_site(recording, Timeline(**reply.timeline)))
        report.costs = [site for site in sites if site.degree >= _WASTEFUL]
    return report


def _only(kernel: Kernel, problem: Problem, params: dict[str, int], finding: Finding) -> Report:
    return Report(_label(kernel, params), problem, params, [finding])


def _label(kernel: Kernel, params: dict[str, int]) -> str:
    """Name a kernel with parameters when there is no launch that could."""
    values = ", ".join(f"{name}={value}" for name, value in params.items())
    return f"{kernel.name} [{values}]" if values else kernel.name


def _line(kernel: Kernel, error: FrontMatterError) -> int:
    """Return the line of the front matter that holds the expression which an error quotes."""
    for key in ("block", "grid", "shared", "requires"):
        held = (kernel.shared,) if key == "shared" else getattr(kernel, key)
        if any(repr(expression.text) in str(error) for expression in held):
            return kernel.line_of(key) or 0
    return 0


def _by_line(sites: list[SiteTraffic]) -> list[SiteTraffic]:
    """Add up the instructions that the compiler made of one access in the source."""
    merged: dict[tuple[int, str, bool], SiteTraffic] = {}
    for site in sites:
        key = (site.line, site.array, site.write)
        known = merged.get(key)
        merged[key] = (
            site
            if known is None
            else replace(
                known,
                requests=known.requests + site.requests,
                units=known.units + site.units,
                asked_bytes=known.asked_bytes + site.asked_bytes,
                least_units=known.least_units + site.least_units,
            )
        )
    return list(merged.values())
