"""The checker's findings in the chosen kernel: in the recording on the stage, and at other sizes."""

from collections.abc import Iterator
from dataclasses import dataclass

from psygnal import Signal

from gemmviz.checking import report_text
from gemmviz.checking.report import Report
from gemmviz.language import tr
from gemmviz.trace.cost.sites import SiteTraffic
from gemmviz.trace.hazards import Finding


@dataclass(frozen=True)
class FindingGroup:
    """One finding, and every launch that has it.

    Attributes
    ----------
    thing
        The finding in the first of these launches.
    reports
        The launches.
    here
        Whether the recording on the stage is one of them.
    """

    thing: Finding | SiteTraffic
    reports: tuple[Report, ...]
    here: bool

    @property
    def is_cost(self) -> bool:
        """Whether it is an inefficiency and not a defect."""
        return isinstance(self.thing, SiteTraffic)

    @property
    def lines(self) -> tuple[int, ...]:
        """Its lines, from 1, the first one first; none if they are unknown."""
        other = self.thing.other_line if isinstance(self.thing, Finding) else 0
        return tuple(dict.fromkeys(line for line in (self.thing.line, other) if line))

    @property
    def sentence(self) -> str:
        """The event and its other launches, without the class and the line."""
        others = report_text.names(self.reports[1:] if self.here else self.reports)
        text = report_text.sentence(self.thing)
        if not others:
            return text
        text = text.removesuffix(".")
        if self.here:
            return tr("{text}; also with {others}", text=text, others=others)
        return tr("{text}; with {others}", text=text, others=others)

    @property
    def text(self) -> str:
        """The text on the screen: the class, and the event."""
        return f"{report_text.kind(self.thing)}: {self.sentence}"


class Findings:
    """Findings in one text of a kernel; for another text they are cleared."""

    changed = Signal()

    def __init__(self) -> None:
        self.text = ""
        """The kernel's file that the lines belong to."""
        self.here: Report | None = None
        """The report on the recording on the stage; None without a recording, or if it was too large to check at
        once."""
        self.others: list[Report] = []
        self.left_out: list[str] = []
        self.checking = False

    @property
    def checked(self) -> bool:
        """Whether other sizes were checked."""
        return bool(self.others or self.left_out) and not self.checking

    def record(self, text: str, here: Report | None) -> None:
        """Take the findings in a recording of a text."""
        self._begin(text)
        self.here = here
        self.changed.emit()

    def start(self, text: str) -> None:
        """Begin to check other sizes of a text."""
        self._begin(text)
        self.others, self.left_out, self.checking = [], [], True
        self.changed.emit()

    def add(self, report: Report) -> None:
        """Take the findings at another size."""
        if report.refused:
            self.left_out.append(f"{report}: {report.refused}")
        else:
            self.others.append(report)
        self.changed.emit()

    def finish(self, left_out: list[str]) -> None:
        """End the check of other sizes, with the omitted launches and the reasons."""
        self.left_out = [*left_out, *self.left_out]
        self.checking = False
        self.changed.emit()

    def entries(self) -> list[FindingGroup]:
        """Return each finding once: defects of the recording, those at other sizes, then costs in the same order."""
        return sorted(self._merged(), key=lambda entry: (entry.is_cost, not entry.here))

    def _merged(self) -> Iterator[FindingGroup]:
        held: dict[object, list[tuple[Finding | SiteTraffic, Report]]] = {}
        for report in [*([self.here] if self.here else []), *self.others]:
            for thing in report.things:
                held.setdefault(report_text.key(thing), []).append((thing, report))
        for pairs in held.values():
            # The size on the stage is often one of the checked sizes: name it once.
            reports = {str(report): report for _, report in pairs}
            yield FindingGroup(pairs[0][0], tuple(reports.values()), pairs[0][1] is self.here)

    def _begin(self, text: str) -> None:
        if text != self.text:
            self.text, self.here, self.others, self.left_out, self.checking = text, None, [], [], False
