"""The resources of an SM that a block of the chosen kernel uses, and the default device of the comparison."""

from math import prod

from gemmviz.bench.figures import Shown
from gemmviz.bench.model.devices import Facts, limits, named, published
from gemmviz.bench.model.occupancy import Use, cluster_blocks, compiled_use
from gemmviz.catalogue.capability import suits
from gemmviz.catalogue.errors import GemmvizError
from gemmviz.language import tr
from gemmviz.session import Session
from gemmviz.ui.look.figure_text import origin_name, shown_name

# A typical number of registers; wherever it is used, it is labelled as assumed.
_ASSUMED_REGISTERS = 32
_EXAMPLE = Use(256, _ASSUMED_REGISTERS, 0)
# The device of the course report on block sizes (S4), so that the panel first shows the report's occupancy table.
_DEFAULT = "RTX 3080"


def default_device(session: Session) -> Facts:
    """Return this machine's GPU; `default_published` if it cannot be modelled or cannot run the kernel."""
    here = session.results.device_facts
    if here is not None and limits(here) is not None and suits(session.choice.kernel.capability, here["cc"]):
        return here
    return next(device for device in published() if device.name == default_published(session)).facts()


def default_published(session: Session) -> str:
    """Return the first device that can run the chosen kernel: one of the references, a common one, any."""
    known = [named(reference.gpu) for reference in session.results.shown_references]
    usual = [device for device in published() if device.name == _DEFAULT]
    wanted = [device for device in (*known, *usual, *published()) if device]
    needed = session.choice.kernel.capability
    return next((device for device in wanted if suits(needed, device.cc)), wanted[0]).name


def _compiled(session: Session) -> Shown | None:
    """Return the figure of the chosen kernel if its row has the resources of a block; else None."""
    shown = session.results.shown(session.choice.kernel.name)
    row = shown.row if shown else None
    return shown if row and row.get("block") and row.get("regs") and row.get("smem") is not None else None


def measured_otherwise(session: Session) -> str:
    """Return the launch of `kernel_use` if its parameters differ from the recorded ones; else an empty text."""
    shown = _compiled(session)
    return shown.row["label"] if shown is not None and shown.row["params"] != session.choice.params else ""


def kernel_use(session: Session) -> tuple[Use, str]:
    """Return the resources of a block of the chosen kernel, and their origin."""
    kernel = session.choice.kernel
    name = shown_name(kernel, session)
    if kernel.backend != "cuda":
        if kernel.backend == "cublas":
            return _EXAMPLE, tr("{kernel} chooses its blocks itself: these values are an example", kernel=name)
        return _EXAMPLE, tr("{kernel} runs on the CPU: these values are an example", kernel=name)
    shown = _compiled(session)
    if shown is not None:
        row, where = shown.row, origin_name(shown.origin) if shown.origin else tr("here")
        text = tr("{kernel} as compiled ({where})", kernel=row["label"], where=where)
        return compiled_use(row, kernel), text
    recording = session.cursor.playable.recording if session.cursor.playable else None
    if recording is not None and recording.sha256 == kernel.sha256:
        shared = sum(a.size * a.itemsize for a in recording.arrays if a.space == "shared")
        sizes = {"M": recording.m, "N": recording.n, "K": recording.k, **recording.params}
        return Use(recording.threads, _ASSUMED_REGISTERS, shared, cluster_blocks(kernel, sizes)), tr(
            "{kernel}: block and shared memory as recorded, {registers} registers assumed (measuring tells them)",
            kernel=recording.label,
            registers=_ASSUMED_REGISTERS,
        )
    try:
        launch = session.choice.launch()
    except GemmvizError:
        return _EXAMPLE, tr("{kernel} does not fit its size: these values are an example", kernel=name)
    return Use(launch.threads, _ASSUMED_REGISTERS, launch.shared_bytes, prod(launch.cluster)), tr(
        "{kernel}: block as launched, {registers} registers assumed; record or measure it for more",
        kernel=launch.label,
        registers=_ASSUMED_REGISTERS,
    )
