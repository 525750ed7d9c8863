"""Sentences about the stage: what happens at a step, and who owns and touches a cell."""

import numpy as np

from gemmviz.trace.playable import Playable
from gemmviz.trace.recording import WARP, Recording
from gemmviz.ui.stage.scene import A, B, C

BETWEEN = "  ·  "
"""What stands between the parts of a line."""


def caption(playable: Playable, step: int) -> str:
    """Say in one sentence what happens at a step."""
    recording, timeline = playable.recording, playable.timeline
    if not timeline.steps:
        return "The kernel made no access to memory."
    rows = timeline.rows(step)
    log, array = recording.accesses, recording.arrays[int(timeline.array[step])]
    verb = "write" if timeline.write[step] else "read"
    head = f"Step {thousands(step + 1)} of {thousands(timeline.steps)}"
    if recording.backend != "cuda":
        row, column = (int(v[0]) for v in array.cells(log.element[rows[:1]]))
        what = f"the loop {verb}s {array.name}[{row}, {column}] = {number(log.value[rows[0]])}"
        if len(rows) > 1:
            what = f"{len(rows)} threads {verb} {array.name}"
        return f"{head}  ·  {what}  ·  line {playable.line(step)}"
    blocks = len(np.unique(log.block[rows]))
    # A thread may appear twice only when blocks differ: rows are single accesses of single threads.
    who = f"{len(rows)} thread{'s' * (len(rows) != 1)} in {blocks} block{'s' * (blocks != 1)}"
    verb += "s" if len(rows) == 1 else ""
    place = " (shared)" if array.space == "shared" else ""
    cost = playable.units_per_request(step)
    unit = ("wavefront" if array.space == "shared" else "sector") + "s" * (cost != 1)
    return (
        f"{head}  ·  {who} {verb} {array.name}{place}  ·  {cost:.3g} {unit} per warp request"
        f"  ·  line {playable.line(step)}  ·  phase {timeline.phase[step] + 1}"
    )


def about_cell(playable: Playable, array: int, element: int, step: int, block: int) -> str:
    """Say what a cell is, who owns it (C), and who touches it at this step."""
    recording = playable.recording
    info, log = recording.arrays[array], recording.accesses
    row, column = (int(v[0]) for v in info.cells(np.array([element])))
    parts = [f"{info.name}[{row}, {column}]"]
    if array == C:
        owner, thread = (int(o[row, column]) for o in recording.owners)
        if owner < 0:
            parts.append("nobody ever writes it")
        elif recording.backend == "cuda":
            parts[0] += f" of {thread_text(recording, owner, thread)}"
        elif recording.threads > 1:
            parts[0] += f" of thread {thread}"
        if recording.wrong and playable.wrong_from[row, column] <= step:
            wanted = float(recording.a[row] @ recording.b[:, column])
            got = float(recording.c[row, column])
            parts.insert(0, f"WRONG: {number(got) or 'nothing'} instead of {number(wanted)}")
        if owner >= 0:
            parts.append(fed_text(playable, row, column))
    elif info.space == "shared":
        parts.append(f"bank {element * info.itemsize // 4 % 32} of block {_index(recording.block_index(block))}")
    touches = playable.provenance.touched(array, element, block)
    reads = int((~touches.write).sum())
    parts.append(f"read {reads}×, written {len(touches.rows) - reads}× in all")
    now = touches.rows[touches.steps == step]
    if len(now) and recording.backend == "cuda":
        verb = "writes" if log.write[now[0]] else "reads"
        first = thread_text(recording, int(log.block[now[0]]), int(log.thread[now[0]]))
        more = f" and {len(now) - 1} more" if len(now) > 1 else ""
        parts.append(f"now: {first}{more} {verb if not more else verb[:-1]} it")
    return "  ·  ".join(parts)


def fed_text(playable: Playable, row: int, column: int) -> str:
    """Say how many accesses fed an element of C: reads of A and B from global memory, reads of shared memory."""
    fed = playable.provenance.fed(row, column)
    counts = [("A", fed.reads(A)), ("B", fed.reads(B)), ("shared", fed.shared_reads)]
    said = ", ".join(f"{name} {thousands(len(rows))}×" for name, rows in counts if len(rows))
    if fed.unknown:
        return f"fed by {said + ' and ' if said else ''}values in shared memory whose origin cannot be told"
    if not said:
        return "no read of its row of A or its column of B fed it"
    return f"fed by {said}{', read by its warp' if fed.by_warp else ''}"


def thread_text(recording: Recording, block: int, thread: int) -> str:
    """Name a thread: block, thread, warp and lane."""
    return (
        f"block {_index(recording.block_index(block))}, thread {_index(recording.thread_index(thread))}, "
        f"warp {thread // WARP}, lane {thread % WARP}"
    )


def _index(index: tuple[int, int, int]) -> str:
    x, y, z = index
    return f"({x}, {y})" if z == 0 else f"({x}, {y}, {z})"


def number(value: float) -> str:
    """Write a value as short as it is exact enough to read; nothing for one that does not exist yet."""
    if np.isnan(value):
        return ""
    return str(int(value)) if value == int(value) and abs(value) < 1e6 else f"{value:.3g}"


def thousands(value: int) -> str:
    """Write a count with thin thousands."""
    return f"{value:,}".replace(",", "\N{NARROW NO-BREAK SPACE}")


def provenance(playable: Playable) -> list[str]:
    """Say where the picture comes from, and whether what was recorded is right: from the longest wording on."""
    recording = playable.recording
    verdict = "right" if recording.wrong == 0 else f"{recording.wrong} elements WRONG"
    digest = recording.sha256[:8]
    return [
        f"recorded from this source ({digest}){BETWEEN}C checked: {verdict}",
        f"recorded ({digest}){BETWEEN}C {verdict}",
        f"recorded, C {verdict}",
        "recorded" if recording.wrong == 0 else "WRONG",
    ]
