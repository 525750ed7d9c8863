"""Checks that a kernel uses its alpha, beta and bias, and sets negative elements to zero if it says so.

With alpha = 1, beta = 0, a bias of 0 and no negative element, C is right even if a kernel forgets them.
"""

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
        The launch of `gemmviz.catalogue.launch.Launch.scaled`, and its recording.
    """
    if not recording.wrong:
        return []
    right = result_for(job, recording.product)
    row, column = (int(i) for i in np.argwhere(recording.c != right)[0])
    log = recording.accesses
    stores = log.site[(log.array == C) & log.write]
    line = recording.sites[int(stores[-1])].line if len(stores) else 0
    taken = [name for name in ("alpha", "beta") if name in job.kernel.args]
    given = [f"{name} = {job.scalar(name):g}" for name in taken]
    given += [tr("a bias of whole numbers")] * job.kernel.has_bias + [tr("negative sums")] * bool(job.kernel.epilogue)
    text = tr(
        "with {factors}, {element} is {value} and should be {right}; {count} elements of C are wrong",
        factors=", ".join(given),
        element=f"C[{row}, {column}]",
        value=f"{recording.c[row, column]:g}",
        right=f"{right[row, column]:g}",
        count=thousands(recording.wrong),
    )
    return [Finding("wrong result", line, text, recording.wrong, array="C")]
