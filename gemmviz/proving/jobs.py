"""The jobs of a proof: a kernel at a size with parameters, as plain data that another process can take."""

from dataclasses import dataclass, field
from typing import TypedDict

from gemmviz.bench.entries import ProfileEntry
from gemmviz.catalogue.launch import Launch, launch
from gemmviz.catalogue.plain_kernel import PlainKernel, kernel_of, plain_kernel
from gemmviz.catalogue.problem import Problem


class Answer(TypedDict):
    """The outcome of a job: why it was not launched, its index among the launched jobs, the number of wrong elements.

    ``nvrtc`` is the version of the compiler.
    """

    error: str | None
    launch: int | None
    wrong: int | None
    nvrtc: str | None


@dataclass(frozen=True)
class Job:
    """One launch to prove: the kernel as plain data, the size, and the value of each parameter."""

    path: str
    text: str
    m: int
    n: int
    k: int
    params: dict[str, int] = field(default_factory=dict)
    folders: str = ""

    @classmethod
    def of(cls, job: Launch) -> "Job":
        """Return a launch as plain data."""
        size = job.problem
        return cls(**plain_kernel(job.kernel), m=size.m, n=size.n, k=size.k, params=dict(job.params))

    def launch(self) -> Launch:
        """Return the launch.

        Raises
        ------
        GemmvizError
            As `parse` and `launch` do.
        """
        kernel = kernel_of(self.path, self.text, self.folders)
        return launch(kernel, Problem(self.m, self.n, self.k), self.params)

    def to_plain(self) -> ProfileEntry:
        """Return the job as plain data."""
        kernel: PlainKernel = {"path": self.path, "text": self.text, "folders": self.folders}
        return {**kernel, "m": self.m, "n": self.n, "k": self.k, "params": self.params}

    @classmethod
    def from_plain(cls, plain: ProfileEntry) -> "Job":
        """Undo `to_plain`."""
        return cls(**plain)
