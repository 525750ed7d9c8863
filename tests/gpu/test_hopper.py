"""Tensor maps, clusters and compute capabilities on a real GPU."""

import threading
from pathlib import Path

import pytest
from consenting import AllowsAll

from gemmviz.backends.driver import driver
from gemmviz.catalogue.capability import suits
from gemmviz.catalogue.errors import KernelFault
from gemmviz.catalogue.kernel import load, parse
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.engine.messages import BenchDone, BenchRequest
from gemmviz.engine.supervisor import Engine
from gemmviz.trace.recording.record import record

pytestmark = pytest.mark.gpu
KERNELS = Path(__file__).parents[1] / "unit/hopper"
FAST = {
    **{"rounds": 1, "warmup_launches": 1, "warmup_s": 0},
    **{"min_samples": 3, "min_time_s": 0, "target_iqr": 10, "timeout_s": 2},
}


@pytest.fixture(scope="module")
def engine():
    engine = Engine(AllowsAll())
    yield engine
    engine.close()


def bench(engine, path, text, size):
    request = BenchRequest(1, [{"path": str(path), "text": text, "params": {}}], [size], FAST | {"deadline_s": 10})
    replies = list(engine.run(request, threading.Event()))
    assert isinstance(replies[-1], BenchDone), replies[-1]
    (row,) = [row for row in replies[-1].document["results"] if row["backend"] != "transfer"]
    return row


def needs(capability):
    device = driver().device
    if device is None or not suits(capability, device.cc):
        pytest.skip(f"needs compute capability {capability}")


# The second has rows and columns that no tile divides: the copy engine fills with zeros, and writes nothing outside.
@pytest.mark.parametrize("size", [(64, 64, 64), (45, 40, 72), (1, 8, 8), (1000, 520, 776)], ids=str)
def test_the_copy_engine_loads_and_stores_swizzled_tiles(engine, size):
    needs("9.0")
    path = KERNELS / "tma_tiles.cu"
    row = bench(engine, path, load(path).text, size)
    assert (row["status"], row["verify"]["after"]) == ("ok", "ok"), row["message"]


@pytest.mark.parametrize("size", [(64, 64, 64), (13, 56, 72), (1000, 504, 776)], ids=str)
def test_the_blocks_of_a_cluster_share_their_loads(engine, size):
    needs("9.0a")
    path = KERNELS / "multicast_tiles.cu"
    row = bench(engine, path, load(path).text, size)
    assert (row["status"], row["verify"]["after"]) == ("ok", "ok"), row["message"]
    assert "--gpu-architecture=sm_90a" in row["compile_flags"]


def test_a_size_that_the_copy_engine_does_not_take_is_refused_with_one_that_works(engine):
    needs("9.0")
    path = KERNELS / "tma_tiles.cu"
    row = bench(engine, path, load(path).text, (64, 64, 61))
    assert row["status"] == "unsupported"
    assert "the nearest size that works is 64 x 64 x 64" in row["message"]


@pytest.mark.parametrize("column", ["k + 4", "k - 4", "k + 8", "k - 8"])
def test_a_box_begins_at_a_multiple_of_16_bytes_and_the_recorder_knows_it(engine, column):
    needs("9.0")
    path = KERNELS / "tma_tiles.cu"
    moved = load(path).text.replace("tma_load(a, A, k,", f"tma_load(a, A, {column},")
    row = bench(engine, path, moved, (64, 64, 64))
    assert row["status"] != "ok"
    stops = "4" in column  # of halves: 8 bytes; with 16 bytes C is only wrong
    assert ("illegal instruction" in row["message"]) == stops
    kernel = parse(moved, path)
    if stops:
        with pytest.raises(KernelFault, match="multiples of 8"):
            record(launch(kernel, Problem.cube(64)))
    else:
        assert record(launch(kernel, Problem.cube(64))).wrong > 0


@pytest.mark.parametrize("capability", ["99.0", "7.0a"])
def test_a_kernel_for_another_gpu_is_not_run_and_both_are_named(engine, capability):
    kernel = find("gputiled", ladder())
    text = kernel.text.replace("// entry", f'// capability = "{capability}"\n// entry', 1)
    row = bench(engine, kernel.path, text, (64, 64, 64))
    assert row["status"] == "unsupported"
    assert f"compute capability {capability.removesuffix('a')}" in row["message"]
    assert f"this GPU has {driver().device.cc}" in row["message"]


def test_a_parameter_that_is_no_tensor_map_is_refused(engine):
    needs("9.0")
    path = KERNELS / "tma_tiles.cu"
    text = load(path).text.replace("const __grid_constant__ tensor_map C", "float *C").replace("tma_store(C,", "//")
    row = bench(engine, path, text, (64, 64, 64))
    assert row["status"] == "compile"
    assert "parameter 3 of tma_tiles is no tensor_map" in row["message"]


@pytest.mark.parametrize("dims", ["", "__cluster_dims__(4, 1, 1)"])
def test_clusters_that_the_code_does_not_ask_for_are_refused(engine, dims):
    needs("9.0a")
    path = KERNELS / "multicast_tiles.cu"
    row = bench(engine, path, load(path).text.replace("__cluster_dims__(2, 1, 1)", dims), (64, 64, 64))
    asked = "4 x 1 x 1" if dims else "1 x 1 x 1"
    assert row["status"] == "compile"
    assert f"asks for clusters of {asked} blocks (__cluster_dims__), the front matter says 2 x 1 x 1" in row["message"]


def test_cublas_multiplies_bfloat16_and_is_verified(engine):
    needs("8.0")
    kernel = find("cublas_bf16", ladder())
    for size in ((64, 64, 64), (67, 61, 59)):
        row = bench(engine, kernel.path, kernel.text, size)
        assert (row["status"], row["verify"]["after"]) == ("ok", "ok"), row["message"]
