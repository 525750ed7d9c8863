"""The operands of one tensor-core instruction: the lane of a warp that holds each element, and the register.

`gemmviz.trace.origin.fragments` gives the lane that loads or stores each element. With ``wmma`` that lane holds it. An
``ldmatrix`` distributes its elements to other lanes: lane l gives the address of row l % 8 of the 8 x 8 matrix l / 8,
and lane 4 r + c gets the elements 2 c and 2 c + 1 of row r of each matrix; transposed, of column r (PTX ISA,
"ldmatrix"). An ``stmatrix`` takes them from the same lanes. The operands of a ``wgmma`` stay in shared memory.
"""

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

import numpy as np

from gemmviz.catalogue.matrices import A, B, C
from gemmviz.catalogue.plain_code import without_comments
from gemmviz.trace.lenses.per_recording import latest
from gemmviz.trace.order.requests import Ints
from gemmviz.trace.origin.fragments import Fragment, fragments, shape_of
from gemmviz.trace.origin.operand_paths import Operands
from gemmviz.trace.playable import Playable
from gemmviz.trace.recording.recording import WARP, WARPGROUP

Kind = Literal["wmma", "mma", "wgmma"]
# A function of gemmviz/ptx.h, or the instruction itself in inline PTX.
_MMA = re.compile(r"(wg)?mma(?:_|(?:_async)?\.sync\.aligned\.)m(\d+)n(\d+)k(\d+)")
_TRANSPOSES = re.compile(r"trans|_t\b")
_SIDE = 8  # rows, and columns, of a matrix of ldmatrix
MOST_COLUMNS = 16
"""The largest number of columns of C that are shown: the registers of an instruction repeat every 8 columns."""


@dataclass(frozen=True)
class Instruction:
    """The operands of one instruction in one warp after a step.

    Attributes
    ----------
    kind
        The kind of instruction.
    m, n, k
        Its shape.
    a, b, c
        The fragments; None: not loaded yet, or never in registers. Their `slot` counts a lane's registers in order.
    dealt
        Whether A and B were loaded by ``ldmatrix``: their lanes follow from its definition.
    turned
        Whether B is the first operand: then columns of C are rows of the instruction.
    """

    kind: Kind
    m: int
    n: int
    k: int
    a: Fragment | None
    b: Fragment | None
    c: Fragment | None
    dealt: bool
    turned: bool = False


@lru_cache(maxsize=8)
def _declared(text: str) -> tuple[Kind, int, int, int] | None:
    """Return the kind and the shape of the instructions that a source has; None if it has none.

    Of several widths the first counts: a template has one for each.
    """
    wmma = shape_of(text)
    found = list(_MMA.finditer(without_comments(text)))
    if wmma is not None and not found:
        return "wmma", *wmma
    if not found:
        return None
    m, n, k = (int(found[0][size]) for size in (2, 3, 4))
    return "wgmma" if found[0][1] else "mma", m, n, k


@latest(4)
def _operands(playable: Playable, block: int, warp: int) -> Operands:
    return playable.provenance.operands(block, warp * WARP, (warp + 1) * WARP)


@latest(16)
def instruction(
    playable: Playable, block: int, warp: int, step: int, cell: tuple[int, int] | None = None
) -> Instruction | None:
    """Return the operands of an instruction as a warp holds them after a step.

    Parameters
    ----------
    playable, block, warp, step
        The recording, the warp and the step.
    cell
        An element of C, (row, column), of the instruction; without it, or if another warp holds it, the first element.

    Returns
    -------
    Instruction or None
        None if the warp holds no sums of C.
    """
    declared = _declared(playable.recording.text)
    found = {f.matrix: f for f in fragments(playable, _operands(playable, block, warp), block, warp, step, cell)}
    if C not in found:
        return None
    found[C] = _taken(playable, found[C])
    turned = playable.recording.together == WARPGROUP and _is_turned(found[C])
    if playable.recording.together == WARPGROUP:
        kind: Kind = "wgmma"
        sizes = (64, found[C].lane.shape[0 if turned else 1], declared[3] if declared is not None else 16)
    elif declared is not None:
        kind, *shape = declared
        sizes = (shape[0], shape[1], shape[2])
    else:
        kind, sizes = "wmma", (*found[C].lane.shape, 0)
    m, n, k = sizes
    rows, columns = min(m, found[C].lane.shape[0]), min(n, MOST_COLUMNS)
    c = _cut(found[C], _near(found[C], cell), (columns, 2 * _SIDE) if turned else (rows, columns))
    if kind == "wgmma":
        c = _numbered_by_eights(found[C], c, 0 if turned else 1)
    held = {}
    for matrix, size, at in ((A, (m, k), (c.row, -1)), (B, (k, n), (-1, c.column))):
        if matrix in found:
            held[matrix] = _dealt(playable, found[matrix], at, size) if kind == "mma" else found[matrix]
    dealt = kind == "mma" and any(_moves(playable, f, "ldmatrix") is not None for f in held.values())
    return Instruction(kind, m, n, k, held.get(A), held.get(B), c, dealt, turned)


def _near(fragment: Fragment, cell: tuple[int, int] | None) -> tuple[int, int]:
    """Return an element of a fragment, counted in the matrix: the requested one if it has it, else its first."""
    rows, columns = fragment.lane.shape
    if cell is not None:
        inside = 0 <= cell[0] - fragment.row < rows and 0 <= cell[1] - fragment.column < columns
        if inside and fragment.lane[cell[0] - fragment.row, cell[1] - fragment.column] >= 0:
            return cell
    return fragment.row, fragment.column


def _cut(fragment: Fragment, near: tuple[int, int], size: tuple[int, int]) -> Fragment:
    """Return the part of a fragment that contains an element, with each lane's registers numbered from 0."""
    begin = [
        (max(at - first, 0) // step * step) if at >= 0 else 0
        for at, first, step in zip(near, (fragment.row, fragment.column), size, strict=True)
    ]
    part = tuple(slice(first, first + step) for first, step in zip(begin, size, strict=True))
    lane, slot = fragment.lane[part], fragment.slot[part]
    return replace(
        fragment,
        row=fragment.row + begin[0],
        column=fragment.column + begin[1],
        lane=lane,
        slot=_ranked(lane, slot),
    )


def _taken(playable: Playable, fragment: Fragment) -> Fragment:
    """Return sums by the lanes that hold them: where ``stmatrix`` stores them, another lane gives the address."""
    transposed = _moves(playable, fragment, "stmatrix")
    if transposed is None:
        return fragment
    row, of, shape = fragment.lane % _SIDE, fragment.slot % _SIDE, fragment.lane.shape
    lane = np.where(fragment.lane >= 0, 4 * of + row // 2 if transposed else 4 * row + of // 2, -1)
    return replace(fragment, lane=lane, slot=np.arange(lane.size).reshape(shape, order="F" if transposed else "C"))


def _is_turned(sums: Fragment) -> bool:
    """Return whether a lane holds neighbours in a column of C: neighbours in a row of the instruction."""
    lane = sums.lane
    return min(lane.shape) > 1 and bool(lane[0, 0] == lane[1, 0] != lane[0, 1])


def _numbered_by_eights(whole: Fragment, part: Fragment, axis: int) -> Fragment:
    """Return a part of the sums of a wgmma with the register numbers of the instruction: 8 columns after 8 columns.

    PTX ISA, "Register Fragments and Shared Memory Matrix Layouts" of wgmma. A kernel may store them in another order.
    The columns of the instruction run along `axis` of C.
    """
    far = int(whole.slot.max()) + 1
    eights = np.expand_dims(np.arange(whole.lane.shape[axis]) // _SIDE, 1 - axis)
    slot = _ranked(whole.lane, eights * far + whole.slot)
    row, column = part.row - whole.row, part.column - whole.column
    rows, columns = part.lane.shape
    return replace(part, slot=slot[row : row + rows, column : column + columns])


def _ranked(lane: Ints, slot: Ints) -> Ints:
    """Return the registers of each lane numbered from 0, in their order; -1 if no lane holds the element."""
    order = np.lexsort((slot.ravel(), lane.ravel()))
    lanes = lane.ravel()[order]
    rank = np.empty(lane.size, np.int64)
    rank[order] = np.arange(lane.size) - np.searchsorted(lanes, lanes)
    return np.where(lane >= 0, rank.reshape(lane.shape), -1)


def _moves(playable: Playable, fragment: Fragment, name: str) -> bool | None:
    """Return whether a fragment was moved by a transposing ldmatrix or stmatrix; None if not by that of this name."""
    lines = without_comments(playable.recording.text).lower().splitlines()
    line = lines[fragment.line - 1] if 0 < fragment.line <= len(lines) else ""
    return bool(_TRANSPOSES.search(line)) if name in line else None


def _dealt(playable: Playable, fragment: Fragment, near: tuple[int, int], size: tuple[int, int]) -> Fragment:
    """Return the result of an ldmatrix for the row addresses of the lanes, cut to the size of the instruction."""
    transposed = _moves(playable, fragment, "ldmatrix")
    if transposed is None:
        return _cut(fragment, near, size)
    # An ldmatrix may load the operands of two instructions side by side.
    whole = _cut(fragment, near, (2 * _SIDE, 2 * _SIDE))
    named, element = whole.lane, whole.slot % _SIDE
    row, of = (element, named % _SIDE) if transposed else (named % _SIDE, element)
    there = named >= 0
    lane = np.where(there, 4 * row + of // 2, -1)
    slot = np.where(there, 2 * (named // _SIDE) + of % 2, -1)
    return _cut(replace(whole, lane=lane, slot=slot), near, size)
