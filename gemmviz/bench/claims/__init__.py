"""What the five documents claim, as data: load the claims, plan the runs that they need, judge them by what was found.

`load` reads the records, `plan` says what has to be measured, profiled and recorded for them, an `Evidence` takes
result rows, profiles and counted recordings as they arrive, and `judge` turns both into a `ClaimVerdict` at any moment.
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
