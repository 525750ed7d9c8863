"""Finds the read of global memory whose value a thread writes to shared memory.

An asynchronous copy names its source. For a copy through registers the recording shows only the read and the write, and
the link is *attributed*, which means inferred: in a kernel's text, each store to a tile takes its value from one
certain load (for a vector: from one certain part of it). Vectors that are turned in registers are recognised first
(`gemmviz.trace.origin.turned`). Otherwise every load is tried for every store: as the last one before it, as one a few
times earlier (several loads, then the stores; double buffering), or as the load with the same ordinal (a loop that
loads, then a loop that stores), whatever the thread does in between. A kernel that loads ahead fills the same registers
in two places, before its loop and in it. So if no single load fits, several loads of the same matrix are tried
together, and then each load by its number (`gemmviz.trace.origin.load_store_matching`). A load that fits is taken, but
only for the stores whose own value fits. If nothing fits, the source is unknown. Zeros have no source: the matrices of
a recording contain no zeros; the kernel fills the edges of tiles with them.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gemmviz.catalogue.matrices import A, B
from gemmviz.trace.distinct import distinct
from gemmviz.trace.order.requests import Ints, earlier
from gemmviz.trace.origin.load_store_matching import matched
from gemmviz.trace.origin.turned import turned
from gemmviz.trace.parts import ROWS_AT_ONCE
from gemmviz.trace.recording.recording import Recording

_LAGS = 8  # the largest number of loads back
_SAMPLE = 2048  # stores of an instruction that are compared with loads
_PARTS = 16  # the largest number of elements of one access
_PLACES = _PARTS << 16  # numbers for the arrays and parts that one line accesses
# By chance a sixth of the values fit, as the matrices have six different values. A right rule fits all values, except
# those that a defect of the kernel changes.
_SURE = 0.9
# Several loads are tried together on the first stores of a few threads, the most likely loads first.
_THREADS, _FIRST, _SEEDS = 32, 64, 6


@dataclass(frozen=True)
class Staged:
    """Every element that is written to memory, in the order of the rows, with the read of its value.

    Attributes
    ----------
    row, element
        int64, the writing access and the element that it writes.
    read, read_element
        int64, the access that read the value from global memory, and the element that it read; -1 if there is none
        (results, zeros, computed values), or if it is not known.
    unknown
        bool, whether it was probably read from A or B, judged by the values of its instruction, by an unknown access.
    doubtful
        int64, in order, the accesses to global memory that may have read one of these.
    """

    row: Ints
    element: Ints
    read: Ints
    read_element: Ints
    unknown: npt.NDArray[np.bool_]
    doubtful: Ints


@dataclass(frozen=True)
class _Items:
    """Accessed elements, sorted by thread and then by the order of accesses.

    ``key`` contains the thread, and in its low bits the row; ``place`` is the index of an item before sorting. A
    channel is one part of one instruction.
    """

    key: Ints
    place: Ints
    row: Ints
    element: Ints
    value: npt.NDArray[np.float32]
    channel: Ints


def staged(recording: Recording) -> Staged:
    """Find the sources of the values that a recording writes to shared memory."""
    log = recording.accesses
    shared = np.array([a.space == "shared" for a in recording.arrays])
    writes = np.flatnonzero(log.write)
    position, element, value = recording.covered(writes)
    row = writes[position]
    read, read_element = np.full((2, len(row)), -1, np.int64)
    unknown, doubtful = np.zeros(len(row), bool), np.zeros(0, np.int64)
    arrives = np.zeros(len(log), bool)
    arrives[log.copies[:, 0]] = True
    at = np.flatnonzero(shared[log.array[row]] & (value != 0) & ~arrives[row])
    if len(at):
        loads = ~log.write & ~shared[log.array]
        loads[log.copies[log.copies[:, 1] >= 0, 1]] = False  # reads of asynchronous copies are in no register
        loads = np.flatnonzero(loads)
        position, load_element, load_value = recording.covered(loads)
        source = _items(recording, loads[position], load_element, load_value)
        target = _items(recording, row[at], element[at], value[at])
        found, lost = _link(recording, target, source)
        unknown[at[target.place[lost]]] = True
        doubtful = _doubtful(recording, target, lost, source)
        linked = np.flatnonzero(found >= 0)
        place = at[target.place[linked]]
        read[place], read_element[place] = source.row[found[linked]], source.element[found[linked]]
    origin_of = np.full(len(log), -1, np.int64)
    origin_of[log.copies[:, 0]] = log.copies[:, 1]
    at = np.flatnonzero(arrives[row])
    origin = origin_of[row[at]]
    offset = element[at] - log.element[row[at]].astype(np.int64)
    # At the edge of a matrix a copy reads fewer elements than it writes: the others are zeros, and have no source.
    itemsize = np.array([a.itemsize for a in recording.arrays], np.int64)
    brought = (origin >= 0) & (offset * itemsize[log.array[origin]] < log.bytes[origin])
    read[at] = np.where(brought, origin, -1)
    read_element[at] = np.where(brought, log.element[origin] + offset, -1)
    return Staged(row, element, read, read_element, unknown, doubtful)


def _items(recording: Recording, row: Ints, element: Ints, value: npt.NDArray[np.float32]) -> _Items:
    log = recording.accesses
    bits = max(len(log) - 1, 1).bit_length()
    thread = log.block[row].astype(np.int64) * recording.threads + log.thread[row]
    part = element - log.element[row]
    key = thread << bits | row
    order = np.argsort(key, kind="stable")
    channel = log.site[row].astype(np.int64) * _PARTS + part
    return _Items(key[order], order, row[order], element[order], value[order], channel[order])


def _link(recording: Recording, stores: _Items, loads: _Items) -> tuple[Ints, npt.NDArray[np.bool_]]:
    """Return, per store, the load of its value, or -1; and whether there must be a load that is not found."""
    found, lost = np.full(len(stores.row), -1, np.int64), np.zeros(len(stores.row), bool)
    lines = np.array([s.line for s in recording.sites], np.int64)
    bits = max(len(recording.accesses) - 1, 1).bit_length()
    inputs = distinct(np.concatenate([recording.a.ravel(), recording.b.ravel()]))
    of_channel = {int(c): np.flatnonzero(loads.channel == c) for c in distinct(loads.channel)}
    of_load, of_store = (_places(recording, items, lines) for items in (loads, stores))
    of_place = {int(p): np.flatnonzero(of_load == p) for p in distinct(of_load)}
    _link_turned(stores, loads, (of_store // _PARTS, of_load // _PARTS), bits, found)
    _link_unrolled(stores, loads, of_store, of_place, bits, found)
    for channel in distinct(stores.channel[found < 0]):
        mine = np.flatnonzero(stores.channel == channel)
        key, value = stores.key[mine], stores.value[mine]
        ordinal = earlier(key >> bits, np.zeros(len(mine), np.int64))
        sample = distinct(np.linspace(0, len(mine) - 1, _SAMPLE).astype(np.int64))
        # Of loads that fit equally well, the one in the same line is preferred: `tile[i] = A[j];`.
        line = lines[channel // _PARTS]
        in_order = sorted(of_channel, key=lambda c: (lines[c // _PARTS] != line, c))
        tried = (of_channel[load] for load in in_order)
        best, chosen = _best(loads, tried, key[sample], value[sample], ordinal[sample], bits)
        # A sum is not a copy, as it has values that are not in the matrices; a constant is not a copy either.
        copies = np.isin(value, inputs).mean() >= _SURE and np.ptp(value) > 0
        rules = [chosen]
        if best < len(sample) and copies:
            rules.append(_several(recording, loads, of_channel, key, value, ordinal, bits))
        taken, enough = np.full(len(mine), -1), _SURE * len(mine)
        for among, rule in (r for r in rules if r is not None):
            tried = _candidates(loads.key[among], key, ordinal, bits)[rule]
            fits = (tried >= 0) & (loads.value[among][tried] == value)
            if fits.sum() >= enough:
                taken, enough = np.where(fits, among[tried], -1), fits.sum() + 1
        if copies and (taken < 0).any():
            # If a rule does not fit for all stores, some loads fit by chance.
            cell = (recording.accesses.array[loads.row].astype(np.int64) << 40) + loads.element
            by_number = matched((key, value), (loads.key, loads.value, cell), bits)
            taken = np.where(by_number >= 0, by_number, taken)
        found[mine], lost[mine] = taken, copies & (taken < 0)
    return found, lost


def _link_turned(stores: _Items, loads: _Items, lines: tuple[Ints, Ints], bits: int, found: Ints) -> None:
    """Set, in `found`, the loads of stores whose values were turned in registers; `lines` are those of both."""
    of_store, of_load = lines
    # Only a load of several elements has rows that can become columns.
    many = [np.flatnonzero(of_load == line) for line in distinct(of_load[loads.channel % _PARTS > 0])]
    for line in distinct(of_store) if many else ():
        mine = np.flatnonzero(of_store == line)
        for among in (rows for rows in many if len(rows) == len(mine)):
            source = turned((stores.key[mine], stores.value[mine]), (loads.key[among], loads.value[among]), bits)
            if source is not None:
                found[mine] = among[source]
                break


def _link_unrolled(
    stores: _Items, loads: _Items, of_store: Ints, of_place: dict[int, Ints], bits: int, found: Ints
) -> None:
    """Set, in `found`, the loads of stores that a compiler made into several instructions, if one rule fits them all.

    In an unrolled loop each instruction is executed too rarely to identify its load by values. The loop's text has one
    load and one store, so the instructions of a line are treated together.
    """
    for place in distinct(of_store):
        mine = np.flatnonzero(of_store == place)
        if (stores.channel[mine] == stores.channel[mine[0]]).all() or place < _PLACES or (found[mine] >= 0).all():
            continue
        key, value = stores.key[mine], stores.value[mine]
        ordinal = earlier(key >> bits, np.zeros(len(mine), np.int64))
        in_order = sorted(of_place, key=lambda p: (p // _PLACES != place // _PLACES, p))
        best, chosen = _best(loads, (of_place[p] for p in in_order), key, value, ordinal, bits)
        if chosen is not None and best == len(mine) and np.ptp(value) > 0:
            among, rule = chosen
            found[mine] = among[_candidates(loads.key[among], key, ordinal, bits)[rule]]


def _places(recording: Recording, items: _Items, lines: Ints) -> Ints:
    """Return the place of items in the source: line, array and part of the access as one number."""
    array = recording.accesses.array[items.row].astype(np.int64)
    return lines[items.channel // _PARTS] * _PLACES + array * _PARTS + items.channel % _PARTS


def _best(
    loads: _Items, tried: Iterable[Ints], key: Ints, value: npt.NDArray[np.float32], ordinal: Ints, bits: int
) -> tuple[int, tuple[Ints, int] | None]:
    """Return the set of loads, and its rule, that fit the most stores, and their number; of equal sets the first."""
    best, chosen = 0, None
    for among in tried:
        score = _fits(loads, among, key, value, ordinal, bits).sum(axis=1)
        if score.max() > best:
            best, chosen = int(score.max()), (among, int(score.argmax()))
            if best == len(key):
                break
    return best, chosen


def _several(
    recording: Recording,
    loads: _Items,
    of_channel: dict[int, Ints],
    key: Ints,
    value: npt.NDArray[np.float32],
    ordinal: Ints,
    bits: int,
) -> tuple[Ints, int] | None:
    """Return loads of several channels that together fit the stores of one channel, and their rule; or None."""
    threads = distinct(key >> bits)
    threads = threads[distinct(np.linspace(0, len(threads) - 1, _THREADS).astype(np.int64))]
    tried = np.flatnonzero(np.isin(key >> bits, threads) & (ordinal < _FIRST))
    key, value, ordinal = key[tried], value[tried], ordinal[tried]
    begin, end = (np.searchsorted(loads.key, t << bits) for t in (threads, threads + 1))
    here = np.concatenate([np.arange(*ends) for ends in zip(begin, end, strict=True)])
    near = {c: here[loads.channel[here] == c] for c in of_channel}
    array = {c: int(recording.accesses.array[loads.row[rows[0]]]) for c, rows in of_channel.items()}

    def fits(channels: tuple[int, ...]) -> npt.NDArray[np.bool_]:
        among = np.sort(np.concatenate([near[c] for c in channels]))
        return _fits(loads, among, key, value, ordinal, bits)

    def promise(channel: int) -> float:
        # A load before a loop fits few of the stores, but always the first one.
        fit = fits((channel,))
        return float(max(fit.mean(axis=1).max(), fit[:, ordinal == 0].mean(axis=1).max()))

    best, chosen = 0.0, None
    for seed in sorted((c for c in near if len(near[c])), key=promise, reverse=True)[:_SEEDS]:
        channels: tuple[int, ...] = (seed,)
        score = 0.0
        while score < 1:
            more = [(*channels, c) for c in near if c not in channels and array[c] == array[seed] and len(near[c])]
            ahead = max(more, key=lambda some: fits(some).mean(axis=1).max(), default=None)
            gained = float(fits(ahead).mean(axis=1).max()) if ahead else 0.0
            if ahead is None or gained <= score:
                break
            channels, score = ahead, gained
        if score > best:
            best, chosen = score, (channels, int(fits(channels).mean(axis=1).argmax()))
        if best == 1:
            break
    if chosen is None:
        return None
    return np.sort(np.concatenate([of_channel[c] for c in chosen[0]])), chosen[1]


def _doubtful(recording: Recording, stores: _Items, lost: npt.NDArray[np.bool_], loads: _Items) -> Ints:
    """Return the reads of values that their thread stores later, for stores of unknown source."""
    bits = max(len(recording.accesses) - 1, 1).bit_length()
    values = distinct(stores.value[lost])
    if not len(values):
        return np.zeros(0, np.int64)
    last = np.full((recording.blocks * recording.threads, len(values)), -1)
    held = np.searchsorted(values, stores.value[lost])
    np.maximum.at(last, (stores.key[lost] >> bits, held), stores.row[lost])
    held = np.minimum(np.searchsorted(values, loads.value), len(values) - 1)
    later = (values[held] == loads.value) & (last[loads.key >> bits, held] > loads.row)
    return distinct(loads.row[later])


def _fits(
    loads: _Items, among: Ints, key: Ints, value: npt.NDArray[np.float32], ordinal: Ints, bits: int
) -> npt.NDArray[np.bool_]:
    """Return, by rule and store, whether the load of the rule has the value."""
    if not len(among):
        return np.zeros((_LAGS + 1, len(key)), bool)
    tried = _candidates(loads.key[among], key, ordinal, bits)
    fits: npt.NDArray[np.bool_] = (tried >= 0) & (loads.value[among][tried] == value)
    return fits


def _candidates(load: Ints, store: Ints, ordinal: Ints, bits: int) -> Ints:
    """Return, by rule and store, a load of the same thread before it (an index into `load`), or -1.

    The rules: the last load, the load with the same ordinal, the last but one, the last but two, ...
    """
    after = np.searchsorted(load, store)
    first = np.searchsorted(load, store >> bits << bits)
    tried = np.stack([after - 1, first + ordinal, *(after - 1 - lag for lag in range(1, _LAGS))])
    return np.where((tried >= first) & (tried < after), tried, -1)


def feeding(recording: Recording, found: Staged) -> dict[int, list[int]]:
    """Return, for A and B, the shared arrays that ever hold their values.

    In parts: other threads need not wait until all writes of a large recording are looked at.
    """
    arrays, of = recording.arrays, recording.accesses.array
    counts = np.zeros(len(arrays) ** 2, np.int64)
    for begin in range(0, len(found.read), ROWS_AT_ONCE):
        read, row = (rows[begin : begin + ROWS_AT_ONCE] for rows in (found.read, found.row))
        linked = np.flatnonzero(read >= 0)
        pairs = of[read[linked]].astype(np.int64) * len(arrays) + of[row[linked]]
        counts += np.bincount(pairs, minlength=len(counts))
    held: dict[int, list[int]] = {array: [] for array in (A, B)}
    for pair in np.flatnonzero(counts).tolist():
        source, target = divmod(pair, len(arrays))
        if source in held and arrays[target].space == "shared":
            held[source].append(target)
    return held
