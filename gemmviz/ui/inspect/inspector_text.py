"""Sentences of the inspector: the request of a warp, the state of a thread, the way of a value."""

import numpy as np

from gemmviz.catalogue.matrices import C
from gemmviz.language import tr, trn
from gemmviz.language.numbers import thousands
from gemmviz.trace.cost.warp_request import WarpRequest
from gemmviz.trace.origin.fragments import Fragment, shape_of
from gemmviz.trace.origin.stale_reads import same
from gemmviz.trace.origin.thread_state import ThreadState
from gemmviz.trace.origin.value_path import Cell, Hop
from gemmviz.trace.playable import Playable
from gemmviz.trace.recording.names import cell_name
from gemmviz.trace.recording.recording import WARP, WARPGROUP, Recording
from gemmviz.ui.stage.caption import index_text, misread_text, number

_TERMS = 6  # of a sum that are written out


def cell_text(recording: Recording, cell: Cell) -> str:
    """Name a cell: A[3, 4]."""
    name, row, column = cell_name(recording, cell)
    return f"{name}[{row}, {column}]"


def block_text(recording: Recording, block: int) -> str:
    """Name a block by its index: (1, 0)."""
    return index_text(recording.block_index(block))


def short_thread(recording: Recording, thread: int) -> str:
    """Name a thread in little room: warp and lane; on a CPU its number."""
    if recording.backend != "cuda":
        return tr("thread {thread}", thread=thread)
    return tr("warp {warp} lane {lane}", warp=thread // WARP, lane=thread % WARP)


# The warp


def request_head(recording: Recording, asked: WarpRequest) -> str:
    """Name the warp, its request, and the source line."""
    values = {
        "warp": asked.warp,
        "block": block_text(recording, asked.block),
        "array": recording.arrays[asked.array].name,
        "line": asked.line,
        "step": thousands(asked.step + 1),
    }
    if asked.write:
        return tr("Warp {warp} of block {block} writes {array}: line {line}, step {step}", **values)
    return tr("Warp {warp} of block {block} reads {array}: line {line}, step {step}", **values)


def request_figure(asked: WarpRequest) -> str:
    """Return the cost of a request as a figure."""
    if asked.is_shared:
        return trn("{count} wavefront", "{count} wavefronts", asked.units)
    return trn("{count} sector", "{count} sectors", asked.units)


def request_cost(asked: WarpRequest) -> str:
    """Return the cost of a request in words."""
    lanes = trn("{count} lane", "{count} lanes", len(asked.lane))
    asks = tr("{lanes}, {bytes} bytes asked for", lanes=lanes, bytes=thousands(asked.asked_bytes))
    if not asked.is_shared:
        moved = thousands(asked.moved_bytes)
        cost = trn(
            "{count} sector = {bytes} bytes moved", "{count} sectors = {bytes} bytes moved", asked.units, bytes=moved
        )
        least = trn("where {count} would do", "where {count} would do", asked.least)
        return f"{asks}, {cost}" + (f", {least}" if asked.units > asked.least else "")
    if asked.units == asked.least:
        free = trn("no bank conflict: {count} wavefront", "no bank conflict: {count} wavefronts", asked.units)
        return f"{asks}, {free}"
    if asked.least == 1:
        conflict = tr("{ways}-way bank conflict: {ways} wavefronts", ways=asked.units)
    else:
        conflict = tr("bank conflicts: {units} wavefronts instead of {least}", units=asked.units, least=asked.least)
    return f"{asks}, {conflict}"


def lanes_out(asked: WarpRequest) -> str:
    """Say which lanes do not take part and why; empty if all do."""
    parts = []
    if asked.outside and asked.certain:
        parts.append(trn("{count} lane out of bounds", "{count} lanes out of bounds", asked.outside))
    elif asked.outside:
        parts.append(
            trn("{count} lane inactive or out of bounds", "{count} lanes inactive or out of bounds", asked.absent)
        )
    elif asked.inactive:
        parts.append(trn("{count} lane inactive", "{count} lanes inactive", asked.inactive))
    if asked.missing:
        parts.append(_missing_text(asked))
    return ", ".join(parts)


def _missing_text(asked: WarpRequest) -> str:
    """Say how much of a warp is empty because the block has no more threads."""
    threads = (asked.warp + 1) * WARP - asked.missing
    if asked.warp:
        return trn(
            "the block has {threads} threads, so {count} lane of its last warp is empty",
            "the block has {threads} threads, so {count} lanes of its last warp are empty",
            asked.missing,
            threads=threads,
        )
    if 2 * asked.missing == WARP:
        return tr("only {threads} threads in this block, so half the warp is empty", threads=threads)
    return trn(
        "only {threads} thread in this block, so {empty} of {lanes} lanes are empty",
        "only {threads} threads in this block, so {empty} of {lanes} lanes are empty",
        threads,
        threads=threads,
        empty=asked.missing,
        lanes=WARP,
    )


def when_text(asked: WarpRequest, step: int, missed: bool) -> str:
    """Say that a shown request is not made at the session's step; empty if it is.

    ``missed``: threads may have accessed memory out of bounds at that step, without a request to show.
    """
    if missed and asked.step > step:
        return tr("At this step this warp makes no access within bounds: its next request is shown.")
    if missed and asked.step < step:
        return tr("At this step this warp makes no access within bounds: its last request is shown.")
    if asked.step > step:
        return tr("This step is not this warp's: shown is its next request.")
    if asked.step < step:
        return tr("This warp makes no further request: its last request is shown.")
    return ""


# The thread


def operand_text(playable: Playable, state: ThreadState, place: int) -> str:
    """Describe an operand, and the place where its reader got it."""
    operands, recording = state.products.operands, playable.recording
    line, k = int(operands.line[place]), int(operands.k[place])
    name = recording.arrays[int(operands.matrix[place])].name
    at = f"{name}[{line}, {k}]" if operands.matrix[place] == 0 else f"{name}[{k}, {line}]"
    use = int(operands.use[place])
    source = recording.arrays[int(recording.accesses.array[use])].name
    values = {
        "cell": at,
        "value": number(float(operands.value[place])),
        "array": source,
        "step": thousands(int(playable.timeline.step_of_row[use]) + 1),
        "line": recording.sites[int(recording.accesses.site[use])].line,
    }
    if operands.write[place] < 0:
        return tr("{cell} = {value}, read at step {step}, line {line}", **values)
    matrix = recording.a if operands.matrix[place] == 0 else recording.b.T
    if not same(operands.value[place], matrix[line, k]):
        text = misread_text(float(operands.value[place]), float(matrix[line, k]))
        return tr("✗ {cell}: {misread}, from {array} at step {step}, line {line}", misread=text, **values)
    return tr("{cell} = {value}, read from {array} at step {step}, line {line}", **values)


def sum_text(state: ThreadState, element: int) -> str:
    """Write out the last products of one element's sum so far."""
    known = state.products
    done = np.flatnonzero((known.element == element) & (known.step <= state.step))
    done = done[np.argsort(known.step[done], kind="stable")]
    a, b = known.operands.value[known.a[done]], known.operands.value[known.b[done]]
    terms = [f"{number(float(x))}·{_bracketed(float(y))}" for x, y in zip(a, b, strict=True)]
    if not terms:
        return "0"
    before = "… + " if len(terms) > _TERMS else ""
    return f"{before}{' + '.join(terms[-_TERMS:])} = {number(float(state.sums[element]))}"


def _bracketed(value: float) -> str:
    return f"({number(value)})" if value < 0 else number(value)


def fragment_text(playable: Playable, fragment: Fragment) -> str:
    """Describe a fragment, the step of its load, and how often each of its values is used."""
    recording = playable.recording
    height, width = fragment.lane.shape
    values = {
        "name": recording.arrays[fragment.matrix].name,
        "rows": f"{fragment.row}–{fragment.row + height - 1}",
        "columns": f"{fragment.column}–{fragment.column + width - 1}",
        "step": thousands(fragment.step + 1),
        "line": fragment.line,
    }
    if fragment.matrix == C:
        return tr("{name}, rows {rows}, columns {columns}: stored at step {step}, line {line}", **values)
    text = tr("{name}, rows {rows}, columns {columns}: loaded by step {step}, line {line}", **values)
    return f"{text}; {use_text(recording, fragment)}"


def use_text(recording: Recording, fragment: Fragment) -> str:
    """Describe how often loaded values are used: by fragments of C, or by products where their shape is undeclared."""
    shape, name = shape_of(recording.text), recording.arrays[fragment.matrix].name
    side = shape[1 - fragment.matrix] if shape else 0
    if side and fragment.products % side == 0:
        times = fragment.products // side
        return trn("one load of {name} used once", "one load of {name} used {count} times", times, name=name)
    return trn(
        "each value of {name} used in {count} product",
        "each value of {name} used in {count} products",
        fragment.products,
        name=name,
    )


def uses_text(recording: Recording, held: list[Fragment]) -> str:
    """Say in little room how often each load is used."""
    if recording.together == WARPGROUP:
        return tr("A and B stay in shared memory")
    shape, parts = shape_of(recording.text), []
    for fragment in held:
        side = shape[1 - fragment.matrix] if shape and fragment.products else 1
        if fragment.products and fragment.products % side == 0:
            parts.append(f"{recording.arrays[fragment.matrix].name} {fragment.products // side}×")
    return tr("one load is used: {uses}", uses=", ".join(parts)) if parts else tr("nothing loaded yet")


# The origin


def hop_text(playable: Playable, hop: Hop) -> str:
    """Say in one sentence which way a value took."""
    recording = playable.recording
    values = {
        "cell": cell_text(recording, hop.origin),
        "value": number(hop.read.value),
        "target": cell_text(recording, hop.target),
        "read": thousands(hop.read.step + 1),
        "use": thousands(hop.use.step + 1),
    }
    if hop.write is None:
        return tr("{cell} = {value}: read at step {read}, for {target}", **values)
    shared, write = cell_text(recording, hop.write.cell), thousands(hop.write.step + 1)
    if hop.misread:
        return tr(
            "{cell} = {value}: read at step {read}, in {shared} at step {write}; "
            "at step {use} the thread READ {got} there for {target}",
            shared=shared,
            write=write,
            got=number(hop.use.value),
            **values,
        )
    return tr(
        "{cell} = {value}: read at step {read}, in {shared} at step {write}, used at step {use} for {target}",
        shared=shared,
        write=write,
        **values,
    )
