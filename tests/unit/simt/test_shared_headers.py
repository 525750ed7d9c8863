"""Headers that compiler and recorder share: their accesses stand on the kernel's line, and a change of them counts."""

import shutil
from pathlib import Path

import pytest

from gemmviz import data
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.simt import build
from gemmviz.trace.recording.record import record

SMALL = {"STAGES": 2, "BLOCKS": 2}


@pytest.mark.sweep("persistent-*-False", "cluster-*-True")
@pytest.mark.parametrize("as_written", [False, True])
@pytest.mark.parametrize(
    ("name", "params", "stored", "line"),
    [
        ("persistent", {"BN": 64}, "C", "store<BN>(C"),
        ("cluster", {"BN": 128}, "Cs", "store<BN>(C"),
        ("stream_k_tma", {"BN": 64, "CLUSTER": 1}, "Cs", "put(&box"),
    ],
)
def test_an_access_in_a_header_is_recorded_on_the_line_that_calls_it(
    name: str, params: dict[str, int], stored: str, line: str, as_written: bool
) -> None:
    recording = record(launch(find(name, ladder()), Problem(64, 128, 64), SMALL | params), as_written=as_written)
    text, log = recording.text.splitlines(), recording.accesses
    array = next(n for n, array in enumerate(recording.arrays) if array.name == stored)
    writes = set(log.site[(log.array == array) & log.write])
    assert {text[recording.sites[site].line - 1].strip()[: len(line)] for site in writes} == {line}
    products = {site.line for site in recording.sites if site.product}
    assert products and all("multiply" in text[line - 1] for line in products)
    assert all(site.line for site in recording.sites) and recording.events.line.all()


@pytest.mark.parametrize("name", ["wgmma_tile.h", "ptx/wgmma.h"])  # the second is included by ptx.h only
def test_a_recorder_is_built_anew_when_such_a_header_changes(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    headers = tmp_path / "include"
    shutil.copytree(data.root("kernels") / "include", headers)
    monkeypatch.setattr(build, "_SHARED_HEADERS", headers)
    rung = launch(find("persistent", ladder()), Problem(64, 64, 64), SMALL | {"BN": 64})
    before = build.build(rung)
    changed = headers / "gemmviz" / name
    changed.write_text(changed.read_text() + "// Changed.\n")
    assert build.build(rung) != before
