"""Products on two and on four real GPUs: right, measured, and with what crosses the link."""

import sys
from contextlib import closing
from pathlib import Path

import pytest

from gemmviz.backends import machine
from gemmviz.backends.driver import driver
from gemmviz.bench.measure import Bench, Measurement
from gemmviz.bench.protocol import Protocol
from gemmviz.bench.verification_reference import References
from gemmviz.catalogue.capability import suits
from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.problem import Problem
from gemmviz.engine.benching import Backends

pytestmark = pytest.mark.gpu
RUNGS = ("whole_a", "gather", "panels", "peer_tiles", "fused_panels")
KEYS = """// version = 7
// devices = 2
// divided = { A = "rows", B = "columns", C = "columns" }
// crossing = "meanwhile\""""
FAST = Protocol(rounds=1, warmup_launches=1, warmup_s=0, min_samples=3, min_time_s=0, target_iqr=10, timeout_s=2)


@pytest.fixture(scope="module")
def measured():
    shared = Bench(FAST, Backends().find, References(FAST.seed), machine.device())

    def measure(kernel, size, params=None):
        one = Measurement(kernel, Problem(*size), params or {}, shared)
        with closing(one.round()) as records:
            list(records)
        return one.row

    return measure


def need_gpus(count, capability=""):
    found = driver()
    if found.count < count:
        pytest.skip(f"{count} GPUs are needed, there are {found.count}")
    if not suits(capability, found.device.cc):
        pytest.skip(f"compute capability {capability} is needed, this GPU has {found.device.cc}")


@pytest.mark.parametrize("count", [2, 4])
@pytest.mark.parametrize("size", [(512, 512, 256), (384, 1024, 520), (2048, 768, 4096)])
@pytest.mark.parametrize("name", RUNGS)
def test_gpus_make_the_right_c_before_and_after_the_timing(measured, name, size, count):
    need_gpus(count, "9.0a")
    whole = 256 * count  # fused_panels takes whole tiles only
    if name == "fused_panels" and size[0] % whole:
        size = (2 * whole, *size[1:])
    row = measured(find(name, ladder()), size, {"GPUS": count})
    assert (row["status"], row["message"]) == ("ok", "")
    assert (row["verify"]["before"], row["verify"]["after"], row["devices"]) == ("ok", "ok", count)
    crossing = {"whole_a": 0, "peer_tiles": None, "fused_panels": None}
    assert row.get("link_bytes") == crossing.get(name, (count - 1) * size[0] * size[2] * 2)


def test_a_users_kernel_is_divided_by_three_keys(measured):
    need_gpus(2)
    kernel = find("gputiled", ladder())
    lines = [line for line in kernel.text.splitlines() if not line.startswith("// version")]
    row = measured(parse("\n".join(["// ---gemmviz", KEYS, *lines[1:]]), Path("mine.cu")), (256, 256, 128))
    assert (row["status"], row["message"], row["verify"]["after"]) == ("ok", "", "ok")


def test_rows_that_do_not_cross_are_noticed(measured, monkeypatch):
    need_gpus(2, "9.0a")
    part = sys.modules["gemmviz.backends.several"]._Part
    monkeypatch.setattr(part, "send", lambda self, to, place: self._sent[to.device].record(self.sends))
    assert measured(find("gather", ladder()), (512, 512, 256))["status"] == "wrong"


# The checker names these as races. Here C becomes wrong, as the rows are read before they are there.
def test_a_kernel_that_does_not_wait_for_rows_makes_a_wrong_c(measured):
    need_gpus(2, "9.0a")
    row = measured(find("fused_panels~no-wait-for-rows", ladder()), (2048, 1024, 2048))
    assert row["status"] == "wrong"


def test_too_few_gpus_are_said(measured):
    many = driver().count + 1
    kernel = find("panels", ladder())
    if not suits("9.0a", driver().device.cc):
        pytest.skip("compute capability 9.0a is needed")
    row = measured(kernel, (256 * many, 256 * many, 256), {"GPUS": many})
    assert row["status"] == "skipped" and f"needs {many} GPUs" in row["message"]
