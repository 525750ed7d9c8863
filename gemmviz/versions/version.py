"""All data about one of two versions."""

from dataclasses import dataclass

from gemmviz.assembly.listing import Usage
from gemmviz.assembly.summary import Summary
from gemmviz.catalogue.launch import Launch
from gemmviz.checking.report import Report
from gemmviz.trace.cost.traffic import Traffic
from gemmviz.trace.recording.recording import Recording


@dataclass(frozen=True)
class Work:
    """The counts of a recording.

    Attributes
    ----------
    recording
        The recording; its accesses are not needed.
    traffic
        Its memory traffic.
    barriers
        The largest number of barriers of its block that a thread passes before its last access.
    """

    recording: Recording
    traffic: Traffic
    barriers: int


@dataclass(frozen=True)
class MachineCode:
    """The machine code: see `gemmviz.assembly.listing.Listing`."""

    architecture: str
    usage: Usage
    summary: Summary


@dataclass(frozen=True)
class Speed:
    """A figure in GFLOPS.

    Attributes
    ----------
    gflops
        The figure.
    size
        M, N and K, as people write them.
    origin
        ``"measured"``, here and now, or ``"reference: DEVICE, DATE"``.
    """

    gflops: float
    size: str
    origin: str


@dataclass(frozen=True)
class Version:
    """One version. A part that does not exist is None, and a sentence gives the reason.

    Attributes
    ----------
    name
        As the user named it.
    launch
        The kernel with size and parameters.
    work, no_work
        The recorded work.
    report, no_report
        The checker's report at this size.
    code, no_code
        The machine code.
    speed, no_speed
        GFLOPS.
    """

    name: str
    launch: Launch
    work: Work | None = None
    no_work: str = ""
    report: Report | None = None
    no_report: str = ""
    code: MachineCode | None = None
    no_code: str = ""
    speed: Speed | None = None
    no_speed: str = ""
