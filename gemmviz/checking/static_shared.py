"""Finds kernels whose shared arrays are larger than CUDA's compiler takes: then no GPU runs them.

The sizes of arrays in the kernel are limited to 48 KB for all compute capabilities; more is dynamic shared memory, an
``extern __shared__`` array (CUDA C++ Programming Guide, "Technical Specifications per Compute Capability", the maximum
amount of shared memory per thread block and its note).
"""

import re
from math import prod

from gemmviz.backends.toolchain import with_own_headers
from gemmviz.catalogue.launch import Launch
from gemmviz.catalogue.plain_code import plain_code
from gemmviz.language import tr
from gemmviz.language.numbers import thousands
from gemmviz.trace.hazards import Finding
from gemmviz.trace.recording.recording import Recording

MOST_BYTES = 48 << 10
"""Bytes of shared memory that a block may have besides dynamic shared memory."""
_DYNAMIC = re.compile(r"\bextern\b[^;{}]*?\b__shared__\b[^;{}]*?(\w+)\s*(?:\[[^;{}]*)?;")


def static_shared_findings(job: Launch, recording: Recording) -> list[Finding]:
    """Return the finding about shared arrays that are too large to be compiled; none if they are not.

    Parameters
    ----------
    job, recording
        A launch of a CUDA kernel, and its recording.
    """
    size = {one.name: prod(one.shape) * one.itemsize for one in recording.arrays if one.space == "shared"}
    if sum(size.values()) <= MOST_BYTES:
        return []
    code = plain_code(with_own_headers(job.kernel.text, job.kernel.path), directives=False)
    dynamic = set(_DYNAMIC.findall(code))
    count = sum(size[name] for name in size.keys() - dynamic)
    if count <= MOST_BYTES:
        return []
    text = tr(
        "the shared arrays of a block have {count} bytes, and CUDA's compiler takes {most} at most: make them parts of "
        "one array that is declared extern __shared__, and give its size at the launch",
        count=thousands(count),
        most=thousands(MOST_BYTES),
    )
    return [Finding("does not compile", 0, text)]
