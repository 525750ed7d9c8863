"""What a result file holds, field by field, as ``resources/schema/result-2.json`` publishes it.

A row of an older file has the fields since then with what `gemmviz.bench.schema` says of them while nothing is known.
"""

from typing import Literal, NotRequired, TypedDict

Checked = Literal["ok", "wrong", "outside"] | None
"""What a verification found; ``"outside"``: written outside C. None: there was none."""


class Errors(TypedDict, total=False):
    """How far C is from a float64 reference; an error without bounds is None."""

    max_abs: float | None
    max_rel: float | None
    tolerance: float
    worst_index: list[int]
    wrong: int


class Verification(Errors):
    """C beside the reference, before and after the timing; the errors are those of the last comparison."""

    before: Checked
    after: Checked


class SampleStats(TypedDict):
    """Statistics of samples, in seconds; ``iqr_rel`` is the interquartile range over the median."""

    n: int
    min: float
    p5: float
    q1: float
    median: float
    q3: float
    p95: float
    iqr_rel: float
    mean: float
    std: float


class RoundFigures(TypedDict):
    """The cold samples of one round, numbered from 1."""

    round: int
    n: int
    median_s: float
    gflops: float


class HotPass(TypedDict):
    """Batches of launches with nothing cleared between them."""

    batch: int
    samples_s: list[float]
    stats: SampleStats
    gflops: float


class Telemetry(TypedDict):
    """What the GPU said of itself while it was timed, in MHz, W, °C and J."""

    sm_mhz: list[float]
    power_w: list[float]
    temp_c: list[float]
    energy_j: float | None
    throttle: list[str]


class TransferTimes(TypedDict):
    """Medians of copying A and B to the device, and C back."""

    to_device_s: float
    to_host_s: float


class Timing(TypedDict):
    """What a kernel loses that fails; the last two are of a reference only."""

    first_launch_s: float | None
    host_launch_s: float | None
    samples_s: list[float]
    rounds: list[RoundFigures]
    stats: SampleStats | None
    stop_reason: str | None
    hot: HotPass | None
    gflops: float | None
    gbps: float | None
    peak_gflops: float | None
    peak_fraction: float | None
    peak_kind: str | None
    telemetry: Telemetry | None
    transfer: TransferTimes | None
    run_utc: NotRequired[str]
    library_gflops: NotRequired[float | None]


class Outcome(Timing):
    """What is known only of a kernel that was compiled and run."""

    exhibit: bool
    source_sha256: str | None
    edited: bool
    grid: list[int] | None
    block: list[int] | None
    smem: int | None
    regs: int | None
    local_bytes: int | None
    status: str
    message: str
    line: int | None
    compile_ms: float | None
    compile_flags: list[str] | None
    verify: Verification
    flags: list[str]


class Sized(TypedDict):
    """What is of one size."""

    M: int
    N: int
    K: int


class Launched(Sized):
    """What is of one launch."""

    kernel: str
    params: dict[str, int]


class Row(Launched, Outcome):
    """A kernel at a size, or a transfer."""

    alias: str
    label: str
    backend: str
    dtype_in: str
    dtype_acc: str
    layout: dict[str, str]


class Fault(TypedDict):
    """Why there is no recording or no profile."""

    kind: str
    message: str


class Counts(Launched):
    """Figures of a launch, or why there are none: counted while recording, or read by Nsight Compute."""

    figures: dict[str, int | float | str]
    fault: Fault | None
    as_written: NotRequired[bool]
    source_sha256: NotRequired[str | None]


def figure_of(row: Row) -> float:
    """Return the GFLOPS of a row that has a figure."""
    assert row["gflops"] is not None
    return row["gflops"]


def stats_of(row: Row) -> SampleStats:
    """Return the statistics of a row that has a figure."""
    assert row["stats"] is not None
    return row["stats"]
