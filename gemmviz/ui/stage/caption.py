"""Sentences about the stage: the events of a step, the owner of a cell and the accesses to it."""

import numpy as np

from gemmviz.catalogue.matrices import A, B, C
from gemmviz.language import mark, tr, trn
from gemmviz.language.numbers import thousands
from gemmviz.trace.order.story import KINDS
from gemmviz.trace.origin.operand_paths import OperandPaths
from gemmviz.trace.playable import Playable
from gemmviz.trace.recording.recording import WARP, Recording
from gemmviz.ui.stage.barrier_text import waits

BETWEEN = "  ·  "
"""The separator between the parts of a line."""
_TILE_TEXTS = {
    "copy": mark("tile {tile} of {tiles}: loading"),
    "use": mark("tile {tile} of {tiles}: multiply and add"),
    "direct": mark("part {tile} of {tiles} of K: multiply and add"),
}
_AT_K = mark("tile {tile} of {tiles}: multiply and add, k = {k}")
_SECTORS = mark("{cost} sector per warp request"), mark("{cost} sectors per warp request")
_WAVEFRONTS = mark("{cost} wavefront per warp request"), mark("{cost} wavefronts per warp request")
_NOW_READS = mark("now: {thread} reads it"), mark("now: {thread} and {more} more read it")
_NOW_WRITES = mark("now: {thread} writes it"), mark("now: {thread} and {more} more write it")


def caption(playable: Playable, step: int, block: int | None = None) -> str:
    """Describe a step, in parts that can be left out from the end.

    Parameters
    ----------
    playable, step
        The recording, and the step.
    block
        The block whose copies in flight are counted; None: those of all blocks.
    """
    timeline = playable.timeline
    if not timeline.steps:
        return tr("The kernel made no access to memory.")
    parts = [step_text(playable, step), *events(playable, step, block), tr("line {line}", line=playable.line(step))]
    if playable.recording.backend == "cuda":
        parts.append(tr("phase {phase}", phase=timeline.phase[step] + 1))
    return BETWEEN.join(parts)


def step_text(playable: Playable, step: int) -> str:
    """Say which step it is."""
    return tr("Step {step} of {steps}", step=thousands(step + 1), steps=thousands(playable.timeline.steps))


def events(playable: Playable, step: int, block: int | None = None) -> list[str]:
    """Describe the events of a step, without its number and its line: see `caption`."""
    if playable.recording.backend != "cuda":
        return [_loop_text(playable, step)]
    parts = _misread_text(playable, step, block)
    tile = tile_text(playable, step)
    parts += [tile] if tile else []
    box = _box_text(playable, step)
    if box:
        parts.append(box)
    else:
        parts += [_threads_text(playable, step), *_missed_text(playable, step), _cost_text(playable, step)]
    if block is not None:
        parts += waits(playable, playable.mbarrier_states.at(step, block))
    return parts + _flying_text(playable, step, block)


def tile_text(playable: Playable, step: int) -> str:
    """Name the tile along K that a step belongs to, and its use; empty if there are no tiles."""
    if not playable.timeline.steps:
        return ""
    story, k = playable.story, playable.recording.k
    tile, kind = int(story.tiles[step]), KINDS[story.kinds[step]]
    if tile < 0 or not story.depth or (kind == "direct" and story.depth == 1):
        return ""
    rows, at = playable.timeline.rows(step), int(story.places[step])
    # Of an access to several elements only the first one's place is known.
    if kind == "use" and at >= 0 and len(playable.recording.elements(rows)[0]) == len(rows):
        return tr(_AT_K, tile=tile + 1, tiles=-(-k // story.depth), k=at)
    text = _TILE_TEXTS.get(kind)
    return tr(text, tile=tile + 1, tiles=-(-k // story.depth)) if text else ""


def _loop_text(playable: Playable, step: int) -> str:
    """Describe a step of a loop on a CPU."""
    recording, timeline = playable.recording, playable.timeline
    rows, log = timeline.rows(step), recording.accesses
    array, write = recording.arrays[int(timeline.array[step])], bool(timeline.write[step])
    if len(rows) > 1 and write:
        return trn("{count} thread writes {array}", "{count} threads write {array}", len(rows), array=array.name)
    if len(rows) > 1:
        return trn("{count} thread reads {array}", "{count} threads read {array}", len(rows), array=array.name)
    row, column = (int(v[0]) for v in array.cells(log.element[rows[:1]]))
    what = {"array": array.name, "row": row, "column": column, "value": number(log.value[rows[0]])}
    if write:
        return tr("the loop writes {array}[{row}, {column}] = {value}", **what)
    return tr("the loop reads {array}[{row}, {column}] = {value}", **what)


def _missed_text(playable: Playable, step: int) -> list[str]:
    """Say how many threads are not seen at a step because they missed the array; nothing if all are seen."""
    missed = int(playable.out_of_bounds.most[step])
    if not missed:
        return []
    if playable.out_of_bounds.certain[step]:
        return [tr("{count} out of bounds, not drawn", count=thousands(missed))]
    return [tr("up to {count} out of bounds, not drawn", count=thousands(missed))]


def _threads_text(playable: Playable, step: int) -> str:
    """Describe a step by the number of its threads and blocks."""
    recording, timeline = playable.recording, playable.timeline
    rows = timeline.rows(step)
    array = recording.arrays[int(timeline.array[step])]
    # A thread may appear twice only when blocks differ: rows are single accesses of single threads.
    blocks = trn("{count} block", "{count} blocks", int(playable.participation.blocks[step]))
    who = {"blocks": blocks, "array": array.name}
    match array.space, bool(timeline.write[step]):
        case "shared", False:
            return trn(
                "{count} thread of {blocks} reads {array} from shared memory",
                "{count} threads of {blocks} read {array} from shared memory",
                len(rows),
                **who,
            )
        case "shared", True:
            return trn(
                "{count} thread of {blocks} writes {array} to shared memory",
                "{count} threads of {blocks} write {array} to shared memory",
                len(rows),
                **who,
            )
        case _, False:
            return trn(
                "{count} thread of {blocks} reads {array} from global memory",
                "{count} threads of {blocks} read {array} from global memory",
                len(rows),
                **who,
            )
    return trn(
        "{count} thread of {blocks} writes {array} to global memory",
        "{count} threads of {blocks} write {array} to global memory",
        len(rows),
        **who,
    )


def _box_text(playable: Playable, step: int) -> str:
    """Describe the copy engine's work at a step; empty if threads do it themselves."""
    recording, timeline = playable.recording, playable.timeline
    moved = recording.boxes.moved_by(timeline.rows(step))
    if not moved:
        return ""
    array = recording.arrays[int(timeline.array[step])].name
    if recording.sites[int(timeline.site[step])].atomic:
        if timeline.write[step]:
            return trn(
                "the copy engine adds {count} box to {array}",
                "the copy engine adds {count} boxes to {array}",
                moved,
                array=array,
            )
        return trn(
            "the copy engine reads {array} where it adds {count} box",
            "the copy engine reads {array} where it adds {count} boxes",
            moved,
            array=array,
        )
    if timeline.write[step]:
        return trn(
            "the copy engine writes {count} box to {array}",
            "the copy engine writes {count} boxes to {array}",
            moved,
            array=array,
        )
    return trn(
        "the copy engine reads {count} box from {array}",
        "the copy engine reads {count} boxes from {array}",
        moved,
        array=array,
    )


def _flying_text(playable: Playable, step: int, block: int | None) -> list[str]:
    """Say how many boxes and how many copies of threads are under way; nothing if none is."""
    boxes, flights = playable.recording.boxes, playable.async_copies
    writes = flights.write[flights.at(step, block)]
    mine = np.isin(boxes.write, writes) if len(writes) else np.zeros(len(boxes), bool)
    flying, texts = len(writes) - int(boxes.writes[mine].sum()), []
    if mine.any():
        count = int(mine.sum())
        texts.append(trn("{count} box of the block in flight", "{count} boxes of the block in flight", count))
    if flying:
        texts.append(trn("{count} copy of the block in flight", "{count} copies of the block in flight", flying))
    return texts


def _misread_text(playable: Playable, step: int, block: int | None) -> list[str]:
    """Count the reads of the shown block that get other values than its cells show: nothing matters more."""
    lost = 0 if block is None else len(playable.stale_reads(step, block).row)
    if not lost:
        return []
    return [trn("{count} read gets ANOTHER VALUE", "{count} reads get OTHER VALUES", lost)]


def _cost_text(playable: Playable, step: int) -> str:
    shared = playable.recording.arrays[int(playable.timeline.array[step])].space == "shared"
    cost = playable.units_per_request(step)
    one, many = _WAVEFRONTS if shared else _SECTORS
    return tr(one if cost == 1 else many, cost=f"{cost:.3g}")


def about_cell(playable: Playable, array: int, element: int, step: int, block: int) -> str:
    """Describe a cell, its owner (C), and the accesses to it at this step."""
    recording = playable.recording
    info, log = recording.arrays[array], recording.accesses
    row, column = (int(v[0]) for v in info.cells(np.array([element])))
    name = f"{info.name}[{row}, {column}]"
    parts = [name]
    if array == C:
        owner, thread = (int(o[row, column]) for o in recording.owners)
        if owner < 0:
            parts.append(tr("no thread ever writes it"))
        elif recording.backend == "cuda":
            parts = [tr("{cell} of {thread}", cell=name, thread=thread_text(recording, owner, thread))]
        elif recording.threads > 1:
            parts = [tr("{cell} of thread {thread}", cell=name, thread=thread)]
        if recording.wrong and playable.wrong_from[row, column] <= step:
            parts.insert(0, wrong_text(recording, row, column))
        if owner >= 0:
            parts += [*_held_text(playable, row, column), fed_text(playable, row, column)]
    elif info.space == "shared":
        if recording.backend == "cuda":
            bank = element * info.itemsize // 4 % 32
            parts.append(tr("bank {bank} of block {block}", bank=bank, block=index_text(recording.block_index(block))))
        lost = playable.stale_reads(step, block)
        here = np.flatnonzero(lost.element == element)[:1]
        if len(here):
            got, held, written = (column[here[0]] for column in (lost.got, lost.held, lost.written))
            parts.insert(0, misread_text(float(got), float(held), bool(written)))
    touches = playable.provenance.accesses_of(array, element, block)
    reads = int((~touches.write).sum())
    parts.append(tr("read {reads}×, written {writes}× in all", reads=reads, writes=len(touches.rows) - reads))
    now = touches.rows[touches.steps == step]
    if len(now) and recording.backend == "cuda":
        first = thread_text(recording, int(log.block[now[0]]), int(log.thread[now[0]]))
        one, more = _NOW_WRITES if log.write[now[0]] else _NOW_READS
        parts.append(tr(one, thread=first) if len(now) == 1 else tr(more, thread=first, more=len(now) - 1))
    return BETWEEN.join(parts)


def owner_text(playable: Playable, row: int, column: int) -> str:
    """Name the thread that holds an element of C, and its other elements, where warpgroups multiply; else empty."""
    recording = playable.recording
    block, thread = (int(o[row, column]) for o in recording.owners)
    if block < 0 or not playable.warpgroups.count:
        return ""
    cell = f"{recording.arrays[C].name}[{row}, {column}]"
    text = tr("{cell} of {thread}", cell=cell, thread=thread_text(recording, block, thread))
    return "\n".join([text, *_held_text(playable, row, column)])


def _held_text(playable: Playable, row: int, column: int) -> list[str]:
    """Say which sums of C are held with one, where warpgroups multiply; nothing elsewhere."""
    known = playable.warpgroups
    if not known.count:
        return []
    held, group = len(known.of_thread(row, column)), known.group(row, column)
    return [
        trn(
            "warpgroup {group}: {count} sum in the registers of this thread",
            "warpgroup {group}: {count} sums in the registers of this thread",
            held,
            group=group,
        )
    ]


def misread_text(got: float, held: float, written: bool = True) -> str:
    """Say that a thread read another value than the one that stands in the cell."""
    if not written:
        return tr("READ {got}, although this is uninitialised", got=number(got))
    return tr("READ {got}, not {held}", got=number(got), held=number(held))


def wrong_text(recording: Recording, row: int, column: int) -> str:
    """Name the final value of an element of C and the right one."""
    wanted = number(float(recording.a[row] @ recording.b[:, column]))
    if recording.owners[0][row, column] < 0:
        return tr("WRONG: no value instead of {wanted}", wanted=wanted)
    return tr("WRONG: {got} instead of {wanted}", got=number(float(recording.c[row, column])), wanted=wanted)


def fed_text(playable: Playable, row: int, column: int) -> str:
    """Say how many accesses fed an element of C: reads of A and B from global memory, reads of shared memory."""
    fed = playable.provenance.operand_paths(row, column)
    shared = tr("shared") if playable.recording.backend == "cuda" else tr("panels")
    counts = [("A", fed.reads(A)), ("B", fed.reads(B)), (shared, fed.shared_reads)]
    text = ", ".join(f"{name} {thousands(len(rows))}×" for name, rows in counts if len(rows))
    if fed.unknown and text:
        return tr("fed by {reads} and values of unknown origin in shared memory", reads=text)
    if fed.unknown:
        return tr("fed by values of unknown origin in shared memory")
    if not text:
        return tr("no read of its row of A or its column of B fed it")
    if fed.rest:
        return tr("fed by {reads}; the rest of its sum was computed elsewhere", reads=text)
    if not fed.gives_stored:
        return tr("{reads} read for it: {sums}", reads=text, sums=sums_text(fed))
    if fed.by_group:
        return tr("fed by {reads}, read by its warpgroup", reads=text)
    return tr("fed by {reads}, read by its warp", reads=text) if fed.by_warp else tr("fed by {reads}", reads=text)


def sums_text(fed: OperandPaths) -> str:
    """Compare the operands read for an element of C with the value stored."""
    return tr("sum {total}, STORED {stored}", total=number(fed.total), stored=number(fed.stored))


def thread_text(recording: Recording, block: int, thread: int) -> str:
    """Name a thread: block, thread, warp and lane."""
    return tr(
        "block {block}, thread {thread}, warp {warp}, lane {lane}",
        block=index_text(recording.block_index(block)),
        thread=index_text(recording.thread_index(thread)),
        warp=thread // WARP,
        lane=thread % WARP,
    )


def index_text(index: tuple[int, int, int]) -> str:
    """Write the index of a block or of a thread; without z where that is 0."""
    x, y, z = index
    return f"({x}, {y})" if z == 0 else f"({x}, {y}, {z})"


def number(value: float) -> str:
    """Write a value as short as it is exact enough to read, with a true minus."""
    if value < 0:
        return f"\N{MINUS SIGN}{number(-value)}"
    if not np.isfinite(value):
        return "NaN" if np.isnan(value) else "∞"
    return str(int(value)) if value == int(value) and value < 1e6 else f"{value:.3g}"


def provenance(playable: Playable, outdated: bool = False, in_doubt: bool = False) -> list[str]:
    """Name the origin of the picture, and whether the recorded result is right: from the longest wording on.

    ``outdated``: it comes from another text, size, parameters or view than those that are chosen now.
    ``in_doubt``: other launches, or other sizes, are being tried, so that this C is no verdict yet.
    """
    recording = playable.recording
    if outdated:
        return [tr("recorded before, not from the current choice"), tr("recorded before")]
    if in_doubt and recording.wrong:
        return [
            tr("C differs with the guessed launch: others are being tried…"),
            tr("other launches are being tried…"),
            tr("trying others…"),
        ]
    if in_doubt:
        return [
            tr("C right at this size: others are being tried…"),
            tr("other sizes are being tried…"),
            tr("trying others…"),
        ]
    verdict = tr("right")
    if recording.wrong:
        verdict = trn("{count} element WRONG", "{count} elements WRONG", recording.wrong)
    names = {"view": tr(recording.view), "verdict": verdict}
    shortest = tr(recording.view) if recording.as_written else tr("recorded")
    return [
        tr("recorded {view} from this source  ·  C checked: {verdict}", **names),
        tr("recorded {view}  ·  C {verdict}", **names),
        f"{shortest}{BETWEEN}C {verdict}",
        tr("WRONG") if recording.wrong else shortest,
    ]
