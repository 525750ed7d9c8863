"""Defects of a kernel, found in its recording. One class of defect per file."""

from gemmviz.trace.hazards.finding import Finding, Kind
from gemmviz.trace.recording.recording import Recording

__all__ = ["Finding", "Kind", "find"]


def find(recording: Recording, *, c_is_input: bool = False) -> list[Finding]:
    """Return every defect in a recording, worst first, each once per pair of lines.

    Parameters
    ----------
    recording
        Any.
    c_is_input
        Whether the kernel may read C before it writes it (``C = alpha A B + beta C``).
    """
    from gemmviz.trace.hazards import defects  # late: only the engine needs it, the window only shows findings

    return defects.find(recording, c_is_input=c_is_input)
