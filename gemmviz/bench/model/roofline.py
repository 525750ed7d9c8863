"""The roofline of a device and the place of a kernel under it.

A roof is *modelled*: a kernel that does I floating-point operations per byte reaches at most min(peak, I x bandwidth)
(Williams, Waterman, Patterson: "Roofline", CACM 52(4), 2009, doi 10.1145/1498765.1498785). The height of a kernel is
*measured*; its horizontal position depends on which bytes are counted:

* compulsory: each matrix is moved once, as with perfect caches (*modelled* from the size);
* global: the 32-byte sectors that its warps request, as without caches (*recorded*, scaled to the size);
* shared: wavefronts of shared memory x 128 bytes, including those of bank conflicts (*recorded*, scaled).

The real number of bytes on the memory's bus is between the first two.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from gemmviz.bench.model.devices import Facts, clock_ghz, find, memory_gbs
from gemmviz.bench.model.peaks import peak_gflops
from gemmviz.bench.row import Row, dtype_out
from gemmviz.catalogue.errors import GemmvizError
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.trace.cost.traffic import ArrayTraffic
from gemmviz.trace.cost.wavefronts import SECTOR_BYTES, WAVEFRONT_BYTES

# A sum in a register accesses its element of C once or twice; a sum in memory accesses it in every step along K.
_TOUCHES_OF_A_REGISTER_SUM = 2
_SURVEY_SIZES = (32, 64, 128, 256)


@dataclass(frozen=True)
class Roof:
    """One roof: ``kind`` "memory" (``value`` in GB/s: a slope) or "compute" (in GFLOPS: a level).

    ``name`` is short enough to be drawn along the roof: "memory" (the device's), "L2", "shared", "FP32", ...
    """

    name: str
    kind: Literal["memory", "compute"]
    value: float

    def gflops(self, intensity: float) -> float:
        """Return the GFLOPS that this roof allows at an arithmetic intensity in FLOP/byte."""
        return self.value if self.kind == "compute" else self.value * intensity


@dataclass(frozen=True)
class MovedBytes:
    """Bytes that one launch moves, scaled from a recording: global sectors, and wavefronts of shared memory."""

    global_bytes: float
    shared_bytes: float


@dataclass(frozen=True)
class Point:
    """A kernel under the roofline.

    Attributes
    ----------
    gflops
        Measured; None if only the bound is known.
    compulsory, from_global, from_shared
        Arithmetic intensity in FLOP/byte for each way to count bytes; None without a recording or without traffic.
    """

    gflops: float | None
    compulsory: float
    from_global: float | None = None
    from_shared: float | None = None


def roofs(device: Facts | None) -> list[Roof]:
    """Return the roofs of a device, as far as they are known: memories first, slowest first."""
    if device is None:
        return []
    known, clock, sms = find(device), clock_ghz(device), device.get("sms")
    found = []
    memory = memory_gbs(device)
    if memory:
        found.append(Roof("memory", "memory", memory))
    if known and known.l2_bytes_per_clock and clock:
        found.append(Roof("L2", "memory", known.l2_bytes_per_clock * clock))
    if clock and sms:
        found.append(Roof("shared", "memory", sms * WAVEFRONT_BYTES * clock))
    for name, dtype in (("FP32", "float32"), ("FP16 tensor cores", "float16")):
        peak = peak_gflops(device, dtype, "float32")
        if peak:
            found.append(Roof(name, "compute", peak[0]))
    return found


def attainable_gflops(device: Facts | None, intensity: float, dtype: str, accumulate: str) -> float | None:
    """Return min(peak, intensity x memory bandwidth) in GFLOPS for a kernel's types; None if either is not known."""
    peak, memory = peak_gflops(device, dtype, accumulate), memory_gbs(device)
    return min(peak[0], intensity * memory) if peak and memory else None


def compulsory_intensity(problem: Problem, dtype: str, dtype_out: str) -> float:
    """Return 2 M N K / bytes of A, B and C in FLOP/byte: each matrix is moved once."""
    m, n, k = problem.m, problem.n, problem.k
    read, written = np.dtype(dtype).itemsize, np.dtype(dtype_out).itemsize
    return problem.flops / (read * (m * k + k * n) + written * m * n)


def tile_intensity(rows: int, columns: int, itemsize: int) -> float:
    """Return the FLOP per byte that a block tile of C allows: 2 R C / (bytes of R + C elements).

    One step along K reads a column of R elements of A and a row of C elements of B, and makes R x C multiply-adds.
    """
    return 2 * rows * columns / (itemsize * (rows + columns))


def moved_bytes(arrays: Sequence[ArrayTraffic], recorded: Problem, problem: Problem) -> MovedBytes:
    """Scale the traffic of a recording to another size with the same parameters.

    Reads of A and B, and all accesses of shared memory, grow with M N K; accesses of C grow with M N, or with M N K if
    its sum is kept in memory. This is exact if tiles divide both sizes.

    Parameters
    ----------
    arrays
        From `gemmviz.trace.cost.traffic.Traffic`.
    recorded, problem
        The recorded size, and the new size.
    """
    volume = problem.flops / recorded.flops
    area = problem.m * problem.n / (recorded.m * recorded.n)
    touches = _TOUCHES_OF_A_REGISTER_SUM * recorded.m * recorded.n

    def scaled(array: ArrayTraffic) -> float:
        in_register = array.name == "C" and array.space == "global" and array.reads + array.writes <= touches
        return (array.read_units + array.write_units) * (area if in_register else volume)

    sectors = sum(scaled(a) for a in arrays if a.space == "global")
    wavefronts = sum(scaled(a) for a in arrays if a.space == "shared")
    return MovedBytes(sectors * SECTOR_BYTES, wavefronts * WAVEFRONT_BYTES)


def survey_size(kernel: Kernel, params: dict[str, int]) -> Problem | None:
    """Return the smallest cube whose recording can be scaled exactly, because tiles divide it; None if there is none.

    Tiles divide a size if twice the size has four times the blocks.
    """
    for size in _SURVEY_SIZES:
        try:
            one, four = (launch(kernel, Problem.cube(s), params).blocks for s in (size, 2 * size))
        except GemmvizError:
            continue
        if four == 4 * one:
            return Problem.cube(size)
    return None


def point(row: Row, traffic: MovedBytes | None = None) -> Point:
    """Return the point of a row of a result file, with the bytes that its launch moves if they are known."""
    problem = Problem(row["M"], row["N"], row["K"])
    compulsory = compulsory_intensity(problem, row["dtype_in"], dtype_out(row))
    if traffic is None:
        return Point(row["gflops"], compulsory)
    by_global = problem.flops / traffic.global_bytes if traffic.global_bytes else None
    by_shared = problem.flops / traffic.shared_bytes if traffic.shared_bytes else None
    return Point(row["gflops"], compulsory, by_global, by_shared)


def cached_share(place: Point, device: Facts | None) -> float | None:
    """Return a lower bound of the share (0 to 1) of requested sectors that caches served; None if not known.

    In the measured time, the memory can deliver at most bandwidth x time bytes; all further requests were served by
    a cache. The bound uses a measured time, a recorded traffic and a published bandwidth.
    """
    memory = memory_gbs(device)
    if memory is None or not place.gflops or place.from_global is None:
        return None
    return max(0.0, 1.0 - memory * place.from_global / place.gflops)
