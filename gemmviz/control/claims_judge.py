"""Judges claims by figures of this machine, and by reference results of other machines."""

from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property

from gemmviz.bench import claims as judging
from gemmviz.bench.claims import Claim, ClaimVerdict, Evidence
from gemmviz.bench.claims.claim_text import AS_WRITTEN, ORIGINS
from gemmviz.bench.claims.judging import State
from gemmviz.bench.figures import TRANSFER
from gemmviz.bench.reference_results import ReferenceResults
from gemmviz.bench.row import Counts, Row
from gemmviz.catalogue.errors import Unavailable
from gemmviz.language import language, mark, tr
from gemmviz.proving import ncu
from gemmviz.session import Session

_ON_GPU = ("cuda", "cublas")
_ON_CPU = ("c", "numpy", "openblas")
_NO_GPU = mark("no CUDA device on this machine")
_OF_A_MACHINE = ("measured", "profiled")
_GIVEN_UP: State = "cannot be judged here"
_Stamp = tuple[int, str, str, str]
"""A verdict depends on its claim and on these: the changes of the evidence, its device and date, the language."""


class ClaimsJudge:
    """Figures for claims, from this machine and from others.

    Parameters
    ----------
    session
        The session with the kernels, the machine, and the reference results.

    Attributes
    ----------
    here
        Figures of this machine.
    """

    def __init__(self, session: Session) -> None:
        self.session = session
        self.here = Evidence()
        self._texts = {kernel.name: kernel.sha256 for kernel in session.choice.kernels}
        self._elsewhere: list[tuple[ReferenceResults, Evidence]] = []
        self._known: dict[tuple[str, int], tuple[Claim, _Stamp, ClaimVerdict]] = {}
        self.take_references()

    def take_kernels(self) -> bool:
        """Drop all figures if the text of a kernel has changed; return whether it has."""
        before, self._texts = self._texts, {kernel.name: kernel.sha256 for kernel in self.session.choice.kernels}
        if all(self._texts.get(name) == text for name, text in before.items()):
            return False
        self.here = Evidence(date=self.here.date)
        self.take_references()
        return True

    def take_place(self) -> None:
        """Drop the figures of the device that measured up to now: a claim compares figures of one device."""
        self._known.clear()
        counts, self.here = self.here.counts, Evidence(date=self.here.date)
        for count in counts:
            self.here.add_counts(count)

    def take_references(self) -> None:
        """Take the session's reference results."""
        self._elsewhere = []
        self._known.clear()
        for results in self.session.results.references:
            evidence = Evidence(date=results.date, reference=True)
            evidence.add_rows(results.figures)
            self._elsewhere.append((results, evidence))
            # Recordings of this machine have priority over those of the reference: they are of the current kernels.
            for counts in (*results.recordings, *self.here.counts):
                evidence.add_counts(counts)
            evidence.add_profiles(results.profiles)

    def add_rows(self, rows: Iterable[Row]) -> None:
        """Take rows measured here; a cancelled row has no figure."""
        self.here.add_rows(row for row in rows if row["status"] != "cancelled")

    def add_counts(self, counts: Counts) -> None:
        """Take a counted recording, which is the same on every machine."""
        for evidence in (self.here, *(evidence for _, evidence in self._elsewhere)):
            evidence.add_counts(counts)

    def verdict(self, claim: Claim) -> ClaimVerdict:
        """Judge a claim by this machine's figures."""
        facts = self.session.results.device_facts
        gpu = str(facts["name"]) if facts else ""
        self.here.device = self._device(claim, gpu, self.session.results.device.removeprefix(f"{gpu} / "))
        verdict = self._judged(claim, self.here)
        if verdict.state == "not run" and self.session.results.device:
            if not gpu and self._wants(claim, _ON_GPU):
                return _given_up(verdict, tr(_NO_GPU))
            if self._cannot_profile(claim):
                return _given_up(verdict, self._no_profiler)
        return verdict

    def _cannot_profile(self, claim: Claim) -> bool:
        if self.session.results.away:  # that machine says whether it can, when it is asked
            return False
        return any(q.origin == "profiled" for q in claim.quantities) and bool(self._no_profiler)

    @cached_property
    def _no_profiler(self) -> str:
        """Return the reason why no kernel can be profiled here; empty if profiling works."""
        try:
            ncu.tool()
        except Unavailable as error:
            return str(error)
        return ""

    def reference(self, claim: Claim) -> ClaimVerdict | None:
        """Judge a claim by the reference results; None if they add nothing to this machine's figures."""
        # For these claims a GPU without a profiler counts as no GPU.
        unread = self.session.results.references_wanted is None and self._cannot_profile(claim)
        if not (self.session.results.references_shown or unread) or self.verdict(claim).is_decided:
            return None
        for results, evidence in self._elsewhere:
            evidence.device = self._device(claim, results.gpu, results.cpu)
            verdict = self._judged(claim, evidence)
            if verdict.is_decided or verdict.has_figures:
                return verdict
        return None

    def _judged(self, claim: Claim, evidence: Evidence) -> ClaimVerdict:
        """Judge a claim, or return its verdict by the same figures: a page asks for it several times."""
        stamp = evidence.changes, evidence.device, evidence.date, language()
        known = self._known.get((claim.id, id(evidence)))
        if known is None or known[0] is not claim or known[1] != stamp:
            known = claim, stamp, judging.judge(claim, evidence)
            self._known[claim.id, id(evidence)] = known
        return known[2]

    def _wants(self, claim: Claim, backends: tuple[str, ...]) -> bool:
        names = {kernel.name for kernel in self.session.choice.kernels if kernel.backend in backends}
        if "cuda" in backends:
            names.add(TRANSFER)
        return any(q.origin in _OF_A_MACHINE and q.case.kernel in names for q in claim.quantities)

    def _device(self, claim: Claim, gpu: str, cpu: str) -> str:
        """Return the names of the devices that the claim's kernels run on."""
        names = [gpu if self._wants(claim, _ON_GPU) else "", cpu if self._wants(claim, _ON_CPU) else ""]
        return " / ".join(name for name in names if name)


def _given_up(verdict: ClaimVerdict, why: str) -> ClaimVerdict:
    """Return the verdict with each figure that needs a machine marked as unavailable; recordings need no GPU."""
    recorded = {tr(ORIGINS["recorded"]), tr(ORIGINS[AS_WRITTEN])}
    findings = tuple(
        replace(f, state=_GIVEN_UP, because=why) if f.state == "not run" and f.origin not in recorded else f
        for f in verdict.findings
    )
    return replace(verdict, state=_GIVEN_UP, sentence=why, findings=findings)
