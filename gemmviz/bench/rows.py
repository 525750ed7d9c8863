"""Fills a row of the result file with the figures of the protocol, round by round."""

from gemmviz.backends.base import Build
from gemmviz.backends.watch import Observed
from gemmviz.bench import quality_flags, results
from gemmviz.bench.protocol import Protocol
from gemmviz.bench.row import FAILURES, RoundFigures, Row, Status, Telemetry, stats_of
from gemmviz.bench.stats import summarise
from gemmviz.bench.timing import Cold, Hot

MOST_SAMPLES = 2000
# Two copies of one library with the same code path differ by less than this in the fastest of some turns.
_SLOWER = 1.05


def describe_build(row: Row, build: Build) -> None:
    """Fill in the compiler's results, or the code path that a library chose."""
    results.describe_build(row, build)
    row |= {"local_bytes": build.local_bytes, "barriers": build.barriers}
    if build.variant:
        row["label"] += f" ({build.variant})"


def describe_round(row: Row, cold: Cold, fresh: int, seen: Observed, paces: list[float]) -> None:
    """Fill in a finished round: the figures of all samples up to now, and the observations during the round.

    Parameters
    ----------
    row
        The kernel's row; from now on it counts as ok.
    cold
        All of its cold samples; the last `fresh` of them are this round's.
    seen
        The observations during these samples.
    paces
        ``cpu_pace`` of all kernels of the run; that of this round is added.
    """
    median = summarise(cold.seconds[-fresh:])["median"]
    entry: RoundFigures = {
        "round": len(row["rounds"]) + 1,
        "n": fresh,
        "median_s": median,
        "gflops": cold.flops / median / 1e9,
    }
    row["rounds"] = [*row["rounds"], entry]
    results.describe_samples(row, cold.seconds, summarise(cold.seconds), cold.stop, cold.flops)
    if seen.telemetry:
        _add_telemetry(row, seen)
    if seen.pace:
        row["cpu_pace"] = [*row.get("cpu_pace", []), *seen.pace]
        paces += seen.pace
    quality_flags.judge(row, contended=seen.contended, paces=paces)


def describe_hot(row: Row, hot: Hot, flops: int, host_launch_s: float | None) -> None:
    """Fill in the hot pass, and the host's time to queue a launch."""
    row["host_launch_s"] = host_launch_s
    if hot.seconds:
        stats = summarise(hot.seconds)
        row["hot"] = {
            "batch": hot.batch,
            "samples_s": [float(f"{s:.6g}") for s in hot.seconds],
            "stats": stats,
            "gflops": flops / stats["median"] / 1e9,
        }
    quality_flags.judge(row)


def describe_rival(row: Row, seconds: tuple[float, float]) -> None:
    """Flag a reference that is slower than NumPy; `seconds` are its own and NumPy's, measured in turns.

    If other programs use the cores, no flag is set: a turn may be slow because of them.
    """
    if seconds[0] > _SLOWER * seconds[1] and "contended" not in row["flags"]:
        row["flags"] = [*row["flags"], quality_flags.SLOWER_THAN_NUMPY]


def describe_peak(row: Row, peak: tuple[float, str] | None, devices: int = 1) -> None:
    """Fill in the reached share of the modelled peak (GFLOPS of one device, and its name) of all `devices` together."""
    if peak is None or row["gflops"] is None:
        return
    all_of_them = devices * peak[0]
    row |= {"peak_gflops": all_of_them, "peak_kind": peak[1], "peak_fraction": row["gflops"] / all_of_them}
    quality_flags.judge(row)


def thin(row: Row) -> None:
    """Keep `MOST_SAMPLES` of the cold samples, evenly spaced; ``stats`` and ``rounds`` are still those of all samples.

    On a machine with much noise, a short launch is sampled some hundred thousand times until the time limit.
    """
    samples = row["samples_s"]
    if len(samples) > MOST_SAMPLES:
        row["samples_s"] = [samples[i * len(samples) // MOST_SAMPLES] for i in range(MOST_SAMPLES)]


def cut_short(row: Row, protocol: Protocol, status: Status, why: str) -> None:
    """Finish a row whose remaining rounds are cancelled.

    It keeps its figures, with a note, if it has as many samples as the stop rule requires; else it gets `status`.
    """
    note = f"{why} after round {len(row['rounds'])} of {protocol.rounds}"
    if stats_of(row)["n"] < protocol.min_samples:
        results.fail(row, status, note)
    else:
        row["flags"] = [*row["flags"], note]
        thin(row)


def explain_exhibit(row: Row, reason: str) -> None:
    """Fill in the purpose of an exhibit; an exhibit is not ranked even if its C is right at this size."""
    if row["status"] == "ok":
        results.fail(row, "skipped", f"an exhibit: C is right at this size, and it is never timed. {reason}")
    elif row["status"] in FAILURES:
        row["message"] = f"{row['message']}. Exhibit: {reason}"


def _add_telemetry(row: Row, seen: Observed) -> None:
    nothing: Telemetry = {"sm_mhz": [], "power_w": [], "temp_c": [], "energy_j": None, "throttle": []}
    known = row["telemetry"] or nothing
    joules = [e for e in (known["energy_j"], seen.energy_j) if e is not None]
    row["telemetry"] = {
        "sm_mhz": [*known["sm_mhz"], *seen.sm_mhz],
        "power_w": [*known["power_w"], *seen.power_w],
        "temp_c": [*known["temp_c"], *seen.temp_c],
        "energy_j": sum(joules) if joules else None,
        "throttle": sorted({*known["throttle"], *seen.throttle}),
    }
