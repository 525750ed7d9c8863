"""The kept traffic of shipped kernels: that of their recordings, for every launch that the roofline shows at first."""

import importlib
import sys
from pathlib import Path

import pytest

from gemmviz.bench.model.counted_bytes import kept, key
from gemmviz.bench.model.roofline import survey_size
from gemmviz.catalogue.errors import BuildError
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.trace.cost.traffic import measure
from gemmviz.trace.recording.record import record

ROOT = Path(__file__).parents[3]
SCALABLE = {
    kernel.name: size
    for kernel in ladder()
    if kernel.backend == "cuda" and (size := survey_size(kernel, kernel.defaults))
}


@pytest.mark.sweep("gpumult1", "gputiled", "CC")
@pytest.mark.parametrize("name", SCALABLE)
def test_the_kept_traffic_is_that_of_a_recording(name):
    kernel = find(name, ladder())
    try:
        made = measure(record(launch(kernel, SCALABLE[name], kernel.defaults))).arrays
    except BuildError:  # a printed text's own fault
        assert kernel.exhibit
        return
    problem, arrays = kept()[key(kernel.sha256, kernel.defaults)]
    assert (problem, arrays) == (SCALABLE[name], made), "python docs/counted_bytes.py writes the file again"


def test_every_launch_that_can_be_scaled_is_kept():
    without = [
        name for name in SCALABLE if key(find(name, ladder()).sha256, find(name, ladder()).defaults) not in kept()
    ]
    assert all(find(name, ladder()).exhibit for name in without), "python docs/counted_bytes.py writes the file again"


def test_another_source_or_other_parameters_are_not_found():
    kernel = find("gputiled", ladder())
    assert key(kernel.sha256, {"TS": 16}) in kept()
    assert key(kernel.sha256, {"TS": 3}) not in kept()
    assert key("0" * 64, {"TS": 16}) not in kept()


@pytest.mark.skipif(not (ROOT / "docs").is_dir(), reason="the documents are not beside these tests")
def test_the_script_makes_the_entries_of_the_file(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    script = importlib.import_module("counted_bytes")
    sys.modules.pop("counted_bytes")
    launches = [(kernel, params) for kernel, params in script.launches() if kernel.name in ("gpumult1", "stream_k")]
    assert len(launches) == 2
    first, second = (script.counted(kernel, params) for kernel, params in launches)
    assert second is None, "its number of blocks is fixed"
    problem, arrays = kept()[key(first["source_sha256"], first["params"])]
    assert problem == Problem.cube(first["size"])
    assert [tuple(one) for one in first["arrays"]] == [tuple(vars(array).values()) for array in arrays]
