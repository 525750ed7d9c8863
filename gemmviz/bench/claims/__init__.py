"""The claims of the five documents, as data: load them, plan the runs that they need, judge them by the evidence.

`load` reads the records, `plan` lists the measurements, profiles and recordings that they need, an `Evidence` collects
result rows, profiles and counted recordings, and `judge` makes a `ClaimVerdict` from a claim and the evidence at any
time.
"""

from gemmviz.bench.claims.evidence import Evidence, counted
from gemmviz.bench.claims.judging import CheckResult, ClaimVerdict, VerdictTable, judge
from gemmviz.bench.claims.planning import BenchJob, ClaimPlan, ProfileJob, RecordJob, plan
from gemmviz.bench.claims.reading import load
from gemmviz.bench.claims.record import Case, Check, Claim
from gemmviz.catalogue.documents import Document as Source
from gemmviz.catalogue.documents import documents as sources

__all__ = [
    "BenchJob",
    "Case",
    "Check",
    "CheckResult",
    "Claim",
    "ClaimPlan",
    "ClaimVerdict",
    "Evidence",
    "ProfileJob",
    "RecordJob",
    "Source",
    "VerdictTable",
    "counted",
    "judge",
    "load",
    "plan",
    "sources",
]
