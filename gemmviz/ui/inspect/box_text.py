"""Sentences about a box of the copy engine: its thread, its content, its place, and the barrier of its bytes."""

import numpy as np

from gemmviz.language import tr
from gemmviz.language.numbers import thousands
from gemmviz.trace.hopper.tma_activity import ActiveBox
from gemmviz.trace.playable import Playable
from gemmviz.ui.inspect.inspector_text import block_text
from gemmviz.ui.stage.barrier_text import barrier_name


def box_when(box: ActiveBox, step: int) -> list[str]:
    """Say that a shown box is not moved at a step; nothing if it is."""
    if box.write and step == box.added:
        return []
    shown = box.arrived if box.write else box.asked
    if shown > step:
        return [tr("This step belongs to another warp: the next box that this warp asks for is shown.")]
    if shown < step:
        return [tr("This warp asks for no further box: the last box that it asked for is shown.")]
    return []


def box_head(playable: Playable, box: ActiveBox) -> str:
    """Describe the copy engine's work, and name the source line that asked for it."""
    boxes, arrays = playable.recording.boxes, playable.recording.arrays
    at_matrix = bool(boxes.store[box.number]) == box.write
    array = int(boxes.matrix[box.number] if at_matrix else boxes.array[box.number])
    values = {
        "array": arrays[array].name if array >= 0 else tr("shared memory"),
        "line": int(boxes.line[box.number]),
        "step": thousands((box.arrived if box.write else box.asked) + 1),
    }
    if box.write and box.added >= 0:
        return tr("The copy engine adds a box to {array}: line {line}, step {step}", **values)
    if box.write:
        return tr("The copy engine writes a box to {array}: line {line}, step {step}", **values)
    return tr("The copy engine reads a box of {array}: line {line}, step {step}", **values)


def box_text(playable: Playable, box: ActiveBox) -> list[str]:
    """Say all that is known of a box, part by part."""
    recording, i = playable.recording, box.number
    boxes = recording.boxes
    matrix = recording.arrays[int(boxes.matrix[i])]
    rows, columns = int(boxes.rows[i]), int(boxes.columns[i])
    thread = int(boxes.thread[i])
    parts = [
        tr("one thread asked for the whole box: thread {thread}, warp {warp}", thread=thread, warp=box.warp),
        tr(
            "{rows} × {columns} elements from {cell} on, {bytes} bytes",
            rows=rows,
            columns=columns,
            cell=f"{matrix.name}[{boxes.row[i]}, {boxes.column[i]}]",
            bytes=thousands(rows * columns * matrix.itemsize),
        ),
    ]
    if boxes.array[i] >= 0:
        parts += _in_shared(playable, i)
    # Of a box for several blocks each has a copy, and all of them were read at once.
    together = boxes.to[(boxes.read == boxes.read[i]) & (boxes.reads > 0)]
    if len(together) > 1:
        blocks = ", ".join(block_text(recording, block) for block in together.tolist())
        parts.append(tr("read once for several blocks of the cluster: {blocks}", blocks=blocks))
    if boxes.barrier[i] >= 0:
        parts.append(tr("{barrier} counts its bytes", barrier=barrier_name(playable, int(boxes.barrier[i]))))
    if box.asked >= 0 and box.arrived >= 0:
        parts.append(
            tr(
                "read at step {read}, written at step {write}",
                read=thousands(box.asked + 1),
                write=thousands(box.arrived + 1),
            )
        )
    elif box.asked >= 0:
        parts.append(tr("it never arrives"))
    return parts


def _in_shared(playable: Playable, i: int) -> list[str]:
    """Say where in shared memory a box begins, and how its pieces are dealt over the banks."""
    boxes = playable.recording.boxes
    info = playable.recording.arrays[int(boxes.array[i])]
    place = ", ".join(str(int(n)) for n in np.unravel_index(int(boxes.element[i]), info.shape))
    parts = [tr("in shared memory from {cell} on", cell=f"{info.name}[{place}]")]
    if info.swizzle:
        parts.append(
            tr("swizzle over {bytes} bytes: each row deals its pieces of 16 bytes in another order", bytes=info.swizzle)
        )
    else:
        parts.append(tr("no swizzle: the rows are unchanged"))
    return parts
