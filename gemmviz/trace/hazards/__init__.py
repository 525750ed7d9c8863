"""What is wrong with a kernel, found in its recording. One class of defect per file."""

from gemmviz.trace.hazards.coverage import coverage
from gemmviz.trace.hazards.finding import Finding, Kind
from gemmviz.trace.hazards.in_flight import in_flight
from gemmviz.trace.hazards.races import races
from gemmviz.trace.hazards.stores import stores
from gemmviz.trace.hazards.touches import touches
from gemmviz.trace.hazards.unwritten import unwritten_reads
from gemmviz.trace.hazards.wrong import wrong_result
from gemmviz.trace.recording import Recording

__all__ = ["Finding", "Kind", "find"]


def find(recording: Recording, *, c_is_input: bool = False) -> list[Finding]:
    """Return every defect that a recording shows, worst first, each once per pair of lines.

    Parameters
    ----------
    recording
        Any.
    c_is_input
        Whether the kernel may read C before it writes it (``C = alpha A B + beta C``).
    """
    found = [Finding(n.kind, n.line, n.text.split(": ", 1)[-1], n.count, array=n.array) for n in recording.noticed]
    touched = touches(recording)
    raced = [*races(recording, touched), *in_flight(recording, touched), *stores(recording, touched)]
    found += raced
    found += unwritten_reads(recording, touched, c_is_input)
    found += coverage(recording, touched, bool(raced))
    return found or wrong_result(recording)
