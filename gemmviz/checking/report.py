"""The findings at one size with one value of each parameter."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.problem import Problem
from gemmviz.language import tr
from gemmviz.trace.cost.sites import SiteTraffic
from gemmviz.trace.hazards import Finding


@dataclass
class Report:
    """The findings at one size with one value of each parameter.

    Attributes
    ----------
    label
        Entry and parameters as text for people.
    problem, params
        The size, and the value of every parameter.
    findings
        The defects.
    costs
        Wasted memory traffic per line of the source, which is not a defect.
    refused
        Why the launch was not checked, for people: a size that the kernel does not take, too many accesses. Else empty.
    """

    label: str
    problem: Problem
    params: dict[str, int]
    findings: list[Finding] = field(default_factory=list)
    costs: list[SiteTraffic] = field(default_factory=list)
    refused: str = ""

    @property
    def things(self) -> list[Finding | SiteTraffic]:
        """Findings, then costs."""
        return [*self.findings, *self.costs]

    def __str__(self) -> str:
        return tr("{launches} at {size}", launches=self.label, size=self.problem)


def label(kernel: Kernel, params: Mapping[str, int]) -> str:
    """Return the label of a kernel with parameters if there is no launch that has one."""
    values = ", ".join(f"{name}={value}" for name, value in params.items())
    return f"{kernel.name} [{values}]" if values else kernel.name
