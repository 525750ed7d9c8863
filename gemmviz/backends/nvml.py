"""The GPU's sensors, read through NVML while kernels run. Without NVML, or its Python package, there are none."""

import importlib
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from typing import Any

from gemmviz.backends.watch import Observed

# Often enough for several readings, and rarely enough not to disturb: a reading takes well below a millisecond.
_PERIOD_S = 0.07
# The counter is updated about ten times a second.
_SHORTEST_ENERGY_S = 1.0
# nvml.h, "Clocks event reasons". Idle is normal while the host prepares the next launch.
_REASONS = {
    0x2: "applications_clocks",
    0x4: "sw_power_cap",
    0x8: "hw_slowdown",
    0x10: "sync_boost",
    0x20: "sw_thermal_slowdown",
    0x40: "hw_thermal_slowdown",
    0x80: "hw_power_brake_slowdown",
    0x100: "display_clocks",
    0x200: "board_limit",
    0x400: "reliability",
}
CHOSEN = frozenset({"applications_clocks", "display_clocks"})
"""Limits that a user set on purpose; every other reason means that the GPU was throttled."""


class Sensors:
    """One GPU's sensors; a missing sensor gives None.

    Parameters
    ----------
    nvml
        The module ``pynvml``, initialised.
    handle
        NVML's handle of the device.
    """

    def __init__(self, nvml: Any, handle: Any) -> None:
        self._nvml = nvml
        self._handle = handle

    def sm_mhz(self) -> float | None:
        """Return the clock of the SMs in MHz."""
        return self._ask(lambda n, h: float(n.nvmlDeviceGetClockInfo(h, n.NVML_CLOCK_SM)))

    def highest_sm_mhz(self) -> float | None:
        """Return the highest clock that the SMs may take, in MHz."""
        return self._ask(lambda n, h: float(n.nvmlDeviceGetMaxClockInfo(h, n.NVML_CLOCK_SM)))

    def power_w(self) -> float | None:
        """Return the power in W: the current value if the GPU reports it, else its average over about a second."""
        return self._ask(self._instant_power_w) or self._ask(lambda n, h: n.nvmlDeviceGetPowerUsage(h) / 1e3)

    def temp_c(self) -> float | None:
        """Return the temperature in degrees Celsius."""
        return self._ask(lambda n, h: float(n.nvmlDeviceGetTemperature(h, n.NVML_TEMPERATURE_GPU)))

    def energy_j(self) -> float | None:
        """Return the energy taken since the driver was loaded, in J."""
        return self._ask(lambda n, h: n.nvmlDeviceGetTotalEnergyConsumption(h) / 1e3)

    def throttle(self) -> set[str]:
        """Return the current reasons for a reduced clock."""
        bits = self._ask(lambda n, h: float(n.nvmlDeviceGetCurrentClocksEventReasons(h)))
        if bits is None:  # the name before CUDA 12.2
            bits = self._ask(lambda n, h: float(n.nvmlDeviceGetCurrentClocksThrottleReasons(h)))
        return {name for bit, name in _REASONS.items() if int(bits or 0) & bit}

    def processes(self) -> int:
        """Return the number of processes with a CUDA context on the GPU; 0 if it is unknown."""
        return int(self._ask(lambda n, h: float(len(n.nvmlDeviceGetComputeRunningProcesses(h)))) or 0)

    def _ask(self, question: Callable[[Any, Any], float]) -> float | None:
        try:
            return question(self._nvml, self._handle)
        except (self._nvml.NVMLError, AttributeError):  # an old driver, an old package, a device without the sensor
            return None

    @staticmethod
    def _instant_power_w(nvml: Any, handle: Any) -> float:
        value = nvml.nvmlDeviceGetFieldValues(handle, [nvml.NVML_FI_DEV_POWER_INSTANT])[0]
        return float(value.value.uiVal) / 1e3 if value.nvmlReturn == nvml.NVML_SUCCESS else 0.0


@cache
def sensors(uuid: str) -> Sensors | None:
    """Return the sensors of the GPU with that UUID, or None if NVML, its package or the device is missing."""
    try:
        nvml = importlib.import_module("pynvml")
    except ImportError:
        return None
    try:
        nvml.nvmlInit()
    except nvml.NVMLError:
        return None
    for prefix in ("GPU-", "MIG-"):
        with suppress(nvml.NVMLError):
            return Sensors(nvml, nvml.nvmlDeviceGetHandleByUUID(prefix + uuid.removeprefix("GPU-")))
    return None


@contextmanager
def watch_gpu(found: Sensors | None) -> Iterator[Observed]:
    """Read the sensors in a thread until the context ends; without sensors, observe nothing."""
    observed = Observed(telemetry=found is not None)
    if found is None:
        yield observed
        return
    # One of the processes is this one. Inside a container NVML's process numbers cannot be compared.
    observed.contended = found.processes() > 1
    over = threading.Event()
    reader = threading.Thread(target=_read, args=(found, observed, over), name="sensors", daemon=True)
    energy, started = found.energy_j(), time.perf_counter()
    reader.start()
    try:
        yield observed
    finally:
        over.set()
        reader.join()
        after = found.energy_j()
        if time.perf_counter() - started >= _SHORTEST_ENERGY_S and energy is not None and after is not None:
            observed.energy_j = after - energy


def _read(found: Sensors, observed: Observed, over: threading.Event) -> None:
    reasons: set[str] = set()
    highest = found.highest_sm_mhz() or float("inf")
    sources = (
        (observed.sm_mhz, found.sm_mhz),
        (observed.power_w, found.power_w),
        (observed.temp_c, found.temp_c),
    )
    # The first reading is delayed: at the very start the clock may still be that of an idle GPU.
    while not over.wait(_PERIOD_S):
        for values, source in sources:
            value = source()
            if value is not None:
                values.append(round(value, 1))
        # A reason stays for a moment after its cause: at full clock, an earlier reason does not count.
        if not observed.sm_mhz or observed.sm_mhz[-1] < highest:
            reasons |= found.throttle()
        observed.throttle = sorted(reasons)
