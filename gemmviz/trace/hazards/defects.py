"""Looks for every class of defect in a recording."""

from gemmviz.catalogue.queue import queue
from gemmviz.trace.hazards.access_index import access_index
from gemmviz.trace.hazards.async_copy_hazards import async_copy_hazards
from gemmviz.trace.hazards.cluster_races import cluster_races
from gemmviz.trace.hazards.coverage import coverage
from gemmviz.trace.hazards.device_races import device_races
from gemmviz.trace.hazards.early_arrivals import early_arrivals
from gemmviz.trace.hazards.finding import Finding
from gemmviz.trace.hazards.races import races
from gemmviz.trace.hazards.tma_store_hazards import tma_store_hazards
from gemmviz.trace.hazards.unwritten import unwritten_reads
from gemmviz.trace.hazards.wrong_result import wrong_result
from gemmviz.trace.recording.recording import Recording


def find(recording: Recording, *, c_is_input: bool = False) -> list[Finding]:
    """Return every defect that a recording shows, as `gemmviz.trace.hazards.find` does."""
    found = [
        Finding(n.kind, n.line, n.text.split(": ", 1)[-1], n.count, n.other_line, n.array)
        for n in recording.diagnostics
    ]
    touched = access_index(recording)
    raced = [
        *races(recording, touched),
        *cluster_races(recording, touched),
        *async_copy_hazards(recording, touched),
        *tma_store_hazards(recording, touched),
        *early_arrivals(recording, touched),
    ]
    if recording.sharing is not None:
        raced += device_races(recording, queue(recording.sharing.devices, recording.sharing.crossing))
    found += raced
    found += unwritten_reads(recording, touched, c_is_input)
    found += coverage(recording, touched, bool(raced))
    return found or wrong_result(recording)
