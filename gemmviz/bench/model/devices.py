"""Published facts about GPUs, and the capacity and rates of a device of a result file. All of it is *modelled*.

A *device* is the part ``device`` of a result file (`gemmviz.backends.driver.Device` as plain data); `Published.facts`
returns a GPU of another machine in the same form. The driver's figures have priority over published ones.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import NotRequired, TypedDict

from gemmviz import data
from gemmviz.backends.driver import DeviceFacts
from gemmviz.catalogue.typed_reading import read_as

WARP = 32
Facts = DeviceFacts
_KIB = 1024
_MIB = 1024 * 1024
# Double data rate: two transfers per clock as reported by the driver (CUDA sample deviceQuery computes it in this way).
_TRANSFERS_PER_CLOCK = 2


@dataclass(frozen=True)
class Limits:
    """The capacity of one SM, and the units in which it is allocated.

    Attributes
    ----------
    threads_per_block, threads_per_sm, blocks_per_sm, registers_per_block, registers_per_sm
        The maximum of each.
    registers_per_thread
        The maximum for one thread.
    register_unit
        Registers are allocated to a warp in multiples of this number.
    partitions
        The number of parts of an SM, each with its own registers.
    shared_per_sm, shared_per_block, shared_unit, shared_reserved
        Shared memory in bytes: per SM, the maximum for a block (after opting in), the unit of allocation, and the part
        of each block that CUDA reserves.
    blocks_per_cluster
        The maximum number of blocks in a cluster; 1 without clusters.
    barriers_per_sm
        Named barriers of all blocks on an SM; None where they set no limit (before compute capability 9.0).
    """

    threads_per_block: int
    threads_per_sm: int
    blocks_per_sm: int
    registers_per_block: int
    registers_per_sm: int
    registers_per_thread: int
    register_unit: int
    partitions: int
    shared_per_sm: int
    shared_per_block: int
    shared_unit: int
    shared_reserved: int
    blocks_per_cluster: int
    barriers_per_sm: int | None

    @property
    def warps_per_sm(self) -> int:
        """The maximum number of warps that one SM can hold."""
        return self.threads_per_sm // WARP


@dataclass(frozen=True)
class Published:
    """The published facts about one GPU; see ``resources/devices.toml`` for the sources.

    Attributes
    ----------
    name, cuda_names
        Its usual name, and its names in CUDA.
    boost_mhz, bandwidth_gbs
        Clock, and GB/s of its memory.
    tensor_fp16_fp32_tflops, tensor_fp16_tflops
        Dense FP16 tensor-core peak with sums in FP32 and in FP16; None without tensor cores.
    l2_bytes_per_clock
        Read bandwidth of the L2; None if it is not published.
    """

    name: str
    cuda_names: tuple[str, ...]
    cc: str
    sms: int
    boost_mhz: float
    bandwidth_gbs: float
    l2_mib: float
    source: str
    tensor_fp16_fp32_tflops: float | None = None
    tensor_fp16_tflops: float | None = None
    l2_bytes_per_clock: int | None = None

    def facts(self) -> Facts:
        """Return the device in the form of a result file, as far as it is published."""
        return {
            "name": self.cuda_names[-1],
            "cc": self.cc,
            "sms": self.sms,
            "clock_mhz": self.boost_mhz,
            "l2_bytes": round(self.l2_mib * _MIB),
        }


class Rates(TypedDict):
    """The limits of some compute capabilities; ``fp32``, ``fp64``, ``int32``: multiply-adds per clock and SM."""

    cc: list[str]
    threads_per_sm: int
    blocks_per_sm: int
    shared_per_sm_kib: int
    shared_per_block_kib: int
    shared_reserved_bytes: int
    shared_unit_bytes: int
    partitions: int
    fp32: int
    fp64: int
    int32: NotRequired[int]
    barriers_per_sm: NotRequired[int]


class _Tables(TypedDict):
    limits: list[Rates]
    devices: tuple[Published, ...]


def published() -> tuple[Published, ...]:
    """Return the GPUs of ``resources/devices.toml``, oldest first."""
    return _tables()["devices"]


def find(device: Facts | None) -> Published | None:
    """Return the published facts about a device, or None."""
    return named(device["name"]) if device else None


def named(name: str) -> Published | None:
    """Return the published facts about the device with this CUDA name, or None."""
    return next((p for p in published() if name in p.cuda_names), None)


def limits(device: Facts | None) -> Limits | None:
    """Return the capacity of one SM of a device; None if its compute capability is unknown."""
    row = rates(device)
    if device is None or row is None:
        return None

    known: Mapping[str, object] = device

    def reported(key: str, otherwise: int) -> int:
        value = known.get(key)
        return int(value) if isinstance(value, int | float) and value else otherwise

    return Limits(
        # Unchanged since compute capability 3.5 and 5.0 (CUDA C++ Programming Guide, cuda_occupancy.h).
        threads_per_block=reported("threads_per_block", 1024),
        threads_per_sm=reported("threads_per_sm", row["threads_per_sm"]),
        blocks_per_sm=reported("blocks_per_sm", row["blocks_per_sm"]),
        registers_per_block=reported("registers_per_block", 65536),
        registers_per_sm=reported("registers_per_sm", 65536),
        registers_per_thread=255,
        register_unit=256,
        partitions=row["partitions"],
        shared_per_sm=reported("shared_per_sm_bytes", row["shared_per_sm_kib"] * _KIB),
        shared_per_block=reported("shared_per_block_bytes", row["shared_per_block_kib"] * _KIB),
        shared_unit=row["shared_unit_bytes"],
        shared_reserved=reported("shared_reserved_bytes", row["shared_reserved_bytes"]),
        # Clusters exist from compute capability 9.0 on; 8 blocks always, 16 if the kernel asks for it (CUDA C++
        # Programming Guide, "Thread Block Clusters"; cudaFuncAttributeNonPortableClusterSizeAllowed).
        blocks_per_cluster=16 if int(device["cc"].split(".")[0]) >= 9 else 1,
        barriers_per_sm=row.get("barriers_per_sm"),
    )


def rates(device: Facts | None) -> Rates | None:
    """Return the row of ``resources/devices.toml`` for a device's compute capability, or None."""
    cc = device.get("cc") if device else None
    return next((row for row in _tables()["limits"] if cc in row["cc"]), None)


def clock_ghz(device: Facts | None) -> float | None:
    """Return the highest clock of the SMs in GHz: from the driver, else the published one."""
    if device and device.get("clock_mhz"):
        return float(device["clock_mhz"]) / 1e3
    known = find(device)
    return known.boost_mhz / 1e3 if known else None


def memory_gbs(device: Facts | None) -> float | None:
    """Return the bandwidth of a device's memory in GB/s: the published one, else clock x bus x 2 from the driver."""
    known = find(device)
    if known:
        return known.bandwidth_gbs
    if device and device.get("memory_clock_mhz") and device.get("bus_bits"):
        return float(device["memory_clock_mhz"]) * _TRANSFERS_PER_CLOCK * int(device["bus_bits"]) / 8 / 1e3
    return None


@cache
def _tables() -> _Tables:
    return read_as(tomllib.loads((data.root("resources") / "devices.toml").read_text(encoding="utf-8")), _Tables)
