"""Compares two result files, row by row."""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Literal

from gemmviz.backends.environment import cpu_of
from gemmviz.bench.document import Document
from gemmviz.bench.figures import ON_GPU, TRANSFER
from gemmviz.bench.protocol import Protocol
from gemmviz.bench.row import MeasuredOn, Row, stats_of
from gemmviz.bench.spread import shaky, span

SpeedChange = Literal["FASTER", "SLOWER", "SAME", "UNCLEAR"]
# Two runs of one kernel on one machine agree within this share of the median.
NOISE = 0.02


@dataclass(frozen=True)
class RowComparison:
    """One kernel at one size in two files.

    Attributes
    ----------
    label, size
        The kernel with its parameters, and (M, N, K).
    before, after
        In `unit`, or None if there is no figure.
    unit
        ``"GFLOPS"``, or ``"GB/s"`` for copies.
    verdict
        The verdict on the kernel.
    reason
        The reason, if the figures do not show it; may be empty.
    """

    label: str
    size: tuple[int, int, int]
    before: float | None
    after: float | None
    verdict: SpeedChange
    reason: str = ""
    unit: str = "GFLOPS"

    @property
    def ratio(self) -> float | None:
        """The speed divided by the speed before, or None."""
        return self.after / self.before if self.before and self.after else None


def compare(before: Document, after: Document) -> Iterator[RowComparison]:
    """Compare the rows that are in both files, and list those that are in one file only.

    A difference below `NOISE` does not count. A larger difference counts if the middle halves of the samples (first to
    third quartile) do not overlap. If a row has the flag noisy, contended or rounds-disagree, a difference counts only
    if it is larger than the whole range of the rounds and samples of both runs. A kernel that was right and is wrong
    now is SLOWER, whatever its figures are. Exhibits have no figures and are left out. Figures of different devices of
    a cluster are not compared: UNCLEAR.

    Parameters
    ----------
    before, after
        From `gemmviz.bench.results.read_results`.

    Yields
    ------
    Comparison
        In the order of `after`, then the rows that only `before` has. Rows without a run, and exhibits, are left out.
    """
    old = {_key(row): row for row in before["results"] if not row["exhibit"]}
    for row in (row for row in after["results"] if not row["exhibit"]):
        other = old.pop(_key(row), None)
        if row["status"] != "skipped" or (other and other["status"] != "skipped"):
            yield _judge(other, row, (before, after))
    for row in (row for row in old.values() if row["status"] != "skipped"):
        yield _judge(row, None, (before, after))


def protocol_differences(before: Document, after: Document) -> list[str]:
    """Return which rules of the measurement differ between two result files, for people."""
    old, new = before["protocol"], after["protocol"]
    names = [field.name for field in fields(Protocol)]
    return [f"{n} {old.get(n)} before, {new.get(n)} now" for n in names if old.get(n) != new.get(n)]


def _key(row: Row) -> tuple[object, ...]:
    params = tuple(sorted((row.get("params") or {}).items()))
    return row["kernel"], row["backend"], row.get("dtype_in"), row["M"], row["N"], row["K"], params


def _judge(old: Row | None, new: Row | None, files: tuple[Document, Document]) -> RowComparison:
    known = new or old
    assert known is not None
    label, size = str(known.get("label") or known["kernel"]), (known["M"], known["N"], known["K"])
    is_copy = known["backend"] == TRANSFER
    unit = "GB/s" if is_copy else "GFLOPS"
    ok = (row if row and row["status"] == "ok" else None for row in (old, new))
    before, after = (row and (row["gbps"] if is_copy else row["gflops"]) for row in ok)

    def result(verdict: SpeedChange, reason: str = "") -> RowComparison:
        return RowComparison(label, size, before, after, verdict, reason, unit)

    if old is None or new is None:
        return result("UNCLEAR", f"only in the {'second' if old is None else 'first'} file")
    if before is None or after is None:
        if before is not None and new["status"] not in ("skipped", "cancelled"):
            return result("SLOWER", f"was ok, is {new['status']}: {new['message']}")
        return result("UNCLEAR", f"{old['status']} before, {new['status']} now")
    if other := _other_device(old, new, *files):
        return result("UNCLEAR", other)
    if abs(after / before - 1) < NOISE:
        return result("SAME")
    first, second = stats_of(old), stats_of(new)
    if first["q1"] <= second["q3"] and second["q1"] <= first["q3"]:
        return result("UNCLEAR", "the samples overlap")
    doubts = shaky((old, new))
    because = _doubtful(old, new) if doubts else ""
    if because:
        return result("UNCLEAR", f"flagged {', '.join(doubts)}: {because}")
    flags = dict.fromkeys([*old["flags"], *new["flags"]])
    return result("FASTER" if after > before else "SLOWER", f"flagged {', '.join(flags)}" if flags else "")


def _other_device(old: Row, new: Row, before: Document, after: Document) -> str:
    """Return that two rows were measured on different devices, if a cluster measured one of them; else empty."""
    if "measured_on" not in old and "measured_on" not in new:
        return ""  # two files of one machine each: whoever compares them has compared the machines
    places = [_place(old, before), _place(new, after)]
    on_gpu = old["backend"] in (*ON_GPU, TRANSFER)
    identities = [(p["uuid"], p["device"]) if on_gpu else (p["host"], p["cpu"]) for p in places]
    if all(a == b or not (a and b) for a, b in zip(*identities, strict=True)):
        return ""
    names = [f"{place['device'] or place['cpu']} of {place['host'] or 'an unnamed machine'}" for place in places]
    return f"measured on different devices: {names[0]} before, {names[1]} now"


def _place(row: Row, document: Document) -> MeasuredOn:
    """Return where a row was measured; its host is empty in a file of one machine."""
    device = document["device"]
    alone: MeasuredOn = {
        "host": "",
        "device": device["name"] if device else None,
        "uuid": device.get("uuid") if device else None,
        "cpu": cpu_of(document["env"])["model"],
        "run_utc": document["started_utc"],
    }
    return row.get("measured_on", alone)


def _doubtful(old: Row, new: Row) -> str:
    """Return why the difference of two flagged rows may be a coincidence; empty if it is not."""
    if min(stats_of(row)["n"] for row in (old, new)) < 2:
        return "a single sample proves nothing"
    widths = [high - low for low, high in map(span, (old, new))]
    apart = abs(stats_of(new)["median"] - stats_of(old)["median"])
    return "rounds and samples span as much as the difference" if apart <= sum(widths) else ""
