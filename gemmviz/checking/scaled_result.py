"""Checks that a kernel uses its alpha and beta: with alpha = 1 and beta = 0, C is right even if it ignores them."""

import numpy as np

from gemmviz.catalogue.launch import Launch
from gemmviz.catalogue.matrices import C
from gemmviz.catalogue.whole_numbers import result_for
from gemmviz.language import tr
from gemmviz.language.numbers import thousands
from gemmviz.trace.hazards import Finding
from gemmviz.trace.recording.recording import Recording


def scaled_findings(job: Launch, recording: Recording) -> list[Finding]:
    """Return the finding about a wrong C; none if it is right.

    Parameters
    ----------
    job, recording
        A launch with other factors than 1 and 0, and its recording.
    """
    if not recording.wrong:
        return []
    right = result_for(job, recording.a @ recording.b)
    row, column = (int(i) for i in np.argwhere(recording.c != right)[0])
    log = recording.accesses
    stores = log.site[(log.array == C) & log.write]
    line = recording.sites[int(stores[-1])].line if len(stores) else 0
    taken = [name for name in ("alpha", "beta") if name in job.kernel.args]
    factors = ", ".join(f"{name} = {job.scalar(name):g}" for name in taken)
    text = tr(
        "with {factors}, {element} is {value} and should be {right}; {count} elements of C are wrong",
        factors=factors,
        element=f"C[{row}, {column}]",
        value=f"{recording.c[row, column]:g}",
        right=f"{right[row, column]:g}",
        count=thousands(recording.wrong),
    )
    return [Finding("wrong result", line, text, recording.wrong, array="C")]
