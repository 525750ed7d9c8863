"""Turns result files into CSV, for spreadsheets and notebooks: the name of each column includes its unit."""

import csv
import io
from collections.abc import Callable, Iterable, Mapping
from statistics import median
from typing import Literal

from gemmviz.backends.environment import cpu_of
from gemmviz.bench.document import Document
from gemmviz.bench.row import Row, dtype_out

_Part = Literal["hot", "stats", "telemetry", "transfer", "verify"]


def _plain(*names: str) -> dict[str, Callable[[Row], object]]:
    def cell(field: str) -> Callable[[Row], object]:
        return lambda row: _field(row, field)

    return {name: cell(name) for name in names}


def _within(part: _Part, **names: str) -> dict[str, Callable[[Row], object]]:
    """Return columns that take a field of a part of the row, which may be None."""

    def cell(field: str) -> Callable[[Row], object]:
        return lambda row: _field(row.get(part), field)

    return {column: cell(field) for column, field in names.items()}


def _field(part: Mapping[str, object] | None, name: str) -> object:
    return part.get(name) if part else None


def _watched(
    reduce: Callable[[list[float]], float], field: Literal["sm_mhz", "power_w", "temp_c"]
) -> Callable[[Row], object]:
    def cell(row: Row) -> object:
        telemetry = row.get("telemetry")
        values = telemetry.get(field) if telemetry else None
        return reduce(values) if values else None

    return cell


def _throttle(row: Row) -> list[str]:
    telemetry = row.get("telemetry")
    return telemetry.get("throttle") or [] if telemetry else []


def _hot_samples(row: Row) -> list[float]:
    hot = row.get("hot")
    return hot.get("samples_s") or [] if hot else []


_COLUMNS: Mapping[str, Callable[[Row], object]] = {
    **_plain("kernel", "label", "backend", "status", "exhibit", "M", "N", "K", "dtype_in", "dtype_acc"),
    "dtype_out": dtype_out,
    "params": lambda row: " ".join(f"{name}={value}" for name, value in (row.get("params") or {}).items()),
    "grid": lambda row: _shape(row.get("grid")),
    "block_threads": lambda row: _shape(row.get("block")),
    "shared_bytes": lambda row: row.get("smem"),
    "registers": lambda row: row.get("regs"),
    **_plain("local_bytes", "barriers", "gflops"),
    **_within("hot", hot_gflops="gflops"),
    **_within("stats", median_s="median", q1_s="q1", q3_s="q3", min_s="min", p5_s="p5", p95_s="p95"),
    **_within("stats", iqr_relative="iqr_rel", samples="n"),
    "round_gflops": lambda row: " ".join(f"{entry['gflops']:.6g}" for entry in row.get("rounds") or []),
    **_plain("stop_reason", "host_launch_s", "first_launch_s"),
    "gb_per_s": lambda row: row.get("gbps"),
    **_plain("peak_gflops", "peak_fraction", "peak_kind"),
    "sm_mhz_median": _watched(median, "sm_mhz"),
    "power_w_median": _watched(median, "power_w"),
    "temperature_c_max": _watched(max, "temp_c"),
    **_within("telemetry", energy_j="energy_j"),
    "throttle": lambda row: " ".join(_throttle(row)),
    **_within("transfer", to_device_s="to_device_s", to_host_s="to_host_s"),
    **_plain("compile_ms"),
    **_within("verify", verified_before="before", verified_after="after", max_abs_error="max_abs", error_bound="bound"),
    "flags": lambda row: "; ".join(row.get("flags") or []),
    **_plain("message", "source_sha256"),
}


def to_csv(document: Document) -> str:
    """Return a result file as CSV: a header, then one line per row; the columns are always the same.

    Parameters
    ----------
    document
        From `gemmviz.bench.results.read_results`, or as the engine made it.
    """
    return _write(
        [*_RUN, *_COLUMNS],
        ([*_run(document, row), *(cell(row) for cell in _COLUMNS.values())] for row in document["results"]),
    )


def samples_to_csv(document: Document) -> str:
    """Return every sample of a result file as CSV, one line each, cold pass and hot pass."""
    lines = (
        [*_run(document, row), row["kernel"], row.get("label"), row["M"], row["N"], row["K"], which, number, seconds]
        for row in document["results"]
        for which, samples in (("cold", row.get("samples_s")), ("hot", _hot_samples(row)))
        for number, seconds in enumerate(samples or [], 1)
    )
    return _write([*_RUN, "kernel", "label", "M", "N", "K", "pass", "sample", "seconds_per_launch"], lines)


_RUN = ("run_id", "started_utc", "host", "device", "device_uuid", "cpu")


def _run(document: Document, row: Row) -> list[object]:
    """Return the cells of `_RUN`: the device is that of the row, if a cluster measured. Only then the host is known."""
    device, place = document.get("device"), row.get("measured_on")
    if place:
        where: list[object] = [place["host"], place["device"], place["uuid"], place["cpu"] or None]
    else:
        name, uuid = (device.get("name"), device.get("uuid")) if device else (None, None)
        where = [None, name, uuid, cpu_of(document.get("env"))["model"] or None]
    return [document.get("run_id"), document.get("started_utc"), *where]


def _write(header: Iterable[str], lines: Iterable[list[object]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(lines)
    return text.getvalue()


def _shape(sizes: list[int] | None) -> str | None:
    return "x".join(map(str, sizes)) if sizes else None
