"""The CUDA driver's facts about this machine, read through ctypes: no CuPy and no CUDA context are needed."""

import ctypes
import re
import uuid
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Required, TypedDict

import msgspec

from gemmviz.catalogue.typed_reading import FromOne

# CUdevice_attribute, CUDA Driver API, "Data types used by CUDA driver".
_SM_COUNT, _ECC, _L2_BYTES, _CC_MAJOR, _CC_MINOR = 16, 32, 38, 75, 76
_CLOCK_KHZ, _MEMORY_CLOCK_KHZ, _BUS_BITS = 13, 36, 37
_THREADS_PER_BLOCK, _THREADS_PER_SM, _BLOCKS_PER_SM = 1, 39, 106
_REGISTERS_PER_BLOCK, _REGISTERS_PER_SM = 12, 82
_SHARED_PER_SM, _SHARED_PER_BLOCK_OPTIN, _SHARED_RESERVED = 81, 97, 111
_NO_DEVICE = 100


class DeviceFacts(TypedDict, total=False):
    """A GPU in a result file: for a published GPU only the first fields exist, and an old file may have fewer."""

    name: Required[str]
    cc: Required[str]
    sms: Required[FromOne]
    clock_mhz: float
    l2_bytes: int
    uuid: str
    mem_bytes: int
    ecc: bool
    memory_clock_mhz: float
    bus_bits: int
    threads_per_block: int
    threads_per_sm: int
    blocks_per_sm: int
    registers_per_block: int
    registers_per_sm: int
    shared_per_sm_bytes: int
    shared_per_block_bytes: int
    shared_reserved_bytes: int


@dataclass(frozen=True)
class Device:
    """One GPU: compute capability, multiprocessors, bytes of L2 and of memory, clocks, and the capacity of one SM.

    The clocks are the highest ones of the device. A limit that an old driver does not know is 0.
    """

    name: str
    uuid: str
    cc: str
    sms: int
    l2_bytes: int
    mem_bytes: int
    ecc: bool
    clock_mhz: float = 0.0
    memory_clock_mhz: float = 0.0
    bus_bits: int = 0
    threads_per_block: int = 0
    threads_per_sm: int = 0
    blocks_per_sm: int = 0
    registers_per_block: int = 0
    registers_per_sm: int = 0
    shared_per_sm_bytes: int = 0
    shared_per_block_bytes: int = 0
    shared_reserved_bytes: int = 0

    def to_plain(self) -> DeviceFacts:
        """Return the device as plain data."""
        return msgspec.convert(asdict(self), DeviceFacts)


@dataclass(frozen=True)
class CudaDriver:
    """The NVIDIA driver.

    Attributes
    ----------
    installed
        Whether there is a driver.
    cuda
        The newest CUDA that it supports, as (major, minor); None without a driver.
    version
        Its version, for example ``"580.65.06"``; empty if unknown.
    device
        The first GPU, or None.
    problem
        Why there is no device, as a sentence; empty when there is one.
    count
        The number of GPUs that this process may use.
    """

    installed: bool
    cuda: tuple[int, int] | None
    version: str
    device: Device | None
    problem: str
    count: int = 0


@cache
def driver() -> CudaDriver:
    """Return the facts from the driver, read once per process."""
    try:
        code = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return CudaDriver(False, None, "", None, "there is no NVIDIA driver on this machine")
    version = _kernel_module_version()
    number = ctypes.c_int(0)
    code.cuDriverGetVersion(ctypes.byref(number))
    cuda = (number.value // 1000, number.value % 1000 // 10)
    error = code.cuInit(0)
    if error:
        if error == _NO_DEVICE:
            return CudaDriver(True, cuda, version, None, "the NVIDIA driver finds no GPU")
        text = error_text(code, error)
        return CudaDriver(True, cuda, version, None, f"the NVIDIA driver does not start: {text} (error {error})")
    count = ctypes.c_int(0)
    if code.cuDeviceGetCount(ctypes.byref(count)) or count.value == 0:
        return CudaDriver(True, cuda, version, None, "the NVIDIA driver finds no GPU")
    return CudaDriver(True, cuda, version, _device(code), "", count.value)


def _device(code: ctypes.CDLL) -> Device:
    handle = ctypes.c_int(0)
    code.cuDeviceGet(ctypes.byref(handle), 0)
    name = ctypes.create_string_buffer(256)
    code.cuDeviceGetName(name, len(name), handle)
    identity = (ctypes.c_ubyte * 16)()
    # MIG devices have separate UUIDs, which the second version of the call returns.
    getter = code.cuDeviceGetUuid_v2 if hasattr(code, "cuDeviceGetUuid_v2") else code.cuDeviceGetUuid
    getter(identity, handle)
    memory = ctypes.c_size_t(0)
    code.cuDeviceTotalMem_v2(ctypes.byref(memory), handle)

    def attribute(which: int) -> int:
        value = ctypes.c_int(0)
        code.cuDeviceGetAttribute(ctypes.byref(value), which, handle)
        return value.value

    return Device(
        name=name.value.decode(errors="replace"),
        uuid=f"GPU-{uuid.UUID(bytes=bytes(identity))}",
        cc=f"{attribute(_CC_MAJOR)}.{attribute(_CC_MINOR)}",
        sms=attribute(_SM_COUNT),
        l2_bytes=attribute(_L2_BYTES),
        mem_bytes=memory.value,
        ecc=bool(attribute(_ECC)),
        clock_mhz=attribute(_CLOCK_KHZ) / 1e3,
        memory_clock_mhz=attribute(_MEMORY_CLOCK_KHZ) / 1e3,
        bus_bits=attribute(_BUS_BITS),
        threads_per_block=attribute(_THREADS_PER_BLOCK),
        threads_per_sm=attribute(_THREADS_PER_SM),
        blocks_per_sm=attribute(_BLOCKS_PER_SM),
        registers_per_block=attribute(_REGISTERS_PER_BLOCK),
        registers_per_sm=attribute(_REGISTERS_PER_SM),
        shared_per_sm_bytes=attribute(_SHARED_PER_SM),
        shared_per_block_bytes=attribute(_SHARED_PER_BLOCK_OPTIN),
        shared_reserved_bytes=attribute(_SHARED_RESERVED),
    )


def error_text(code: ctypes.CDLL, error: int) -> str:
    """Return the text of the driver, loaded as `code`, for the number of an error."""
    text = ctypes.c_char_p()
    code.cuGetErrorString(error, ctypes.byref(text))
    return text.value.decode(errors="replace") if text.value else "unknown error"


def _kernel_module_version() -> str:
    for place in ("/sys/module/nvidia/version", "/proc/driver/nvidia/version"):
        try:
            found = re.search(r"\b\d{3,}\.\d+(\.\d+)?\b", Path(place).read_text(encoding="utf-8", errors="replace"))
        except OSError:
            continue
        if found:
            return found[0]
    return ""
