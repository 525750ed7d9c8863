"""The fields of a row of a result file, with the limits that are checked on reading: see `gemmviz.bench.schema`.

``docs/schemas.py`` publishes it as ``resources/schema/result-2.json``. Fields that a row of an
older file lacks get the values that `gemmviz.bench.schema` gives for unknown ones.
"""

from typing import Annotated, Literal, NotRequired, TypedDict

from msgspec import Meta

from gemmviz.catalogue.dtypes import ElementType
from gemmviz.catalogue.kernel import Backend
from gemmviz.catalogue.problem import Side
from gemmviz.catalogue.typed_reading import Finite, FromOne, FromZero, Quantity

Status = Literal["ok", "wrong", "compile", "launch", "crash", "timeout", "oom", "unsupported", "skipped", "cancelled"]
FAILURES: frozenset[Status] = frozenset(("wrong", "compile", "launch", "crash", "timeout"))
"""The statuses that are faults of the kernel; the others are due to the machine, the size or a cancellation."""
StopReason = Literal["steady", "timeout", "slow"]
Checked = Literal["ok", "wrong", "outside"] | None
"""The result of a verification; ``"outside"``: written outside C. None: not verified."""
Shape = Annotated[list[FromOne], Meta(min_length=3, max_length=3)]
"""Blocks or threads: x, y, z."""
Order = Literal["row", "column"]


class Layout(TypedDict):
    """How the matrices are stored."""

    A: Order
    B: Order
    C: Order


Bound = Literal["exact", "a priori", "probabilistic", "none"]
"""The bound of C's error: nothing may differ, a bound that always holds, one that holds almost always, or none."""


class Errors(TypedDict, total=False):
    """How far C is from a float64 reference; an error without bounds is None."""

    max_abs: float | None
    max_rel: float | None
    tolerance: float
    bound: Annotated[
        Bound,
        Meta(
            description='where the tolerance comes from. "none": sums have so many terms that no bound tells right '
            "from wrong on random inputs; C was checked on whole numbers, where it must be exact. Older files lack it"
        ),
    ]
    worst_index: list[int]
    wrong: int


class Verification(Errors):
    """C beside a float64 reference, before and after the timing; the errors are those of the last comparison."""

    before: Checked
    after: Checked


class SampleStats(TypedDict):
    """Statistics of samples, in seconds: quantiles, mean, standard deviation (of the sample; 0 for a single one).

    ``p5`` and ``p95`` are the 5th and 95th percentiles, ``iqr_rel`` is (q3 - q1) / median, the spread.
    """

    n: FromOne
    min: Quantity
    p5: Quantity
    q1: Quantity
    median: Quantity
    q3: Quantity
    p95: Quantity
    iqr_rel: Quantity
    mean: Quantity
    std: Quantity


class RoundFigures(TypedDict):
    """The cold samples of one round, numbered from 1."""

    round: FromOne
    n: FromOne
    median_s: Quantity
    gflops: Quantity


class HotPass(TypedDict):
    """Batches of launches with nothing cleared between them."""

    batch: FromOne
    samples_s: list[Quantity]
    stats: SampleStats
    gflops: Quantity


class Telemetry(TypedDict):
    """The state of the GPU while it was timed, in MHz, W, °C and J."""

    sm_mhz: list[Finite]
    power_w: list[Finite]
    temp_c: list[Finite]
    energy_j: Quantity | None
    throttle: list[str]


class TransferTimes(TypedDict):
    """Only in rows of backend "transfer": medians of copying A and B to the device, and C back."""

    to_device_s: Quantity
    to_host_s: Quantity


class MeasuredOn(TypedDict):
    """The machine of a row in a result file of several machines."""

    host: Annotated[str, Meta(description="the name of the machine")]
    device: Annotated[str | None, Meta(description="the GPU; null where there is none")]
    uuid: Annotated[str | None, Meta(description="the UUID of the GPU")]
    cpu: Annotated[str, Meta(description="the processor")]
    run_utc: Annotated[str, Meta(description="when the row's run began", extra_json_schema={"format": "date-time"})]


class Timing(TypedDict):
    """The figures, which a failed kernel loses; the last two are of a reference only."""

    first_launch_s: Annotated[
        Quantity | None,
        Meta(description="host's time of the process's very first launch of this kernel, until it is synchronised"),
    ]
    host_launch_s: Annotated[Quantity | None, Meta(description="median of the host's time to queue one launch")]
    samples_s: Annotated[
        list[Quantity],
        Meta(
            description="cold pass: seconds per launch, in the order taken; at most 2000 of them, evenly spaced, while "
            "stats.n counts all"
        ),
    ]
    rounds: Annotated[list[RoundFigures], Meta(description="the cold samples by the round in which they were taken")]
    stats: Annotated[SampleStats | None, Meta(description="of all cold samples, seconds")]
    stop_reason: Annotated[
        StopReason | None,
        Meta(description='why sampling ended; "slow": a launch takes so long that one sample is enough'),
    ]
    hot: Annotated[HotPass | None, Meta(description="hot pass: batches of launches, nothing cleared between them")]
    gflops: Annotated[Quantity | None, Meta(description="the headline: 2 M N K over the cold median")]
    gbps: Annotated[Quantity | None, Meta(description="bytes of A, B and C, each once, over the cold median")]
    peak_gflops: Annotated[Quantity | None, Meta(description="modelled from the device's published limits")]
    peak_fraction: Annotated[Quantity | None, Meta(description="gflops over peak_gflops")]
    peak_kind: str | None
    telemetry: Telemetry | None
    transfer: TransferTimes | None
    cpu_pace: NotRequired[
        Annotated[
            list[Quantity],
            Meta(
                description="CPU: how often per second a fixed loop ran before and after each round; it follows the "
                "clock. Older files lack it"
            ),
        ]
    ]
    run_utc: NotRequired[
        Annotated[
            str,
            Meta(
                description="only in a reference made of several runs: when this row's run began; protocol.runs says "
                "how it measured",
                extra_json_schema={"format": "date-time"},
            ),
        ]
    ]
    library_gflops: NotRequired[
        Annotated[
            Quantity | None,
            Meta(
                description="only in a reference: the best library of the same types, size and place (CPU or GPU) in "
                "the same run; of the same layouts, if there is one"
            ),
        ]
    ]
    measured_on: NotRequired[
        Annotated[MeasuredOn, Meta(description="only where a cluster measured: rows of one size have one machine")]
    ]


Digest = Annotated[str | None, Meta(description="digest of the code, and of the front matter that decides the launch")]


class Outcome(Timing):
    """The facts about a kernel that was compiled and run."""

    exhibit: Annotated[bool, Meta(description="an exhibit: verified, never timed, never ranked")]
    source_sha256: Digest
    edited: Annotated[bool, Meta(description="whether the text differs from the file that it names")]
    grid: Annotated[Shape | None, Meta(description="blocks (x, y, z)")]
    block: Annotated[Shape | None, Meta(description="threads (x, y, z)")]
    smem: Annotated[FromZero | None, Meta(description="bytes of shared memory per block")]
    regs: Annotated[FromZero | None, Meta(description="registers per thread")]
    local_bytes: Annotated[FromZero | None, Meta(description="bytes of local memory per thread")]
    barriers: NotRequired[
        Annotated[FromZero | None, Meta(description="named barriers per block, 16 at most. Older files lack it")]
    ]
    status: Status
    message: Annotated[str, Meta(description="why the status is not ok")]
    line: Annotated[FromOne | None, Meta(description="line of the kernel's file that the message is about")]
    compile_ms: Quantity | None
    compile_flags: list[str] | None
    verify: Verification
    flags: Annotated[
        list[str],
        Meta(
            description="throttled, noisy, contended, above-peak, rounds-disagree, clock-moved, slower-than-numpy, "
            "or a note"
        ),
    ]


class Sized(TypedDict):
    """The fields of one size."""

    M: Side
    N: Side
    K: Side


class Launched(Sized):
    """The fields of one launch."""

    kernel: Annotated[str, Meta(description='the kernel\'s name in the ladder, or "transfer"')]
    params: dict[str, int]


class Row(Launched, Outcome):
    """A kernel at a size, or a transfer."""

    alias: Annotated[str, Meta(description="its name in the document that teaches it")]
    label: Annotated[str, Meta(description="entry with its parameters, for people")]
    backend: Backend | Literal["transfer"]
    dtype_in: Annotated[ElementType, Meta(description="element type of A and B")]
    dtype_acc: Annotated[ElementType, Meta(description="element type of the sums")]
    dtype_out: NotRequired[Annotated[ElementType, Meta(description="element type of C; without it, that of the sums")]]
    layout: Layout
    devices: NotRequired[Annotated[FromOne, Meta(description="the GPUs of a product that several compute together")]]
    link_bytes: NotRequired[
        Annotated[
            FromZero, Meta(description="bytes that copies bring over the links between these GPUs in one product")
        ]
    ]


class Fault(TypedDict):
    """Why there is no recording or no profile."""

    kind: str
    message: str


class Counts(Launched):
    """The counts of a recording on the CPU, or why there is none; kept with the results if claims need it."""

    figures: dict[str, Finite | str]
    fault: Fault | None
    as_written: NotRequired[
        Annotated[
            bool,
            Meta(
                description="whether every access that the text names was counted; without it, or false: those that a "
                "compiler leaves"
            ),
        ]
    ]


class Shares(TypedDict, total=False):
    """In percent: compute and memory throughput of the peak, and achieved occupancy."""

    compute: Quantity
    memory: Quantity
    occupancy: Quantity


class Profile(Launched):
    """The counters of Nsight Compute for one launch, or the reason why there are none; kept if claims need them."""

    figures: Shares
    fault: Fault | None
    source_sha256: Digest


def figure_of(row: Row) -> float:
    """Return the GFLOPS of a row that has a figure."""
    assert row["gflops"] is not None
    return row["gflops"]


def device_of(row: Row) -> str:
    """Return the identity of the row's device in its file: ratios never cross devices.

    It is the UUID of the GPU, or the host of a CPU; empty in a file of one machine.
    """
    place = row.get("measured_on")
    return (place["uuid"] or place["host"]) if place else ""


def dtype_out(row: Row) -> ElementType:
    """Return C's element type: older files have C in the type of the sums, and do not say so."""
    return row.get("dtype_out", row["dtype_acc"])


def stats_of(row: Row) -> SampleStats:
    """Return the statistics of a row that has a figure."""
    assert row["stats"] is not None
    return row["stats"]
