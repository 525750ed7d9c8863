"""Profiles launches with Nsight Compute: the utilisation of arithmetic and memory, and the achieved occupancy."""

from collections.abc import Callable, Sequence
from typing import cast

from gemmviz.bench.row import Fault, Profile, Shares
from gemmviz.catalogue.errors import GemmvizError
from gemmviz.language.numbers import thousands
from gemmviz.proving import ncu
from gemmviz.proving.jobs import Answer, Job

# NVIDIA Nsight Compute documentation: the section "GPU Speed Of Light Throughput", and "Occupancy". All in percent.
SHARES = {
    "compute": "sm__throughput.avg.pct_of_peak_sustained_elapsed",
    "memory": "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",
    "occupancy": "sm__warps_active.avg.pct_of_peak_sustained_active",
}


def profile(jobs: Sequence[Job], command: str, progress: Callable[[str], None] = lambda text: None) -> list[Profile]:
    """Launch every job once under Nsight Compute, and return its figures, as a result file keeps them.

    Parameters
    ----------
    jobs
        CUDA kernels. They multiply small integers, and C is verified.
    command
        Nsight Compute, from `ncu.tool`.
    progress
        Called at each stage with a text for people.

    Returns
    -------
    list
        Per job ``{"kernel", "M", "N", "K", "params", "source_sha256", "figures", "fault"}``: ``figures`` are those of
        `SHARES` in percent, ``fault`` is None, or ``{"kind", "message"}`` if there are no figures.

    Raises
    ------
    GemmvizError
        As `ncu.count` does.
    """
    return [_plain(job, *found) for job, found in zip(jobs, ncu.metrics(jobs, command, SHARES, progress), strict=True)]


def _plain(job: Job, figures: dict[str, float] | None, answer: Answer) -> Profile:
    fault: Fault | None
    if figures is None:
        fault = {"kind": "launch", "message": str(answer["error"])}
    elif answer["wrong"]:
        fault = {"kind": "wrong", "message": f"{thousands(answer['wrong'])} elements of C are wrong"}
    else:
        fault = None
    try:
        kernel = job.launch().kernel
        name, sha256 = kernel.name, kernel.sha256
    except GemmvizError:
        name, sha256 = "", None
    return {
        "kernel": name,
        "M": job.m,
        "N": job.n,
        "K": job.k,
        "params": dict(job.params),
        "source_sha256": sha256,
        "figures": {} if fault else cast(Shares, figures),
        "fault": fault,
    }
