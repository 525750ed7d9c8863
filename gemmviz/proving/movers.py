"""The unit that moves the data of each access: the load/store unit (LSU), whose counters are read, or another one.

Compared with the counters of an H200: reads of ``cp.async`` are counted as global loads, but its writes are not counted
as shared stores. Boxes of the copy engine (TMA) and reads of ``wgmma`` are in no counter of the LSU. ``ldmatrix`` is
counted as a shared load. Stores to the shared memory of another block of the cluster are not counted as shared stores.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from gemmviz.language import tr, trn
from gemmviz.language.numbers import thousands
from gemmviz.trace.order.requests import changes
from gemmviz.trace.recording.recording import Recording
from gemmviz.trace.recording.tma_boxes import Boxes

THREAD, COPY_READ, COPY_WRITE, BOX, PRODUCT, REMOTE = range(6)
Kind = Literal["copies", "boxes loaded", "boxes stored", "products", "other blocks"]


@dataclass(frozen=True)
class Unseen:
    """Data that are moved by another unit than the load/store unit, so that the counters do not include them.

    Attributes
    ----------
    kind
        ``"copies"``: written to shared memory by ``cp.async``; ``"boxes loaded"`` and ``"boxes stored"``: moved by the
        copy engine; ``"products"``: operands that ``wgmma`` reads from shared memory; ``"other blocks"``: accesses to
        the shared memory of other blocks of the cluster.
    count
        The number of requested boxes; a box for several blocks counts once. 0 for the other kinds.
    bytes
        Bytes written by copies and boxes, counted in each block of a box; bytes read by products.
    """

    kind: Kind
    count: int
    bytes: int

    @property
    def words(self) -> str:
        """Return a sentence for people."""
        moved = thousands(self.bytes)
        match self.kind:
            case "copies":
                return tr("cp.async writes {bytes} bytes to shared memory: not among the shared stores", bytes=moved)
            case "products":
                return tr(
                    "wgmma reads {bytes} bytes of shared memory directly: they are not counted as shared loads",
                    bytes=moved,
                )
            case "other blocks":
                return tr(
                    "threads access {bytes} bytes in the shared memory of other blocks: not among the shared loads and "
                    "stores",
                    bytes=moved,
                )
            case "boxes loaded":
                return trn(
                    "the copy engine loads {count} box, {bytes} bytes: not among the global loads and shared stores",
                    "the copy engine loads {count} boxes, {bytes} bytes: not among the global loads and shared stores",
                    self.count,
                    bytes=moved,
                )
            case "boxes stored":
                return trn(
                    "the copy engine stores {count} box, {bytes} bytes: not among the shared loads and global stores",
                    "the copy engine stores {count} boxes, {bytes} bytes: not among the shared loads and global stores",
                    self.count,
                    bytes=moved,
                )


def movers(recording: Recording) -> npt.NDArray[np.uint8]:
    """Return the unit that moves each access: a constant of this module."""
    log, boxes = recording.accesses, recording.boxes
    kinds = [PRODUCT if site.product else REMOTE if site.remote else THREAD for site in recording.sites]
    of_site = np.array(kinds or [THREAD], np.uint8)
    write, read, _ = log.copies.T  # including the pieces of boxes
    of_site[log.site[write]] = COPY_WRITE
    of_site[log.site[read[read >= 0]]] = COPY_READ
    for first in (boxes.read, boxes.write, boxes.old):
        of_site[log.site[first[first >= 0]]] = BOX
    found: npt.NDArray[np.uint8] = of_site[log.site]
    return found


def unseen(recording: Recording, who: npt.NDArray[np.uint8]) -> tuple[Unseen, ...]:
    """Return the data that the counters do not include; `who` is the result of `movers`."""
    log, boxes = recording.accesses, recording.boxes
    shared = np.array([array.space == "shared" for array in recording.arrays])[log.array]
    written, size = log.write > 0, log.bytes.astype(np.int64)

    def total(rows: npt.NDArray[np.bool_]) -> int:
        return int(size[rows].sum())

    box = (who == BOX) & written
    found = (
        Unseen("boxes loaded", _asked_for(boxes, boxes.store == 0), total(box & shared)),
        Unseen("boxes stored", _asked_for(boxes, boxes.store > 0), total(box & ~shared)),
        Unseen("copies", 0, total(who == COPY_WRITE)),
        Unseen("products", 0, total(who == PRODUCT)),
        Unseen("other blocks", 0, total(who == REMOTE)),
    )
    return tuple(one for one in found if one.count or one.bytes)


def _asked_for(boxes: Boxes, which: npt.NDArray[np.bool_]) -> int:
    """Return the number of instructions that requested boxes; a box for several blocks has an entry for each block."""
    asked = (boxes.block, boxes.thread, boxes.line, boxes.matrix, boxes.row, boxes.column, boxes.issued, boxes.to)
    different, times = np.unique(np.stack(asked)[:, which], axis=1, return_counts=True)
    if not len(times):
        return 0
    by_place = changes(*different[:-1])
    return int(np.maximum.reduceat(times, by_place).sum())


def added(parts: Iterable[Unseen]) -> tuple[Unseen, ...]:
    """Return the sums of data over several parts of a launch."""
    total: dict[Kind, Unseen] = {}
    for part in parts:
        known = total.get(part.kind, replace(part, count=0, bytes=0))
        total[part.kind] = replace(known, count=known.count + part.count, bytes=known.bytes + part.bytes)
    return tuple(total.values())
