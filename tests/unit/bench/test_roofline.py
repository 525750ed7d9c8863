"""The roofline: roofs from published figures, points from recordings of the real kernels and from measured rows."""

import pytest

from gemmviz.bench.model.devices import published
from gemmviz.bench.model.roofline import (
    Point,
    attainable_gflops,
    cached_share,
    compulsory_intensity,
    moved_bytes,
    point,
    roofs,
    survey_size,
    tile_intensity,
)
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.trace.cost.traffic import measure
from gemmviz.trace.recording.record import record

DEVICES = {p.name: p.facts() for p in published()}
H200 = DEVICES["H200 SXM"]


def moved_by(name, params, size, to):
    kernel = find(name, ladder())
    recording = record(launch(kernel, size, params))
    return moved_bytes(measure(recording).arrays, size, to)


def test_a_device_has_its_roofs_with_the_published_figures():
    found = {roof.name: roof for roof in roofs(H200)}
    assert found["memory"].value == 4800
    assert found["shared"].value == pytest.approx(132 * 128 * 1.98)
    assert found["FP32"].gflops(1000) == pytest.approx(66_908, rel=1e-3)
    assert found["memory"].gflops(2) == 9600
    assert "L2" in {roof.name for roof in roofs(DEVICES["A100 SXM 80 GB"])}
    assert roofs(None) == []


def test_attainable_speed_is_bound_by_memory_and_then_by_the_peak():
    assert attainable_gflops(H200, 1, "float32", "float32") == 4800
    assert attainable_gflops(H200, 1000, "float32", "float32") == pytest.approx(66_908, rel=1e-3)
    assert attainable_gflops(H200, 1000, "float16", "float32") == 989_400


def test_intensity_of_a_problem_and_of_a_tile():
    assert compulsory_intensity(Problem.cube(4096), "float32", "float32") == pytest.approx(4096 / 6)
    assert tile_intensity(64, 64, 4) == 16
    assert tile_intensity(1, 1, 4) == 0.25


def test_a_tiled_kernel_asks_for_as_much_as_its_tile_says_at_any_size():
    at = Problem.cube(4096)
    traffic = moved_by("gputiled", {"TS": 16}, survey_size(find("gputiled", ladder()), {"TS": 16}), at)
    row = {"M": 4096, "N": 4096, "K": 4096, "dtype_in": "float32", "dtype_acc": "float32", "gflops": 5000.0}
    place = point(row, traffic)
    assert place.from_global == pytest.approx(tile_intensity(16, 16, 4), rel=0.01)
    assert place.from_shared < place.from_global < place.compulsory


@pytest.mark.parametrize(("name", "params"), [("gputiled", {"TS": 8}), ("gpumult0", {}), ("gpumult1", {})])
def test_a_scaled_recording_equals_one_of_the_larger_size(name, params):
    scaled = moved_by(name, params, Problem.cube(32), Problem(64, 32, 96))
    recorded = moved_by(name, params, Problem(64, 32, 96), Problem(64, 32, 96))
    assert scaled.global_bytes == pytest.approx(recorded.global_bytes, rel=0.02)
    assert scaled.shared_bytes == pytest.approx(recorded.shared_bytes)


def test_a_size_to_record_is_one_that_the_tiles_divide():
    rungs = ladder()
    assert survey_size(find("gputiled", rungs), {"TS": 32}).m == 32
    assert survey_size(find("matmul_kernel_2d_thread_tiling", rungs), {}).m == 64


def test_speed_beyond_the_memory_s_shows_the_share_of_caches():
    # 8 FLOP/byte x 4800 GB/s = 38400 GFLOPS from memory alone.
    assert cached_share(Point(76_800.0, 600.0, 8.0), H200) == pytest.approx(0.5)
    assert cached_share(Point(5_000.0, 600.0, 8.0), H200) == 0
    assert cached_share(Point(None, 600.0, 8.0), H200) is None
