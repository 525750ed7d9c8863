"""Races between GPUs: rows of A that a launch accesses, and a copy or another GPU's launch accesses at the same time.

The launches' accesses are those of the recording; the order of launches and copies is that of their streams and events
(`gemmviz.catalogue.queue`). Two products in succession are looked at, as a copy for the second one may write to rows
that the first one still reads. Source of the rules: CUDA C++ Programming Guide, "Streams" and "Events".
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from gemmviz.catalogue.matrices import A
from gemmviz.catalogue.queue import Copy, Product, Queue
from gemmviz.language import mark, tr
from gemmviz.trace.hazards.finding import Finding
from gemmviz.trace.recording.memories import is_elsewhere, owner_of_a
from gemmviz.trace.recording.recording import Recording

_PRODUCTS = 2
_CROSSING = re.compile(r"^// ?crossing\b", re.MULTILINE)
# Key: whether the launch writes the rows; then the copy, or the other launch, may read them.
_WITH_COPY = {
    False: mark(
        "GPU {device} reads row {row} of A (line {line}) while the copy of the rows of GPU {owner} writes it (line "
        "{other_line}): no event orders the two"
    ),
    True: mark(
        "GPU {device} writes row {row} of A (line {line}) while the copy of the rows of GPU {owner} accesses it (line "
        "{other_line}): no event orders the two"
    ),
}
_WITH_LAUNCH = {
    False: mark(
        "GPU {device} reads row {row} of A (line {line}) while GPU {owner} writes it (line {other_line}): no event "
        "orders the two"
    ),
    True: mark(
        "GPU {device} writes row {row} of A (line {line}) while GPU {owner} accesses it (line {other_line}): no event "
        "orders the two"
    ),
}
_COPIES_AT_ONCE = mark(
    "a copy of the rows of GPU {owner} and one of GPU {other} access the same rows of A in the memory of GPU {device} "
    "(line {line}), and one of them writes: no event orders the two"
)
_NOT_BROUGHT = mark(
    "GPU {device} reads row {row} of A (line {line}), but no copy (line {other_line}) brings it there before"
)


@dataclass(frozen=True)
class _Touch:
    """An access of a launch or a copy to the rows of A of one GPU, in one memory.

    Attributes
    ----------
    number
        Of the launch or copy, in `_Order.work`.
    place
        The GPU whose memory it is, and the GPU that owns the rows with this place in A.
    write
        Whether it writes.
    row
        A row of the recording; -1 for a copy.
    """

    number: int
    place: tuple[int, int]
    write: bool
    row: int = -1


class _Order:
    """The launches and copies of some products in succession, and which of them have ended before others begin.

    Attributes
    ----------
    work
        Each launch or copy, with the number of its product.
    """

    def __init__(self, queue: Queue) -> None:
        self.work: list[tuple[int, Copy | Product]] = []
        self._before: list[int] = []  # as a set of bits
        streams: dict[tuple[type, int], int] = {}
        ended = 0
        for turn in range(_PRODUCTS):
            begin, done = ended, dict[Copy, int]()
            for copy in queue.copies:
                done[copy] = self._add(turn, copy, streams, (Copy, copy.owner), begin)
            for product in queue.products:
                needed = begin
                for copy in product.waits:
                    needed |= done[copy]
                ended |= self._add(turn, product, streams, (Product, product.panel.device), needed)

    def _add(
        self, turn: int, one: Copy | Product, streams: dict[tuple[type, int], int], stream: tuple[type, int], after: int
    ) -> int:
        before = streams.get(stream, 0) | after
        self._before.append(before)
        self.work.append((turn, one))
        streams[stream] = before | 1 << (len(self.work) - 1)
        return streams[stream]

    def is_before(self, one: int, other: int) -> bool:
        """Return whether a launch or copy has ended when another one begins."""
        return bool(self._before[other] >> one & 1)


def device_races(recording: Recording, queue: Queue) -> Iterator[Finding]:
    """Look for rows of A that are read before they have arrived, or overwritten while they are used.

    Parameters
    ----------
    recording
        Of a product on several GPUs.
    queue
        The queue of its copies and launches; its launches are those of `Recording.sharing`.
    """
    order = _Order(queue)
    touches = [*_of_launches(recording, order), *_of_copies(order)]
    by_place: dict[tuple[int, int], list[_Touch]] = {}
    for touch in touches:
        by_place.setdefault(touch.place, []).append(touch)
    texts: dict[tuple[str, int, int], tuple[str, set[tuple[int, int]]]] = {}
    for place, here in sorted(by_place.items()):
        for kind, line, other_line, text in _at_place(recording, order, here):
            texts.setdefault((kind, line, other_line), (text, set()))[1].add(place)
    sharing = recording.sharing
    assert sharing is not None
    rows = recording.m // sharing.devices
    for (kind, line, other_line), (text, places) in texts.items():
        count = len(places) * rows * recording.k
        if kind == "race":
            yield Finding("race", line, text, count, other_line, "A")
        else:
            yield Finding("read of memory nobody wrote", line, text, count, other_line, "A")


def _of_launches(recording: Recording, order: _Order) -> Iterator[_Touch]:
    """Yield the accesses of each launch to the rows of each GPU: one that reads and one that writes."""
    sharing, log = recording.sharing, recording.accesses
    assert sharing is not None
    position, element = recording.elements(np.flatnonzero(log.array == A))
    rows = np.flatnonzero(log.array == A)[position]
    owner = owner_of_a(recording, element)
    launch = log.block[rows].astype(np.int64) // (recording.blocks // len(sharing.launches))
    elsewhere = is_elsewhere(recording, rows) | (sharing.crossing == "reads")
    key = ((launch * sharing.devices + owner) * 2 + elsewhere) * 2 + log.write[rows]
    kinds, first = np.unique(key, return_index=True)
    launches = [n for n, (_, one) in enumerate(order.work) if isinstance(one, Product)]
    for at in range(0, len(launches), len(sharing.launches)):
        for kind, row in zip(kinds.tolist(), rows[first].tolist(), strict=True):
            (number, whose), write = divmod(kind // 4, sharing.devices), bool(kind % 2)
            memory = whose if kind & 2 else sharing.launches[number][0]
            yield _Touch(launches[at + number], (memory, whose), write, row)


def _of_copies(order: _Order) -> Iterator[_Touch]:
    for number, (_, one) in enumerate(order.work):
        if isinstance(one, Copy):
            yield _Touch(number, (one.owner, one.owner), False)
            yield _Touch(number, (one.to, one.place), True)


def _at_place(recording: Recording, order: _Order, here: list[_Touch]) -> Iterator[tuple[str, int, int, str]]:
    """Yield kind, lines and sentence about the accesses to the rows of a GPU in one memory."""
    copied = any(isinstance(one, Copy) for _, one in order.work)
    for number, one in enumerate(here):
        for other in here[:number]:
            if (one.write or other.write) and not (
                order.is_before(one.number, other.number) or order.is_before(other.number, one.number)
            ):
                launch, second = (one, other) if one.row >= 0 else (other, one)
                if launch.number != second.number:
                    yield "race", *_race(recording, order, launch, second)
        if one.row < 0 or one.write or one.place[0] == one.place[1] or not copied:
            continue
        turn = order.work[one.number][0]
        brought = (t for t in here if t.row < 0 and t.write and order.work[t.number][0] == turn)
        if all(order.is_before(one.number, copy.number) for copy in brought):
            line, other_line = _line(recording, one), _copies_line(recording)
            text = tr(_NOT_BROUGHT, device=one.place[0], row=_row(recording, one), line=line, other_line=other_line)
            yield "unwritten", line, other_line, text


def _race(recording: Recording, order: _Order, one: _Touch, other: _Touch) -> tuple[int, int, str]:
    """Return both lines, and the sentence; if one of both is a launch, it is `one`."""
    line, other_line = _line(recording, one), _line(recording, other)
    (_, work), (_, second) = order.work[one.number], order.work[other.number]
    if isinstance(work, Copy):
        assert isinstance(second, Copy)
        owner, whose = sorted((work.owner, second.owner))
        return line, other_line, tr(_COPIES_AT_ONCE, owner=owner, other=whose, device=one.place[0], line=line)
    text = _WITH_COPY if isinstance(second, Copy) else _WITH_LAUNCH
    owner = second.owner if isinstance(second, Copy) else second.panel.device
    values = {"device": work.panel.device, "owner": owner, "line": line, "other_line": other_line}
    return line, other_line, tr(text[one.write], row=_row(recording, one), **values)


def _row(recording: Recording, touch: _Touch) -> int:
    """Return the row of A of an access."""
    return int(recording.arrays[A].cells(recording.accesses.element[touch.row : touch.row + 1])[0][0])


def _line(recording: Recording, touch: _Touch) -> int:
    """Return the line of an access; of a copy, the line of the front matter that declares copies."""
    if touch.row < 0:
        return _copies_line(recording)
    return recording.sites[int(recording.accesses.site[touch.row])].line


def _copies_line(recording: Recording) -> int:
    found = _CROSSING.search(recording.text)
    return recording.text.count("\n", 0, found.start()) + 1 if found else 0
