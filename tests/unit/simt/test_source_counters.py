"""A rung that bears a document's name does what the document's kernel does: the same accesses, as counted in both."""

import json
import math
from collections import Counter
from typing import Any

import pytest

from gemmviz import data
from gemmviz.catalogue.documents import documents
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.trace.cost.traffic import SiteTraffic, measure
from gemmviz.trace.recording.record import record
from gemmviz.trace.recording.recording import Recording

COUNTED = json.loads((data.root("resources") / "source_counters.json").read_text(encoding="utf-8"))
LADDER = ladder()
TILES = ("tile A", "tile B")


def label(counted: dict[str, Any]) -> str:
    params = ",".join(f"{name}={value}" for name, value in counted["params"].items())
    return f"{counted['kernel']}-{'x'.join(map(str, counted['size']))}-{params}"


def recorded(counted: dict[str, Any]) -> Recording:
    entry = COUNTED["rungs"][counted["kernel"]]
    params = {name: counted["params"].get(value, value) for name, value in entry["params"].items()}
    return record(launch(find(entry["rung"], LADDER), Problem(*counted["size"]), params))


def named(sites: tuple[SiteTraffic, ...], together: bool) -> list[tuple[str, SiteTraffic]]:
    """Name the array of each site as the counters do: A's tile is declared, written and read before B's."""
    shared = list(dict.fromkeys(site.array for site in sites if site.space == "shared"))
    in_one = Counter[bool]()  # sites of an array that holds both tiles, by direction
    found = []
    for site in sites:
        name = site.array
        if site.space == "shared":
            number = shared.index(name) if len(shared) == 2 else in_one[site.write]
            in_one[site.write] += 1
            name = "shared" if together else TILES[number]
        found.append((name, site))
    return found


def counters(recording: Recording, together: bool) -> dict[str, dict[str, Any]]:
    """Return loads and stores of each array, and on a GPU its [load, store] requests and sectors or wavefronts."""
    found: dict[str, dict[str, Any]] = {}
    for name, site in named(measure(recording).sites, together):
        units = "wavefronts" if site.space == "shared" else "sectors"
        entry = found.setdefault(name, {"loads": 0, "stores": 0, "requests": [0, 0], units: [0, 0]})
        entry["stores" if site.write else "loads"] += site.accesses
        entry["requests"][site.write] += site.requests
        entry[units][site.write] += site.units
    return found


# A kernel of each document and kind: loops, a thread per element, tiles, several elements per thread, tensor cores.
OF_EACH_KIND = (
    *("s0_hostmult1", "s0_gpumult1", "s0_gputiled", "s1_mm_zeroed", "s1_mm_optimizado_repaired_store_after"),
    *("s2_matrixMulTiled", "s3_k1_block_tiling", "s3_k3_2d_thread_tiling", "s3_k5_tc_warp"),
    *("s4_RR", "s4_CC_FINAL", "s4_cpu"),
)


def smallest() -> list[dict[str, Any]]:
    """Return their smallest launches: the same accesses in the same order, only fewer of them."""
    found: dict[str, dict[str, Any]] = {}
    for counted in (one for one in COUNTED["launches"] if one["kernel"] in OF_EACH_KIND):
        best = found.setdefault(counted["kernel"], counted)
        if math.prod(counted["size"]) < math.prod(best["size"]):
            found[counted["kernel"]] = counted
    return list(found.values())


SMALLEST = smallest()


@pytest.mark.parametrize(
    "counted",
    [
        pytest.param(c, id=label(c), marks=[] if any(c is one for one in SMALLEST) else pytest.mark.thorough)
        for c in COUNTED["launches"]
    ],
)
def test_a_rung_makes_the_accesses_of_its_document(counted: dict[str, Any]) -> None:
    recording = recorded(counted)
    found = counters(recording, "shared" in counted["arrays"])
    on_gpu = counted["barriers"] is not None
    for name, entry in counted["arrays"].items():
        assert {key: found[name][key] for key in entry} == entry, name
    assert found.keys() <= counted["arrays"].keys()
    if recording.notes:  # it reads outside an array: what is there differs from run to run
        assert recording.wrong > 0 and counted["wrong"] > 0
    else:
        assert recording.wrong == counted["wrong"]
    if on_gpu:
        assert list(recording.block) == counted["block"]
        assert list(recording.grid) == counted["grid"]
        assert int(recording.accesses.phase.max()) == counted["barriers"]


def test_every_kernel_counted_is_a_rung_and_every_rung_of_a_document_is_counted() -> None:
    assert {counted["kernel"] for counted in COUNTED["launches"]} == COUNTED["rungs"].keys()
    counted = {entry["rung"].partition("~")[0] for entry in COUNTED["rungs"].values()}
    shown = {name.kernel for document in documents() for name in document.names}
    assert shown - counted == COUNTED["not_counted"].keys()
