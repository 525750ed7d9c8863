"""The cost of one warp request: sectors of global memory, wavefronts of shared memory.

A global request moves each 32-byte *sector* that its lanes access once. Shared memory has 32 banks of four bytes, and
each bank delivers one word per *wavefront*: lanes that access the same word share it, different words of one bank need
several wavefronts. A request with accesses of 8 or 16 bytes is served in 2 or 4 *parts* of the warp, each with separate
wavefronts. But if neighbouring lanes of a load access the same place (every lane i the place of lane i xor 1, or every
lane the place of lane i xor 2), neighbouring parts are served together.

Source: CUDA C++ Best Practices Guide, "Coalesced Access to Global Memory", "Shared Memory and Memory Banks"; the parts,
and when they are merged, are not documented: this rule gave exactly the counters of an H200 (wavefronts of loads and
stores) for 504 regular and random requests. For an inactive neighbour the same place is assumed, not measured.
"""

import numpy as np
import numpy.typing as npt

from gemmviz.trace.distinct import distinct
from gemmviz.trace.recording.recording import WARP

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

SECTOR_BYTES = 32
BANKS = 32
BANK_BYTES = 4
# Bytes that 32 banks of 4 bytes deliver per clock (CUDA C++ Programming Guide, "Shared Memory", 5.x and later).
WAVEFRONT_BYTES = BANKS * BANK_BYTES

# The same as powers of two, as shifts are faster than divisions; and the number of bits for a lane and for a part.
_WORD_BITS, _BANK_BITS, _SECTOR_BITS, _LANE_BITS, _PART_BITS = 2, 5, 5, 5, 2

# Lanes that are served together, by the width of the access in bytes.
_LANES_SERVED = {1: 32, 2: 32, 4: 32, 8: 16, 16: 8}


def sectors(request: Ints, lane: Ints, start: Ints, width: Ints, count: int) -> tuple[Ints, Ints]:
    """Return the sectors of each request, and the smallest number of sectors for as many different bytes.

    Parameters
    ----------
    request, lane
        Per access, its request and its lane (which is not used here).
    start, width
        Per access, the offset of its first byte in the array, and the number of bytes.
    count
        Number of requests.
    """
    bits = max(_bits(int((start + width).max(initial=1))), _SECTOR_BITS)
    different = np.sort(request << bits | start)
    different = different[_new(different)]
    owner = different >> bits
    width_of = np.zeros(count, np.int64)
    width_of[request] = width
    sector, last = different >> _SECTOR_BITS, (different + width_of[owner] - 1) >> _SECTOR_BITS
    holder = owner
    if (last > sector).any():  # an unaligned access may be in two sectors
        spans = last - sector + 1
        holder = np.repeat(owner, spans)
        sector = np.repeat(sector - np.cumsum(spans) + spans, spans) + np.arange(len(holder))
    units = np.bincount(holder[_new(sector)], minlength=count)
    least = -(-np.bincount(owner, minlength=count) * width_of // SECTOR_BYTES)
    return units, least


def wavefronts(request: Ints, lane: Ints, start: Ints, width: Ints, write: Flags, count: int) -> tuple[Ints, Ints]:
    """Return the wavefronts of each request, and their number without bank conflicts: one per part.

    Parameters
    ----------
    request, lane
        Per access, its request and its lane.
    start, width, write
        Per access, the offset of its first byte in the array, the number of bytes, and whether it writes. The latter
        two are the same for all accesses of a request.
    count
        Number of requests.
    """
    part = _part(request, lane, start, width, write, count)
    word = start >> _WORD_BITS
    last = (start + width - 1) >> _WORD_BITS
    if (last > word).any():
        spans = last - word + 1
        part = np.repeat(part, spans)
        word = np.repeat(word - np.cumsum(spans) + spans, spans) + np.arange(len(part))
    # Sorted by part, bank and row of the banks, different words of one bank are neighbours.
    bits = _bits((int(word.max(initial=0)) >> _BANK_BITS) + 1)
    keys = np.sort((part << _BANK_BITS | word & (BANKS - 1)) << bits | word >> _BANK_BITS)
    keys = keys[_new(keys)]
    queues = np.flatnonzero(_new(keys >> bits))
    waiting = np.diff(queues, append=len(keys))
    part = keys[queues] >> bits + _BANK_BITS
    heads = np.flatnonzero(_new(part))
    longest = np.maximum.reduceat(waiting, heads) if len(heads) else waiting
    owner = part[heads] >> _PART_BITS
    return np.bincount(owner, longest, minlength=count).astype(np.int64), np.bincount(owner, minlength=count)


def schedule(lane: Ints, start: Ints, width: int, write: bool) -> tuple[Ints, Ints, Ints]:
    """Return the words of one shared request, and the wavefront that serves each lane.

    Of different words in one bank, that of the lowest lane is served first here. The hardware's order is not
    documented; only the number of wavefronts is known.

    Parameters
    ----------
    lane, start
        Per access, the lane, ascending, and the offset of its first byte in the array.
    width
        Bytes per lane.
    write
        Whether it stores.

    Returns
    -------
    tuple
        Per word of a lane's access: the index of its access in `lane`, the word (four bytes, from the array's
        beginning), and the wavefront, from 0.
    """
    same = np.zeros(len(lane), np.int64)
    part = _part(same, lane, start, same + width, same + write > 0, 1)
    word = start >> _WORD_BITS
    spans = (start + width - 1 >> _WORD_BITS) - word + 1
    access = np.repeat(np.arange(len(lane)), spans)
    word = np.repeat(word - np.cumsum(spans) + spans, spans) + np.arange(len(access))
    key = part[access] * (int(word.max(initial=0)) + 1) + word
    _, first, which = np.unique(key, return_index=True, return_inverse=True)
    part, bank = part[access[first]], word[first] & (BANKS - 1)
    order = np.lexsort((first, bank, part))
    queue = (part * BANKS + bank)[order]
    heads = np.flatnonzero(_new(queue))
    place = np.arange(len(order)) - np.repeat(heads, np.diff(heads, append=len(order)))
    turn = np.empty(len(order), np.int64)
    turn[order] = place
    lengths = np.zeros(int(part.max(initial=0)) + 1, np.int64)
    np.maximum.at(lengths, part, turn + 1)
    turn += (np.cumsum(lengths) - lengths)[part]
    return access, word, turn[which]


def parts(lane: Ints, start: Ints, width: int, write: bool) -> Ints:
    """Return the part of one shared request in which each access is served, from 0; parameters as in `schedule`."""
    same = np.zeros(len(lane), np.int64)
    return _part(same, lane, start, same + width, same + write > 0, 1)


def of_request(places: Ints, width: int, write: bool) -> int:
    """Return the wavefronts of one shared request.

    Parameters
    ----------
    places
        Per lane, its first byte, counted from an address at which a row of banks begins; -1: inactive.
    width
        Bytes per lane.
    write
        Whether it stores.
    """
    lane = np.flatnonzero(places >= 0)
    same = np.zeros(len(lane), np.int64)
    units, _ = wavefronts(same, lane, places[lane], same + width, same + write > 0, 1)
    return int(units[0])


def _part(request: Ints, lane: Ints, start: Ints, width: Ints, write: Flags, count: int) -> Ints:
    """Return the part in which each access is served, as a number whose upper bits are the request's number."""
    part = request << _PART_BITS
    if int(width.max(initial=0)) <= BANK_BYTES:
        return part
    lanes: Ints = np.array([_LANES_SERVED.get(w, WARP) for w in range(int(width.max()) + 1)])[width]
    loads = np.flatnonzero((width > BANK_BYTES) & ~write)
    if len(loads):
        merged = np.zeros(count, bool)
        for neighbour in (1, 2):
            merged |= _agree(request[loads], lane[loads], start[loads], neighbour, count)
        lanes = np.where(merged[request] & ~write & (width > BANK_BYTES), 2 * lanes, lanes)
    part |= lane // lanes
    return part


def _agree(request: Ints, lane: Ints, start: Ints, neighbour: int, count: int) -> Flags:
    """Return the requests in which each lane has the same place as the lane whose number differs in one bit.

    For a lane with an inactive neighbour this is assumed.
    """
    bits = _bits(int(start.max()) + 1)
    pair = request << _LANE_BITS | lane & ~neighbour
    keys = distinct(pair << bits | start)
    pair = keys >> bits
    agree: Flags = np.ones(count, bool)
    agree[pair[1:][pair[1:] == pair[:-1]] >> _LANE_BITS] = False
    return agree


def _new(values: Ints) -> Flags:
    """Return where a value of a sorted array occurs for the first time."""
    new = np.ones(len(values), bool)
    new[1:] = values[1:] != values[:-1]
    return new


def _bits(values: int) -> int:
    """Return the number of bits for the numbers below `values`."""
    return max(values - 1, 1).bit_length()
