"""The observation of timed kernels: with sensors, without them, and on a busy machine."""

import sys
import threading
import time
from types import SimpleNamespace

import pytest

from gemmviz.backends import nvml, watch
from gemmviz.backends.nvml import Sensors, sensors, watch_gpu


class Failure(Exception):
    """What pynvml raises."""


def library(**changes):
    """A pynvml for one GPU that draws 500 W at 1980 MHz; `changes` replace some of its functions."""

    def energy(handle):
        fake.joules += 400_000
        return fake.joules

    fake = SimpleNamespace(
        NVMLError=Failure,
        NVML_SUCCESS=0,
        NVML_CLOCK_SM=1,
        NVML_TEMPERATURE_GPU=0,
        NVML_FI_DEV_POWER_INSTANT=186,
        joules=0,
        nvmlInit=lambda: None,
        nvmlDeviceGetHandleByUUID=lambda uuid: uuid,
        nvmlDeviceGetClockInfo=lambda handle, clock: 1980,
        nvmlDeviceGetMaxClockInfo=lambda handle, clock: 2100,
        nvmlDeviceGetFieldValues=lambda handle, ids: [
            SimpleNamespace(nvmlReturn=0, value=SimpleNamespace(uiVal=500_000))
        ],
        nvmlDeviceGetPowerUsage=lambda handle: 480_000,
        nvmlDeviceGetTemperature=lambda handle, sensor: 55,
        nvmlDeviceGetTotalEnergyConsumption=energy,
        nvmlDeviceGetCurrentClocksEventReasons=lambda handle: 0x1 | 0x4,
        nvmlDeviceGetComputeRunningProcesses=lambda handle: ["this one"],
    )
    fake.__dict__.update(changes)
    return fake


def refuse(*arguments):
    raise Failure("not supported")


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(nvml, "_PERIOD_S", 0.005)
    sensors.cache_clear()
    yield
    sensors.cache_clear()


def observe(fake):
    with watch_gpu(Sensors(fake, "GPU-1")) as seen:
        while len(seen.temp_c) < 3:
            time.sleep(0.005)
    return seen


def test_sensors_are_read_while_a_kernel_runs_and_not_afterwards():
    before = threading.active_count()
    seen = observe(library())
    assert threading.active_count() == before
    assert seen.telemetry and not seen.contended
    assert set(seen.sm_mhz) == {1980.0} and set(seen.power_w) == {500.0} and set(seen.temp_c) == {55.0}
    assert seen.throttle == ["sw_power_cap"]
    assert seen.energy_j is None, "its counter is too slow for a stretch this short"


def test_energy_comes_from_stretches_that_are_long_enough(monkeypatch):
    monkeypatch.setattr(nvml, "_SHORTEST_ENERGY_S", 0.0)
    assert observe(library()).energy_j == pytest.approx(400.0)


def test_a_sensor_that_the_gpu_lacks_costs_its_own_figures_only():
    seen = observe(library(nvmlDeviceGetClockInfo=refuse, nvmlDeviceGetFieldValues=refuse))
    assert seen.sm_mhz == []
    assert set(seen.power_w) == {480.0}


def test_an_old_package_without_the_new_name_of_the_reasons_works():
    fake = library(nvmlDeviceGetCurrentClocksThrottleReasons=lambda handle: 0x40)
    del fake.nvmlDeviceGetCurrentClocksEventReasons
    assert observe(fake).throttle == ["hw_thermal_slowdown"]


def test_a_reason_that_outlasts_its_cause_holds_back_nothing_at_the_full_clock():
    assert observe(library(nvmlDeviceGetMaxClockInfo=lambda handle, clock: 1980)).throttle == []


def test_another_process_on_the_gpu_is_noticed():
    assert observe(library(nvmlDeviceGetComputeRunningProcesses=lambda handle: ["this one", "another"])).contended


def test_without_nvml_or_its_package_nothing_is_observed(monkeypatch):
    monkeypatch.setitem(sys.modules, "pynvml", None)
    assert sensors("GPU-1") is None
    sensors.cache_clear()
    monkeypatch.setitem(sys.modules, "pynvml", library(nvmlInit=refuse))
    assert sensors("GPU-1") is None
    with watch_gpu(None) as seen:
        pass
    assert not seen.telemetry and not seen.contended


def test_a_part_of_a_gpu_is_found_by_its_own_kind_of_number(monkeypatch):
    def by_uuid(uuid):
        return uuid if uuid == "MIG-7" else refuse()

    fake = library(nvmlDeviceGetHandleByUUID=by_uuid, nvmlDeviceGetTemperature=lambda handle, _: len(handle))
    monkeypatch.setitem(sys.modules, "pynvml", fake)
    assert sensors("GPU-7").temp_c() == len("MIG-7")


@pytest.mark.parametrize(("waited", "stolen", "busy"), [(0.0, 0.0, False), (9.0, 0.0, True), (0.0, 9.0, True)])
def test_threads_that_wait_for_a_core_mean_a_busy_machine(monkeypatch, waited, stolen, busy):
    readings = iter([1.0, 1.0 + waited])
    monkeypatch.setattr(watch, "_waited_s", lambda: next(readings))
    stealing = iter([2.0, 2.0 + stolen])
    monkeypatch.setattr(watch, "_stolen_s", lambda: next(stealing))
    with watch.watch_cpu() as seen:
        time.sleep(0.001)
    assert seen.contended is busy


def test_a_system_that_counts_nothing_is_never_called_busy(monkeypatch, tmp_path):
    monkeypatch.setattr(watch, "_PROC", tmp_path)
    with watch.watch_cpu() as seen:
        pass
    assert not seen.contended
