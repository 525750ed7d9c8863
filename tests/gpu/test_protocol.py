"""The measuring protocol on a real GPU: cold and hot, first launch, sensors, halves, the way there and back."""

import threading
from math import prod

import pytest
from consenting import AllowsAll

from gemmviz.backends.driver import driver
from gemmviz.backends.nvml import sensors
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.engine.messages import BenchDone, BenchRequest, Progress, Result
from gemmviz.engine.supervisor import Engine

pytestmark = pytest.mark.gpu
FAST = {"warmup_launches": 3, "warmup_s": 0.02, "min_samples": 5, "min_time_s": 0.05, "target_iqr": 10, "timeout_s": 2}
CUBE = (512, 512, 512)


@pytest.fixture(scope="module")
def engine():
    engine = Engine(AllowsAll())
    yield engine
    engine.close()


def run(engine, *names, size=CUBE, cancel=None, **protocol):
    kernels = [find(name, ladder()) for name in names]
    entries = [{"path": str(k.path), "text": k.text, "params": {}} for k in kernels]
    replies = list(engine.run(BenchRequest(1, entries, [size], FAST | protocol), cancel or threading.Event()))
    assert isinstance(replies[-1], BenchDone), replies[-1]
    return replies


def rows(replies):
    return replies[-1].document["results"]


def test_a_row_has_all_that_the_protocol_promises(engine):
    row, transfer = rows(run(engine, "gputiled"))
    assert row["status"] == "ok", row["message"]
    assert [r["round"] for r in row["rounds"]] == [1, 2, 3]
    assert row["verify"]["before"] == row["verify"]["after"] == "ok"
    assert row["first_launch_s"] > 0 and row["hot"]["stats"]["median"] > 0
    assert row["hot"]["batch"] * row["hot"]["stats"]["median"] > 5e-3
    assert 0 < row["host_launch_s"] < 1e-2
    assert row["local_bytes"] is not None
    assert 0 < row["peak_fraction"] < 1
    assert transfer["backend"] == "transfer"


def test_kernels_take_turns_and_are_compiled_once(engine):
    replies = run(engine, "gpumult1", "gputiled")
    order = [r.job for r in replies if isinstance(r, Result) and r.row["backend"] == "cuda"]
    assert order == [0, 1] * 3
    compiling = [r for r in replies if isinstance(r, Progress) and "compiling" in r.text]
    assert len(compiling) == 2


@pytest.mark.parametrize("size", [(64, 64, 64), (67, 61, 59), (1, 1, 1), (1000, 777, 1023), (33, 300, 4096)], ids=str)
@pytest.mark.parametrize("name", ["cublas", "cublas_fp16"])
def test_cublas_is_right_at_every_size(engine, name, size):
    row = rows(run(engine, name, size=size, rounds=1))[0]
    assert row["status"] == "ok", row["message"]


def test_cublas_with_halves_uses_the_tensor_cores(engine):
    single, half, _ = rows(run(engine, "cublas", "cublas_fp16", size=(2048,) * 3, rounds=1))
    assert (half["dtype_in"], half["dtype_acc"]) == ("float16", "float32")
    assert "tensor" in half["peak_kind"] and "tensor" in single["peak_kind"]
    assert half["peak_kind"] != single["peak_kind"]
    assert half["verify"]["max_rel"] < half["verify"]["tolerance"]


def test_the_sensors_are_read_where_there_are_any(engine):
    row = rows(run(engine, "cublas", size=(4096,) * 3, min_time_s=0.5, rounds=1))[0]
    if sensors(driver().device.uuid) is None:
        assert row["telemetry"] is None
        pytest.skip("NVML or its package is missing: pip install nvidia-ml-py")
    assert row["telemetry"]["sm_mhz"] and min(row["telemetry"]["sm_mhz"]) > 100
    assert row["telemetry"]["power_w"] and row["telemetry"]["temp_c"]


def test_energy_is_told_for_long_stretches_only(engine):
    if sensors(driver().device.uuid) is None:
        pytest.skip("NVML or its package is missing: pip install nvidia-ml-py")
    short = rows(run(engine, "cublas", rounds=1))[0]
    long = rows(run(engine, "cublas", size=(2048,) * 3, rounds=1, min_time_s=1.2, timeout_s=10))[0]
    assert short["telemetry"]["energy_j"] is None
    assert long["telemetry"]["energy_j"] is None or long["telemetry"]["energy_j"] > 0


def test_the_way_there_and_back_is_measured_last_and_once_per_size(engine):
    replies = run(engine, "gpumult1", "cublas", size=(1024, 512, 256))
    found = [r.row for r in replies if isinstance(r, Result)]
    assert [r["backend"] for r in found].count("transfer") == 1
    transfer = found[-1]
    assert transfer == rows(replies)[-1]
    assert transfer["status"] == "ok", transfer["message"]
    moved = 4 * (prod((1024, 256)) + prod((256, 512)) + prod((1024, 512)))
    assert transfer["gbps"] == pytest.approx(moved / transfer["stats"]["median"] / 1e9)
    assert transfer["transfer"]["to_device_s"] > 0 and transfer["transfer"]["to_host_s"] > 0
