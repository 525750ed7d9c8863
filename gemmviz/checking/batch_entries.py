"""Checks the last entry of a batch: the first entry can be right although the distance between entries is wrong."""

from collections.abc import Callable
from dataclasses import replace

from gemmviz.catalogue.launch import Launch
from gemmviz.checking.diagnose import diagnose
from gemmviz.language import tr
from gemmviz.trace.hazards import Finding
from gemmviz.trace.recording.recording import Recording


def findings_of_last_entry(job: Launch, again: Callable[[Launch], Recording]) -> list[Finding]:
    """Return the defects of the last entry of a batch.

    Parameters
    ----------
    job
        A launch with a batch, whose first entry has no defect.
    again
        Records another launch.

    Raises
    ------
    KernelFault
        From `again`.
    """
    if job.batch is None or job.batch.count == 1:
        return []
    last = replace(job, batch=replace(job.batch, entry=job.batch.count - 1))
    found = diagnose(last, again(last), again)
    return [
        replace(one, text=tr("in entry {entry} of the batch: {what}", entry=job.batch.count - 1, what=one.text))
        for one in found
    ]
