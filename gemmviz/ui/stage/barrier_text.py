"""Texts about mbarriers: their names, and the warps that wait for each."""

import numpy as np
import numpy.typing as npt

from gemmviz.language import tr, trn
from gemmviz.trace.distinct import distinct
from gemmviz.trace.hopper.mbarrier_state import BarrierState
from gemmviz.trace.playable import Playable
from gemmviz.trace.recording.recording import WARP, WARPGROUP

Family = tuple[str, list[int]]


def families(playable: Playable) -> list[Family]:
    """Return the arrays of mbarriers that the kernel initialises, with the numbers of their barriers by index."""
    names = playable.recording.barriers
    found: dict[str, list[int]] = {}
    for barrier in playable.mbarrier_states.order:
        found.setdefault(_family(names[barrier][0]), []).append(barrier)
    return [(name, sorted(members, key=lambda b: names[b][1])) for name, members in found.items()]


def _family(name: str) -> str:
    # Barriers that are in no array of the source are named by their place in shared memory.
    return tr("mbarrier") if name.startswith("+") else name


def barrier_name(playable: Playable, barrier: int) -> str:
    """Name an mbarrier as the source does: full[2]; one that stands alone without an index."""
    name, index = playable.recording.barriers[barrier]
    members = next((m for _, m in families(playable) if barrier in m), [barrier])
    if name.startswith("+"):
        return f"{_family(name)} {members.index(barrier)}"
    return f"{name}[{index}]" if len(members) > 1 else name


def who(playable: Playable, threads: npt.NDArray[np.int64]) -> tuple[str, int]:
    """Name threads of a block in few words, and say whether that is one or many: a thread, warps, whole warpgroups.

    A thread is the producer if its warpgroup requests boxes and owns no sum of C.
    """
    recording, known = playable.recording, playable.warpgroups
    if len(threads) == 1:
        group = int(threads[0]) // WARPGROUP
        if known.count and known.asking[group] and not known.owning[group]:
            return tr("producer"), 1
        return tr("thread {thread}", thread=int(threads[0])), 1
    groups, each = np.unique(threads // WARPGROUP, return_counts=True)
    if (each == np.minimum(recording.threads - groups * WARPGROUP, WARPGROUP)).all() and recording.threads > WARP:
        return trn("warpgroup {numbers}", "warpgroups {numbers}", len(groups), numbers=_ranges(groups)), len(groups)
    warps = distinct(threads // WARP)
    return trn("warp {numbers}", "warps {numbers}", len(warps), numbers=_ranges(warps)), len(warps)


def _ranges(numbers: npt.NDArray[np.int64]) -> str:
    """Write ascending numbers in little room: 0, 4-7."""
    runs = np.split(numbers, np.flatnonzero(np.diff(numbers) != 1) + 1)
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}–{run[-1]}" for run in runs)


def waits(playable: Playable, states: list[BarrierState]) -> list[str]:
    """Name the warps that wait for each barrier of a block; empty if none does."""
    sentences = []
    for barrier, state in enumerate(states):
        if len(state.waiting):
            names, count = who(playable, state.waiting)
            sentences.append(wait_text(names, count, barrier_name(playable, barrier)))
    return sentences


def wait_text(names: str, count: int, barrier: str) -> str:
    """Return the sentence about a wait for a barrier; `count` says whether the names are one or many."""
    return trn("{names} waits for {barrier}", "{names} wait for {barrier}", count, names=names, barrier=barrier)
