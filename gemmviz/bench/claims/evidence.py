"""The evidence for claims: result rows, profiles and counted recordings."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import cached_property
from typing import Literal

from gemmviz.bench.claims import tiles
from gemmviz.bench.claims.claim_text import AS_WRITTEN, ORIGINS
from gemmviz.bench.claims.models import modelled
from gemmviz.bench.claims.record import Case, Quantity
from gemmviz.bench.document import Document, Machine
from gemmviz.bench.figures import TRANSFER, Key, key_of
from gemmviz.bench.results import machine
from gemmviz.bench.row import Counts, Fault, Launched, Profile, Row, stats_of
from gemmviz.bench.spread import shaky, span
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.ladder import ladder
from gemmviz.language import tr
from gemmviz.trace.cost.traffic import Traffic
from gemmviz.trace.recording.recording import Recording

_PARTS: Mapping[str, tuple[Literal["stats", "transfer", "verify"], str]] = {
    "median_s": ("stats", "median"),
    "to_device_s": ("transfer", "to_device_s"),
    "to_host_s": ("transfer", "to_host_s"),
    "max_rel": ("verify", "max_rel"),
}
"""The part and the name of figures that are in a part of a row."""
_TIMES = ("median_s", "to_device_s", "to_host_s")
_RATES = ("gflops", "gbps")
RIGHT, WRONG, REFUSED = "right", "wrong", "refused"
"""The possible outcomes of a recorded launch: see the figure ``recorded.outcome``."""
_NO_GPU = "no CUDA device"


class Missing(Exception):
    """A missing figure.

    ``waiting``: a run may still give it; else the text is the reason why there is none.
    """

    def __init__(self, message: str, waiting: bool = False) -> None:
        super().__init__(message)
        self.waiting = waiting


class Evidence:
    """Collects rows, profiles and counted recordings; a later one replaces an earlier one of the same case.

    Attributes
    ----------
    device
        The machine of the rows, for people: GPU and processor.
    date
        The day of the measurement, ``"2026-11-21"``; empty if unknown.
    reference
        Whether the rows come from another machine.
    changes
        The number of figures taken so far: while it stays, verdicts stay.
    """

    def __init__(self, device: str = "", date: str = "", reference: bool = False) -> None:
        self.device, self.date, self.reference = device, date, reference
        self._rows: dict[Key, Row] = {}
        self._counts: dict[tuple[Key, bool], Counts] = {}
        self._profiles: dict[Key, Profile] = {}
        self.changes = 0

    @classmethod
    def of(cls, document: Document, reference: bool = False) -> "Evidence":
        """Return the evidence of a result file, its profiles and counted recordings included.

        Parameters
        ----------
        document
            From `gemmviz.bench.results.read_results`, or as the engine made it.
        reference
            Whether it was measured elsewhere.
        """
        evidence = cls(reference=reference)
        evidence.describe(document)
        for row in document["results"]:
            evidence.add_row(row)
        for counts in document.get("recordings", []):
            evidence.add_counts(counts)
        evidence.add_profiles(document.get("profiles", []))
        return evidence

    def describe(self, document: Machine) -> None:
        """Take device and date from a result file, or from its header."""
        self.device = machine(document)
        try:
            self.date = datetime.fromisoformat(document["started_utc"]).date().isoformat()
        except (KeyError, TypeError, ValueError):
            self.date = ""

    @property
    def place(self) -> str:
        """The machine and the day of the measured figures, for people: ``"NVIDIA H200, 2026-11-21"``."""
        return ", ".join([self.device or tr("this machine"), *([self.date] if self.date else [])])

    def origin(self, quantities: Iterable[Quantity]) -> str:
        """Return the origin of some figures, for people: ``"measured: NVIDIA H200, 2026-11-21"``, ``"recorded"``.

        It is ``"recorded as written"`` for figures that count every access in the text.
        """
        origins = sorted({_origin(quantity) for quantity in quantities})
        here = "measured" in origins or "profiled" in origins
        if here and self.reference:
            origins = ["reference", *(origin for origin in origins if origin not in ("measured", "profiled"))]
        words = ", ".join(tr(ORIGINS[origin]) for origin in origins)
        return f"{words}: {self.place}" if here else words

    def add_row(self, row: Row) -> None:
        """Take a row of a result file; rows that do not belong to the documents' experiments are left out."""
        if row["edited"] or (row["backend"] == TRANSFER and row["dtype_in"] != "float32"):
            return  # an edited kernel is no longer that of the document; and the documents copy only single precision
        self._rows[_key(row)] = row
        self.changes += 1

    def add_rows(self, rows: Iterable[Row]) -> None:
        """Take several rows."""
        for row in rows:
            self.add_row(row)

    def add_counts(self, counts: Counts) -> None:
        """Take the result of `counted` for a recording."""
        # Counts without a view are from a version that had only one view.
        self._counts[_key(counts), counts.get("as_written", False)] = counts
        self.changes += 1

    def add_fault(self, case: Case, message: str, kind: str = "other") -> None:
        """Keep the reason why a case could not be recorded; ``kind`` as in `gemmviz.engine.messages.Failed`."""
        self.add_counts(_counts(case, {}, {"kind": kind, "message": message}))

    def add_profiles(self, profiles: Iterable[Profile]) -> None:
        """Take the result of `gemmviz.proving.profiling.profile`."""
        for plain in profiles:
            self._profiles[_key(plain)] = plain
            self.changes += 1

    def add_profile_fault(self, case: Case, message: str) -> None:
        """Keep the reason why a case could not be profiled."""
        fault: Fault = {"kind": "other", "message": message}
        self.add_profiles([{**_launched(case), "figures": {}, "fault": fault, "source_sha256": None}])

    @property
    def profiles(self) -> list[Profile]:
        """The profiles, as a result file keeps them under ``profiles``."""
        return list(self._profiles.values())

    @property
    def counts(self) -> list[Counts]:
        """The counted recordings, as a result file keeps them under ``recordings``."""
        return list(self._counts.values())

    def flags(self, quantities: Iterable[Quantity]) -> list[str]:
        """Return the flags of the rows of some measured figures, each flag once."""
        return list(dict.fromkeys(flag for row in self._measured_rows(quantities) for flag in row["flags"]))

    def doubts(self, quantities: Iterable[Quantity]) -> list[str]:
        """Return the flags of some measured figures that make them doubtful."""
        return shaky(self._measured_rows(quantities))

    def value(self, quantity: Quantity) -> float | str:
        """Return a figure.

        Raises
        ------
        Missing
            When there is no figure, or none yet.
        """
        case, (origin, _, what) = quantity.case, quantity.what.partition(".")
        match origin:
            case "recorded":
                return self._recorded(case, what)
            case "profiled":
                return self._profiled(case, what)
            case "modelled":
                return self._modelled(case, what)
            case _:
                return self._measured(case, quantity.what)

    def reach(self, quantity: Quantity) -> tuple[float | str, float | str]:
        """Return a figure for the shortest and for the longest time of its row's spread.

        Raises
        ------
        Missing
            When there is no figure, or none yet.
        """
        value = self.value(quantity)
        if quantity.what not in (*_TIMES, *_RATES):
            return value, value  # the first launch is a single sample; counts are exact
        row = self._rows[_case_key(quantity.case)]
        low, high = (time / stats_of(row)["median"] for time in span(row))
        if quantity.what in _RATES:
            return float(value) / low, float(value) / high
        return float(value) * low, float(value) * high

    def _measured_rows(self, quantities: Iterable[Quantity]) -> list[Row]:
        rows = (self._rows.get(_case_key(q.case)) for q in quantities if q.origin == "measured")
        return [row for row in rows if row]

    def _measured(self, case: Case, what: str) -> float:
        row = self._rows.get(_case_key(case))
        if row is None or row["status"] == "cancelled":
            raise Missing(tr("{kernel} has not been measured", kernel=case.kernel), waiting=True)
        if row["status"] == "skipped" and row["message"].startswith(_NO_GPU):
            raise Missing(tr("no CUDA device here"))
        if row["status"] != "ok":
            raise Missing(f"{row['label']}: {row['status']}: {row['message'] or 'nothing was measured'}")
        part, field = _PARTS.get(what, (None, what))
        within: Mapping[str, object] | None = row if part is None else row.get(part)
        found = within.get(field) if within else None
        if not isinstance(found, int | float):
            raise Missing(tr("{kernel}: this run did not measure {figure}", kernel=row["label"], figure=what))
        return float(found)

    def _recorded(self, case: Case, what: str) -> float | str:
        counts = self._counts.get((_case_key(case), case.as_written))
        if counts is None:
            raise Missing(tr("{kernel} has not been recorded", kernel=case.kernel), waiting=True)
        fault = counts["fault"]
        if what == "compiles" and (fault is None or fault["kind"] == "compile"):
            return "no" if fault else "yes"
        if what == "outcome" and fault is None:
            return RIGHT if counts["figures"]["defects"] == 0 else WRONG
        if fault is not None and what == "outcome" and fault["kind"] == "refused":
            return REFUSED
        if fault is not None:
            raise Missing(fault["message"])
        name, _, per = what.partition("/")
        value = counts["figures"].get(name)
        if value is None:
            raise Missing(tr("the recording of {kernel} has no {figure}", kernel=case.kernel, figure=name))
        m, n, k = case.size
        return value if not per else float(value) / {"k-step": m * n * k, "element": m * n}[per]

    def _profiled(self, case: Case, what: str) -> float:
        profile = self._profiles.get(_case_key(case))
        if profile is None:
            raise Missing(tr("{kernel} has not been profiled", kernel=case.kernel), waiting=True)
        if profile["fault"]:
            raise Missing(profile["fault"]["message"])
        figures: Mapping[str, object] = profile["figures"]
        value = figures.get(what)
        if not isinstance(value, float | int):
            raise Missing(tr("the profile of {kernel} has no {figure}", kernel=case.kernel, figure=what))
        return float(value)

    def _modelled(self, case: Case, what: str) -> float:
        value = modelled(case, what, self._ladder)
        if value is None:
            raise Missing(f"nothing is known about {what} on {case.device!r}")
        return value

    @cached_property
    def _ladder(self) -> list[Kernel]:
        return ladder()


def counted(recording: Recording, traffic: Traffic) -> Counts:
    """Return the figures of a recording that claims need, as plain data.

    ``figures`` holds per array ``NAME.reads``, ``.writes``, ``.accesses``, ``.read_sectors``, ``.write_sectors`` and
    ``.wavefronts_per_request`` (shared arrays), and of the whole launch ``reads``, ``writes``, ``load_sectors``,
    ``store_sectors``, ``wavefronts_per_request``, ``tile_steps``, ``blocks``, ``defects`` (wrong elements of C, and the
    recorder's findings) and ``first_tiles`` (the tiles that block 0 multiplies, step by step).
    """
    arrays = traffic.arrays
    figures: dict[str, float | str] = {
        "reads": sum(a.reads for a in arrays if a.space == "global"),
        "writes": sum(a.writes for a in arrays if a.space == "global"),
        "load_sectors": traffic.sectors(write=False),
        "store_sectors": traffic.sectors(write=True),
        "wavefronts_per_request": traffic.conflict_degree(),
        "tile_steps": traffic.tile_steps,
        "blocks": recording.blocks,
        "defects": recording.wrong + len(recording.notes),
        "first_tiles": tiles.walk(recording),
    }
    for a in arrays:
        figures |= {f"{a.name}.reads": a.reads, f"{a.name}.writes": a.writes, f"{a.name}.accesses": a.reads + a.writes}
        if a.space == "global":
            figures |= {f"{a.name}.read_sectors": a.read_units, f"{a.name}.write_sectors": a.write_units}
        elif a.read_requests:
            figures[f"{a.name}.wavefronts_per_read"] = a.read_units / a.read_requests
    size = (recording.m, recording.n, recording.k)
    case = Case(recording.kernel, size, tuple(sorted(recording.params.items())), as_written=recording.as_written)
    return _counts(case, figures, None)


def _origin(quantity: Quantity) -> str:
    """Return a key of `ORIGINS`."""
    return AS_WRITTEN if quantity.origin == "recorded" and quantity.case.as_written else quantity.origin


def _counts(case: Case, figures: Mapping[str, float | str], fault: Fault | None) -> Counts:
    return {**_launched(case), "as_written": case.as_written, "figures": dict(figures), "fault": fault}


def _launched(case: Case) -> Launched:
    m, n, k = case.size
    return {"kernel": case.kernel, "M": m, "N": n, "K": k, "params": dict(case.params)}


def _key(of: Launched) -> Key:
    kernel, m, n, k, params = key_of(of)
    # A transfer has no parameters.
    return kernel, m, n, k, () if kernel == TRANSFER else params


def _case_key(case: Case) -> Key:
    return case.kernel, *case.size, case.params
