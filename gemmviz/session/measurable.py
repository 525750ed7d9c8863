"""Whether the chosen kernel can be measured on the chosen device."""

from gemmviz.bench.figures import ON_GPU
from gemmviz.catalogue.capability import need
from gemmviz.language import tr
from gemmviz.session.session import Session


def why_not(session: Session) -> str:
    """Return why the chosen kernel cannot be measured here; an empty text if it can, or if it is unknown."""
    results, kernel = session.results, session.choice.kernel
    if kernel.backend not in ON_GPU or not results.device:
        return ""
    if results.device_facts is None:
        if results.away:
            return tr("{host} has no GPU that CUDA kernels can run on.", host=results.away)
        return tr("This machine has no GPU that CUDA kernels can run on.")
    needed = need(kernel.capability, str(results.device_facts["cc"]))
    if needed and results.away:
        return tr("The GPU of {host} cannot run it: {needed}.", host=results.away, needed=needed)
    return tr("The GPU of this machine cannot run it: {needed}.", needed=needed) if needed else ""


def reason_and_remedy(session: Session, on_page: bool = False) -> str:
    """Return `why_not`, and what helps where there is no GPU.

    Parameters
    ----------
    session
        The session with the chosen kernel.
    on_page
        Whether the page Measure itself says it, below its choice of machines.
    """
    why = why_not(session)
    if not why or session.results.device_facts is not None:
        return why
    if on_page:
        return f"{why} {tr('A GPU of another machine can measure it: choose “Other machines…” above.')}"
    return f"{why} {tr('A GPU of another machine can measure it: choose “Other machines…” on the page Measure.')}"
