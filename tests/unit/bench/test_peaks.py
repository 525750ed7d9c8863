"""The modelled peaks agree with the makers' figures."""

import pytest

from gemmviz.bench.model.devices import clock_ghz, find, limits, memory_gbs, published
from gemmviz.bench.model.peaks import peak_gflops

H200 = {"name": "NVIDIA H200", "cc": "9.0", "sms": 132, "clock_mhz": 1980.0}
DEVICES = {p.name: p.facts() for p in published()}


@pytest.mark.parametrize(
    ("name", "tflops"),
    [
        ("GTX 1080 Ti", 11.3),
        ("V100 SXM2", 15.7),
        ("T4", 8.1),
        ("RTX 2080", 10.1),
        ("RTX 3060", 12.7),
        ("RTX 3080", 29.8),
        ("A100 SXM 80 GB", 19.5),
        ("RTX 4090", 82.6),
        ("L4", 30.3),
        ("L40S", 91.6),
        ("H200 SXM", 67.0),
        ("RTX 5090", 104.8),
    ],
)
def test_the_derived_fp32_peak_is_the_one_the_maker_publishes(name, tflops):
    gflops, kind = peak_gflops(DEVICES[name], "float32", "float32")
    assert gflops / 1e3 == pytest.approx(tflops, rel=0.01)
    assert kind == "FP32 without tensor cores"


def test_half_precision_has_the_peak_of_the_tensor_cores():
    gflops, kind = peak_gflops(H200, "float16", "float32")
    assert gflops == 989_400
    assert "tensor cores" in kind
    assert peak_gflops(DEVICES["GTX 1080 Ti"], "float16", "float32") is None
    assert (
        peak_gflops(DEVICES["RTX 3080"], "float16", "float32")[0]
        < peak_gflops(DEVICES["RTX 3080"], "float16", "float16")[0]
    )


def test_bfloat16_has_the_peak_of_half_precision_where_the_tensor_cores_know_it():
    gflops, kind = peak_gflops(H200, "bfloat16", "float32")
    assert (gflops, kind) == (989_400, "BF16 on tensor cores, sums in FP32")
    assert peak_gflops(H200, "bfloat16", "bfloat16") is None
    assert peak_gflops(DEVICES["T4"], "bfloat16", "float32") is None
    assert peak_gflops(DEVICES["T4"], "float16", "float32") is not None


def test_part_of_a_known_device_has_its_part_of_the_tensor_peak():
    assert peak_gflops(H200 | {"sms": 66}, "float16", "float32")[0] == pytest.approx(989_400 / 2)


def test_the_driver_goes_before_the_table():
    slow = H200 | {"clock_mhz": 1000.0, "threads_per_sm": 1024}
    assert peak_gflops(slow, "float32", "float32")[0] == pytest.approx(132 * 128 * 2)
    assert limits(slow).threads_per_sm == 1024
    assert limits(slow).blocks_per_sm == 32


@pytest.mark.parametrize(
    ("device", "dtype"),
    [(None, "float32"), ({"name": "?", "cc": "99.0", "sms": 1, "clock_mhz": 1.0}, "float32"), ({}, "float16")],
)
def test_unknown_facts_are_not_invented(device, dtype):
    assert peak_gflops(device, dtype, "float32") is None
    assert limits(device) is None
    assert find(device) is None


def test_a_result_file_without_clocks_uses_the_published_ones():
    old = {"name": "NVIDIA H200", "cc": "9.0", "sms": 132}
    assert clock_ghz(old) == pytest.approx(1.98)
    assert memory_gbs(old) == 4800


def test_an_unlisted_device_gets_its_bandwidth_from_its_bus():
    # GeForce RTX 3090 Ti: 10501 MHz x 2 x 384 bits, published as 1008 GB/s.
    assert memory_gbs({"name": "some card", "memory_clock_mhz": 10501.0, "bus_bits": 384}) == pytest.approx(
        1008, rel=0.01
    )


def test_every_listed_device_has_limits_and_peaks():
    for device in DEVICES.values():
        assert limits(device).shared_per_block <= limits(device).shared_per_sm
        assert peak_gflops(device, "float32", "float32")
        assert memory_gbs(device)
