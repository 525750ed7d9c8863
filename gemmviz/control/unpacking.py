"""Unpacks a recording of the engine for the stage, in the thread that received it."""

from gemmviz.catalogue.problem import Problem
from gemmviz.checking.report import Report
from gemmviz.checking.waste import wasted
from gemmviz.engine.messages import Recorded
from gemmviz.trace import untrusted
from gemmviz.trace.playable import Playable


def playable_of(reply: Recorded) -> Playable:
    """Unpack a recording, ready to show; called in the worker's thread, so that the window's thread need not wait."""
    recording = untrusted.checked_recording(reply.recording)
    timeline = untrusted.checked_timeline(reply.timeline, recording)
    return Playable(recording, timeline, untrusted.checked_traffic(reply.traffic, recording, timeline)).prepare()


def report_of(reply: Recorded, playable: Playable) -> Report | None:
    """Return the defects and costs of a recording; None if it was not checked."""
    if reply.findings is None:
        return None
    recording = playable.recording
    costs = wasted(playable.traffic.sites, recording) if recording.backend == "cuda" else []
    problem = Problem(recording.m, recording.n, recording.k)
    return Report(recording.label, problem, recording.params, reply.findings, costs)
