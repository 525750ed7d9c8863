"""Which read of global memory brought the value that a thread writes to shared memory.

An asynchronous copy says so itself. Of a copy through registers the recording shows both ends only, and the link is
*attributed*: in a kernel's text, each store to a tile takes its value from one certain load (of a vector: from one
certain part of it). So every load is tried for every store: as the latest before it, as one a few times earlier (a
vector's worth of loads, then the stores; double buffering), or as the load of the same ordinal (a loop that loads, then
a loop that stores). The one whose values fit best is taken, and a single store keeps it only where its own value fits.
Zeros have no source: the matrices of a recording hold none, it is the kernel that fills the edges of tiles with them.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gemmviz.trace.recording import Recording
from gemmviz.trace.requests import Ints, earlier

_LAGS = 8  # loads by which a load may lie back
_SAMPLE = 2048  # stores of an instruction that decide which load feeds it
_PARTS = 16  # elements that one access covers at most


@dataclass(frozen=True)
class Staged:
    """Every element that is written to memory, in the order of the rows, with where its value was read.

    Attributes
    ----------
    row, element
        int64, the writing access and the element that it writes.
    read, read_element
        int64, the access that read the value from global memory, and the element that it read; -1 where there is none
        (results, zeros, values that were computed).
    """

    row: Ints
    element: Ints
    read: Ints
    read_element: Ints


@dataclass(frozen=True)
class _Items:
    """Elements accessed, thread by thread and in the order of its accesses.

    ``key`` holds the thread, and in its low bits the row; ``place`` is where an item stood before they were sorted. A
    channel is one part of one instruction.
    """

    key: Ints
    place: Ints
    row: Ints
    element: Ints
    value: npt.NDArray[np.float32]
    channel: Ints


def staged(recording: Recording) -> Staged:
    """Find where the values that a recording writes to shared memory came from."""
    log = recording.accesses
    shared = np.array([a.space == "shared" for a in recording.arrays])
    writes = np.flatnonzero(log.write)
    position, element, value = recording.covered(writes)
    row = writes[position]
    read, read_element = np.full((2, len(row)), -1, np.int64)
    at = np.flatnonzero(shared[log.array[row]] & (value != 0))
    if len(at):
        loads = np.flatnonzero(~log.write & ~shared[log.array])
        position, load_element, load_value = recording.covered(loads)
        source = _items(recording, loads[position], load_element, load_value)
        target = _items(recording, row[at], element[at], value[at])
        found = _link(recording, target, source)
        linked = np.flatnonzero(found >= 0)
        place = at[target.place[linked]]
        read[place], read_element[place] = source.row[found[linked]], source.element[found[linked]]
    for write, origin, _ in log.copies:
        first, last = np.searchsorted(row, (write, write + 1))
        read[first:last] = origin
        read_element[first:last] = log.element[origin] + np.arange(last - first) if origin >= 0 else -1
    return Staged(row, element, read, read_element)


def _items(recording: Recording, row: Ints, element: Ints, value: npt.NDArray[np.float32]) -> _Items:
    log = recording.accesses
    bits = max(len(log) - 1, 1).bit_length()
    thread = log.block[row].astype(np.int64) * recording.threads + log.thread[row]
    part = element - log.element[row]
    key = thread << bits | row
    order = np.argsort(key, kind="stable")
    channel = log.site[row].astype(np.int64) * _PARTS + part
    return _Items(key[order], order, row[order], element[order], value[order], channel[order])


def _link(recording: Recording, stores: _Items, loads: _Items) -> Ints:
    """Return, per store, the load that fed it, or -1."""
    found = np.full(len(stores.row), -1, np.int64)
    lines = np.array([s.line for s in recording.sites], np.int64)
    bits = max(len(recording.accesses) - 1, 1).bit_length()
    of_channel = {int(c): np.flatnonzero(loads.channel == c) for c in np.unique(loads.channel)}
    for channel in np.unique(stores.channel):
        mine = np.flatnonzero(stores.channel == channel)
        ordinal = earlier(stores.key[mine] >> bits, np.zeros(len(mine), np.int64))
        sample = np.unique(np.linspace(0, len(mine) - 1, _SAMPLE).astype(np.int64))
        best, chosen = 0, None
        # Of loads that fit equally well, the one in the same line: `tile[i] = A[j];`.
        line = lines[channel // _PARTS]
        for load in sorted(of_channel, key=lambda c: (lines[c // _PARTS] != line, c)):
            among = of_channel[load]
            tried = _candidates(loads.key[among], stores.key[mine[sample]], ordinal[sample], bits)
            fits = (tried >= 0) & (loads.value[among][tried] == stores.value[mine[sample]])
            score = fits.sum(axis=1)
            if score.max() > best:
                best, chosen = int(score.max()), (among, int(score.argmax()))
        if chosen is not None:
            among, rule = chosen
            taken = _candidates(loads.key[among], stores.key[mine], ordinal, bits)[rule]
            taken[(taken >= 0) & (loads.value[among][taken] != stores.value[mine])] = -1
            found[mine] = np.where(taken >= 0, among[taken], -1)
    return found


def _candidates(load: Ints, store: Ints, ordinal: Ints, bits: int) -> Ints:
    """Return, by rule and store, a load of the same thread before it (an index into `load`), or -1.

    The rules: the latest one, the one of the same ordinal, the latest but one, but two, ...
    """
    after = np.searchsorted(load, store)
    first = np.searchsorted(load, store >> bits << bits)
    tried = np.stack([after - 1, first + ordinal, *(after - 1 - lag for lag in range(1, _LAGS))])
    return np.where((tried >= first) & (tried < after), tried, -1)
