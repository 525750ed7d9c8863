"""Figures of two recordings: accesses, requests, sectors, wavefronts, barriers, FLOP per byte."""

from collections.abc import Iterator

from gemmviz.language import mark, tr
from gemmviz.trace.cost.memory_levels import levels
from gemmviz.trace.cost.traffic import ArrayTraffic, Traffic
from gemmviz.versions.figure import Figure, Group
from gemmviz.versions.version import Version, Work

_LEVELS = {
    "compulsory": mark("FLOP per byte that must move"),
    "global, moved": mark("FLOP per byte moved, global"),
    "shared, moved": mark("FLOP per byte moved, shared"),
    "memory, asked": mark("FLOP per byte asked for"),
}
_IN_MEMORY = {"global": mark("{array}, global memory"), "shared": mark("{array}, shared memory")}
_Totals = dict[str, float]


def work_groups(before: Version, after: Version) -> list[Group]:
    """Return the recorded figures: of the whole launch, then of each array.

    Parameters
    ----------
    before, after
        The versions.
    """
    works = before.work, after.work
    known = [work for work in works if work is not None]
    notes = [f"{of.name}: {of.no_work}" for of in (before, after) if of.no_work]
    if not known:
        return [Group("work", tr("Work"), "", (), "; ".join(notes))]
    origin = tr("recorded {view}", view=tr(known[0].recording.view))
    one, other = (_totals(work) if work is not None else {} for work in works)
    names = _names()
    shown = [id for id in names if one.get(id) is not None or other.get(id) is not None]
    whole = [Figure(id, names[id], one.get(id), other.get(id)) for id in shown]
    found = [Group("work", tr("Work"), origin, whole, "; ".join(notes))]
    arrays = [{(a.name, a.space): a for a in work.traffic.arrays} if work is not None else {} for work in works]
    for key in dict.fromkeys((*arrays[0], *arrays[1])):
        pair = arrays[0].get(key), arrays[1].get(key)
        on_gpu = any(work.recording.backend == "cuda" for work in known)
        figures = list(_of_array(*pair, works, shared=key[1] == "shared"))
        if figures:
            title = tr(_IN_MEMORY[key[1]], array=key[0]) if on_gpu else key[0]
            found.append(Group(f"array.{key[0]}", title, origin, figures))
    return found


def _names() -> dict[str, str]:
    return {
        "wrong": tr("wrong elements of C"),
        "blocks": tr("blocks"),
        "threads": tr("threads per block"),
        "accesses": tr("accesses"),
        "load_sectors": tr("global load sectors"),
        "store_sectors": tr("global store sectors"),
        "load_sectors_per_request": tr("sectors per global load request"),
        "store_sectors_per_request": tr("sectors per global store request"),
        "wavefronts": tr("shared wavefronts"),
        "wavefronts_per_request": tr("wavefronts per shared request"),
        "bank_conflicts": tr("bank conflicts, in wavefronts"),
        "barriers": tr("barriers that a thread passes"),
        **{f"intensity.{level}": tr(name) for level, name in _LEVELS.items()},
    }


def _totals(work: Work) -> _Totals:
    recording, traffic = work.recording, work.traffic
    found: _Totals = {"wrong": recording.wrong, "accesses": traffic.accesses}
    if recording.backend == "cuda":
        found |= {"blocks": recording.blocks, "threads": recording.threads, "barriers": work.barriers}
        for id, write in (("load_sectors", False), ("store_sectors", True)):
            requests = traffic.requests(write)
            found[id] = traffic.sectors(write)
            if requests:
                found[f"{id}_per_request"] = traffic.sectors(write) / requests
        if degree := traffic.conflict_degree():
            found |= {"wavefronts": _wavefronts(traffic), "wavefronts_per_request": degree}
            found["bank_conflicts"] = traffic.bank_conflicts()
    for level in levels(recording, traffic).levels:
        if level.name in _LEVELS and level.intensity is not None:
            found[f"intensity.{level.name}"] = level.intensity
    return found


def _wavefronts(traffic: Traffic) -> int:
    return sum(a.read_units + a.write_units for a in traffic.arrays if a.space == "shared")


def _of_array(
    before: ArrayTraffic | None, after: ArrayTraffic | None, works: tuple[Work | None, Work | None], *, shared: bool
) -> Iterator[Figure]:
    """Yield the figures of an array that are not zero in both versions."""
    on_gpu = [work is not None and work.recording.backend == "cuda" for work in works]
    units = tr("wavefronts") if shared else tr("sectors")
    for write in (False, True):
        side = "write" if write else "read"
        counted = tr("writes") if write else tr("reads")
        for id, name, gpu_only in (
            (f"{side}s", counted, False),
            (f"{side}_requests", tr("{kind}: warp requests", kind=counted), True),
            (f"{side}_units", tr("{kind}: {units}", kind=counted, units=units), True),
        ):
            pair = [
                None if array is None or (gpu_only and not gpu) else float(getattr(array, id))
                for array, gpu in zip((before, after), on_gpu, strict=True)
            ]
            if any(pair):
                yield Figure(id, name, pair[0], pair[1])
