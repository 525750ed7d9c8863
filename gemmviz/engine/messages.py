"""The messages to and from the engine: plain data only, so that an engine can run elsewhere.

Each message is a dataclass of texts, numbers, lists, dictionaries and NumPy arrays; `gemmviz.engine.framing` sends and
receives them. Every message has the number of its run, so that late answers can be dropped. Every request has the
``language`` of the sentences in the replies, one of `gemmviz.language.LANGUAGES`: `supervisor.Engine` sets it to the
language of its own process.
"""

from dataclasses import dataclass, field
from typing import Annotated, Any

from msgspec import Meta

from gemmviz.assembly.listing import Listing
from gemmviz.backends.environment import Probe
from gemmviz.bench.document import Document
from gemmviz.bench.entries import KernelEntry, ProfileEntry
from gemmviz.bench.row import Profile, Row
from gemmviz.bench.tuning.outcome import Candidate, Outcome
from gemmviz.catalogue.errors import Defect
from gemmviz.checking.plan import CheckEntry
from gemmviz.checking.report import Report
from gemmviz.trace.cost.traffic import Traffic
from gemmviz.trace.hazards import Finding
from gemmviz.trace.order.timeline import Timeline
from gemmviz.trace.recording.recording import Recording

MOST_SAMPLES, MOST_LABEL, MOST_ROUNDS = 1 << 16, 500, 1000
"""The most samples in one `Sample`, the longest label, and the highest number of a round."""


@dataclass(frozen=True)
class RecordRequest:
    """Record a kernel: answered by `Progress`, then `Recorded`, or by `Failed`.

    ``path`` is the file (its suffix gives the language), ``text`` is the source to record, which may differ from the
    file on disk, and ``folders`` are those in the kernel's name: see `gemmviz.catalogue.kernel.Kernel`. ``order`` is
    that of the timeline (``"grid"`` or ``"block"``); ``"none"``: no timeline; ``"totals"``: only the sums of accesses,
    in a fraction of the memory; ``"verdict"``: only C and the diagnostics. ``deadline_s`` is the kernel's time limit in
    seconds of processor time. ``blocks`` is the range of blocks to record, without its end; None: all. ``capacity`` is
    the largest number of accesses to keep; None: as many as fit in memory. ``as_written``: every access in the text,
    not only those that remain after compiling. ``random``: with random numbers as A and B, whose C is rounded: then no
    element counts as wrong.
    """

    run: int
    path: str
    text: str
    m: int
    n: int
    k: int
    params: dict[str, int] = field(default_factory=dict)
    order: str = "grid"
    deadline_s: float = 20.0
    blocks: tuple[int, int] | None = None
    capacity: int | None = None
    as_written: bool = False
    random: bool = False
    folders: str = ""
    language: str = "en"


@dataclass(frozen=True)
class CheckRequest:
    """Look for defects: answered by `Progress` and one `Checked` per launch, in order, then `Done`; or by `Failed`.

    ``path``, ``text`` and ``folders`` are as in `RecordRequest`.
    ``deadline_s`` is for each launch, in seconds of processor time. ``first`` and ``watches`` are for
    `supervisor.Engine`: the number of the first entry, and whether the process ended at it before. Then only the
    indices of local arrays are checked, and which variables have no value, and ``Done`` alone is the answer, or
    `Failed`.
    """

    run: int
    path: str
    text: str
    launches: list[CheckEntry]
    deadline_s: float = 20.0
    first: int = 0
    watches: bool = False
    folders: str = ""
    language: str = "en"


@dataclass(frozen=True)
class BenchRequest:
    """Verify and measure kernels: answered by `Header`, `Progress`, `Sample` and `Result`, then `BenchDone`.

    Every entry of ``sizes`` is (M, N, K). ``"row"`` is the result up to now of an earlier process that died, and
    ``"transfer"`` requests the copies to the device and back: `supervisor.Engine` adds both. ``protocol`` holds the
    fields of `gemmviz.bench.protocol.Protocol` that differ from their defaults.
    """

    run: int
    kernels: list[KernelEntry]
    sizes: list[tuple[int, int, int]]
    protocol: dict[str, float] = field(default_factory=dict)
    language: str = "en"


@dataclass(frozen=True)
class TuneRequest:
    """Search a kernel's parameters for the fastest: answered by `Header`, `Progress` and `Tried`, then `Searched`.

    ``path``, ``text`` and ``folders`` are as in `RecordRequest`. ``held`` are the parameters with a fixed value;
    ``seconds`` is the time limit of the search. After the death of a process, ``known`` holds its results,
    ``[candidate, row, whether it is final]``, and ``spent_s`` the time that they took; `supervisor.Engine` adds both.
    """

    run: int
    path: str
    text: str
    m: int
    n: int
    k: int
    held: dict[str, int] = field(default_factory=dict)
    seconds: float = 120.0
    known: list[list[Any]] = field(default_factory=list)
    spent_s: float = 0.0
    folders: str = ""
    language: str = "en"


@dataclass(frozen=True)
class ProfileRequest:
    """Run kernels under Nsight Compute: answered by `Progress`, then `Profiled`, or by `Failed`."""

    run: int
    launches: list[ProfileEntry]
    language: str = "en"


@dataclass(frozen=True)
class CountRequest:
    """Read a GPU's counters of kernels with Nsight Compute: answered by `Progress`, then `Counted`, or by `Failed`."""

    run: int
    launches: list[ProfileEntry]
    language: str = "en"


@dataclass(frozen=True)
class AssembleRequest:
    """Compile and disassemble a CUDA kernel: answered by `Progress`, then `Assembled`, or by `Failed`.

    ``path``, ``text`` and ``folders`` are as in `RecordRequest`. ``architecture`` is for example ``"sm_80"``; if it is
    empty, that of this machine's GPU, else one that suits the kernel.
    """

    run: int
    path: str
    text: str
    m: int
    n: int
    k: int
    params: dict[str, int] = field(default_factory=dict)
    architecture: str = ""
    folders: str = ""
    language: str = "en"


@dataclass(frozen=True)
class ProbeRequest:
    """Request the facts of this machine (devices, compiler, libraries): answered by `Probed`."""

    run: int
    language: str = "en"


@dataclass(frozen=True)
class Cancel:
    """Stop a run soon. Bench runs and searches still end with `BenchDone` or `Searched`, the others with `Failed`."""

    run: int


@dataclass(frozen=True)
class Progress:
    """The progress of a run: a sentence for people, and the finished share (0 to 1); None if it is unknown.

    The next reply arrives within ``deadline_s`` seconds, unless a kernel hangs; None if the time is unknown. ``job`` is
    the index in ``BenchRequest.kernels`` or ``CheckRequest.launches``, or of the candidate of a search; or None.
    """

    run: int
    text: str
    share: float | None = None
    deadline_s: float | None = None
    job: int | None = None


@dataclass(frozen=True)
class Header:
    """The result file of a bench run, or of a search, before its first row; it is sent before any kernel runs."""

    run: int
    document: Document


@dataclass(frozen=True)
class Recorded:
    """A finished recording, as it arrives; `gemmviz.trace.untrusted` checks it before its numbers are used.

    ``timeline`` is None if the request has none, ``traffic`` if it asks for a verdict only. ``findings`` has its
    defects, worst first; None if they were not looked for: the recording is too large, or has no accesses.
    """

    run: int
    recording: Recording
    timeline: Timeline | None = None
    traffic: Traffic | None = None
    findings: list[Finding] | None = None


@dataclass(frozen=True)
class Checked:
    """The report on one launch.

    ``job`` is the entry of ``CheckRequest.launches``. A launch that crashes its process is a report, too.
    """

    run: int
    report: Report
    job: int = 0


@dataclass(frozen=True)
class Sample:
    """New samples of one kernel, as they arrive: seconds per launch, and the GFLOPS of their running median.

    ``round`` (from 1) of ``rounds`` is the current one; ``verified``: C was right before the timing began.
    """

    run: int
    kernel: str
    label: Annotated[str, Meta(max_length=MOST_LABEL)]
    m: int
    n: int
    k: int
    seconds: Annotated[list[float], Meta(max_length=MOST_SAMPLES)]
    gflops: float
    round: Annotated[int, Meta(ge=1, le=MOST_ROUNDS)] = 1
    rounds: Annotated[int, Meta(ge=1, le=MOST_ROUNDS)] = 1
    verified: bool = False


@dataclass(frozen=True)
class Result:
    """A row of the result file after a round: see `gemmviz.bench.results`.

    ``job`` is the entry of ``BenchRequest.kernels``. A ``final`` row is the last one; each row replaces the previous
    one.
    """

    run: int
    row: Row
    job: int = 0
    final: bool = True


@dataclass(frozen=True)
class Tried:
    """A candidate of a search after a round, and its row of a result file.

    ``final``: it gets no more rounds. ``best`` is the number of the fastest candidate so far, or None;
    ``default`` that of the default parameters, None if they cannot run; ``candidates`` is their number.
    """

    run: int
    number: int
    candidate: Candidate
    row: Row
    final: bool
    best: int | None
    default: int | None
    candidates: int


@dataclass(frozen=True)
class Searched:
    """The end of a search, which may have been cancelled."""

    run: int
    document: Outcome


@dataclass(frozen=True)
class Profiled:
    """The counters of Nsight Compute, one entry per launch and in order: see `gemmviz.proving.profiling.profile`."""

    run: int
    profiles: list[Profile]


@dataclass(frozen=True)
class Counted:
    """A GPU's counters, one proof per launch and in order, without predictions: a file of `gemmviz.proving.proofs`."""

    run: int
    document: str


@dataclass(frozen=True)
class Assembled:
    """The machine code of a launch."""

    run: int
    listing: Listing


@dataclass(frozen=True)
class Probed:
    """The facts of this machine: see `gemmviz.backends.machine`."""

    run: int
    facts: Probe


@dataclass(frozen=True)
class Done:
    """The end of a run."""

    run: int


@dataclass(frozen=True)
class BenchDone:
    """The end of a bench run: `supervisor.Engine` has completed its result file."""

    run: int
    document: Document


@dataclass(frozen=True)
class Failed:
    """The end of a run without an answer.

    ``kind`` is one of the result file's statuses (``compile``, ``launch``, ``crash``, ``timeout``, ``cancelled``,
    ``unsupported``, ``oom``) or ``refused`` (a constraint, front matter), ``untrusted`` (the user has not allowed the
    text to run: see `gemmviz.engine.consent`) or ``internal``; ``line`` is the line of the kernel's file, from 1, if
    known. ``defect`` and ``array`` are the class of a crash: see `gemmviz.catalogue.errors.KernelFault`.
    """

    run: int
    kind: str
    message: str
    line: int | None = None
    defect: Defect = "crash"
    array: str = ""


Request = (
    RecordRequest
    | CheckRequest
    | BenchRequest
    | TuneRequest
    | ProfileRequest
    | CountRequest
    | AssembleRequest
    | ProbeRequest
)
_Final = Recorded | Searched | Profiled | Counted | Assembled | Probed | Done | BenchDone | Failed
Reply = Progress | Header | Checked | Sample | Result | Tried | _Final
Message = Request | Cancel | Reply
FINAL = (Recorded, Searched, Profiled, Counted, Assembled, Probed, Done, BenchDone, Failed)
