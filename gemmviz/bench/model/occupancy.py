"""Theoretical occupancy: the number of blocks, and so of warps, that fit on one SM. *Modelled*, from published limits.

The arithmetic is that of NVIDIA's calculator (``cuda_occupancy.h`` of the CUDA toolkit, and the occupancy calculator of
Nsight Compute). A block of T threads has W = ceil(T / 32) warps. An SM holds as many blocks as all five of these allow:

* threads: floor(warps per SM / W)
* blocks: the limit on resident blocks
* registers: r per thread are ceil(32 r / 256) x 256 per warp; each of the SM's partitions holds floor(registers per
  partition / this number) warps; floor(warps of all partitions / W)
* shared memory: s bytes plus CUDA's reserved bytes are rounded up to the unit; floor(shared memory per SM / this
  number). An SM divides one memory into shared memory and L1 cache: the *carve-out* is the shared part, by default the
  largest
* named barriers, from compute capability 9.0 on: floor(barriers per SM / barriers of a block). An SM has one or two for
  each resident block that it can hold (`Limits.barriers_per_sm`). ``__syncthreads`` is one of the 16 barriers of a
  block, and ``bar.sync`` names one of them; if the compiler does not know its number, it reserves all 16

Occupancy is warps held / warps per SM. Blocks of a cluster run on SMs of one GPC (CUDA C++ Programming Guide, "Thread
Block Clusters"); the number of clusters that fit is not modelled (``cudaOccupancyMaxActiveClusters``).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import prod
from typing import Literal

from gemmviz.backends.named_barriers import MOST_BARRIERS
from gemmviz.bench.model.devices import WARP, Limits
from gemmviz.bench.row import Row
from gemmviz.catalogue.kernel import Kernel
from gemmviz.language import mark, tr
from gemmviz.language.numbers import thousands

# A block is refused as if its warps filled four partitions evenly, also on the SM that has two (cuda_occupancy.h).
_CHECKED_PARTITIONS = 4
# Every device with clusters allows this number without an attribute.
_PORTABLE_CLUSTER = 8
Resource = Literal["threads", "blocks", "registers", "shared", "barriers"]


@dataclass(frozen=True)
class Use:
    """Resources of one block of a kernel: threads, registers per thread, bytes of shared memory (static and dynamic).

    ``cluster`` is the number of blocks in a cluster; 1 without clusters. ``barriers`` is the number of named barriers;
    0 if there are none, or if the number is unknown: they set no limit then.
    """

    threads: int
    registers: int
    shared_bytes: int
    cluster: int = 1
    barriers: int = 0

    @property
    def warps(self) -> int:
        """Warps per block; the last one may be partly empty."""
        return -(-self.threads // WARP)


@dataclass(frozen=True)
class Occupancy:
    """The occupancy of an SM by a kernel.

    Attributes
    ----------
    blocks, warps
        The number held by one SM at a time; 0 if the block cannot run.
    fraction
        Warps held / warps that the SM can hold, 0 to 1.
    limits
        Blocks that each resource allows; None if it sets no limit.
    limiters
        The resources that allow no more than `blocks`. Empty if the SM is full.
    """

    blocks: int
    warps: int
    fraction: float
    limits: dict[Resource, int | None]
    limiters: tuple[Resource, ...]


def compiled_use(row: Row, kernel: Kernel | None) -> Use:
    """Return the resources of a block in a row of a result file that has ``block``, ``regs`` and ``smem``.

    The number of named barriers is unknown (0) in rows of an older gemmviz.

    Parameters
    ----------
    row
        Of a kernel that was compiled.
    kernel
        The kernel of the row, for its clusters, which a row does not have; None if it is unknown.
    """
    block, registers, shared = row["block"], row["regs"], row["smem"]
    assert block is not None and registers is not None and shared is not None, "not compiled"
    sizes = {"M": row["M"], "N": row["N"], "K": row["K"]}
    cluster = cluster_blocks(kernel, sizes | row["params"]) if kernel else 1
    return Use(prod(block), registers, shared, cluster, row.get("barriers") or 0)


def cluster_blocks(kernel: Kernel, values: Mapping[str, int]) -> int:
    """Return the number of blocks in a cluster of a kernel, given M, N, K and its parameters; 1 without clusters."""
    return prod(e.integer(values) for e in kernel.cluster)


def occupancy(use: Use, limits: Limits, carve_out: int | None = None) -> Occupancy:
    """Return the theoretical occupancy of blocks on an SM.

    Parameters
    ----------
    use
        Resources of a block.
    limits
        Capacity of an SM.
    carve_out
        Bytes of the SM that are shared memory (a profile shows it as the configured size); None: the maximum. The
        driver chooses one of the sizes that the GPU offers: 0, 8, 16, 32, 64 or 100 KiB for compute capability 8.6
        (NVIDIA Ampere GPU Architecture Tuning Guide, "Unified Shared Memory/L1/Texture Cache").
    """
    if carve_out is not None:
        limits = replace(limits, shared_per_sm=min(carve_out, limits.shared_per_sm))
    allowed: dict[Resource, int | None] = {
        "threads": limits.warps_per_sm // use.warps if 1 <= use.threads <= limits.threads_per_block else 0,
        "blocks": limits.blocks_per_sm if use.cluster <= limits.blocks_per_cluster else 0,
        "registers": _by_registers(use, limits),
        "shared": _by_shared(use, limits),
        "barriers": _by_barriers(use, limits),
    }
    blocks = min(value for value in allowed.values() if value is not None)
    warps = blocks * use.warps
    full = warps == limits.warps_per_sm
    limiters = () if full else tuple(name for name, value in allowed.items() if value == blocks)
    return Occupancy(blocks, warps, warps / limits.warps_per_sm, allowed, limiters)


def _registers_per_warp(use: Use, limits: Limits) -> int:
    return _round_up(use.registers * WARP, limits.register_unit)


def _by_registers(use: Use, limits: Limits) -> int | None:
    if use.registers > limits.registers_per_thread:
        return 0
    per_warp = _registers_per_warp(use, limits)
    if per_warp * _round_up(use.warps, _CHECKED_PARTITIONS) > limits.registers_per_block:
        return 0
    if not per_warp:
        return None
    per_partition = limits.registers_per_sm // limits.partitions // per_warp
    return per_partition * limits.partitions // max(use.warps, 1)


def _by_shared(use: Use, limits: Limits) -> int | None:
    taken = _shared_per_block(use, limits)
    if use.shared_bytes > limits.shared_per_block:
        return 0
    return limits.shared_per_sm // taken if taken else None


def _by_barriers(use: Use, limits: Limits) -> int | None:
    if use.barriers > MOST_BARRIERS:
        return 0
    if not use.barriers or limits.barriers_per_sm is None:
        return None
    return limits.barriers_per_sm // use.barriers


def _shared_per_block(use: Use, limits: Limits) -> int:
    return _round_up(use.shared_bytes + limits.shared_reserved, limits.shared_unit)


def advice(use: Use, limits: Limits) -> str:
    """Return the limit of the occupancy, and the change with which one more block fits, in one or two sentences."""
    sentence = _advice(use, limits)
    if use.cluster == 1 or not occupancy(use, limits).blocks:
        return sentence
    if use.cluster > _PORTABLE_CLUSTER:
        asked = tr(
            "A cluster of more than {count} blocks is possible only if the kernel asks for it (non-portable).",
            count=_PORTABLE_CLUSTER,
        )
        sentence = f"{sentence} {asked}"
    clusters = tr(
        "Each cluster of {count} blocks has to fit in one GPC, so that SMs may be idle: "
        "cudaOccupancyMaxActiveClusters gives the number of clusters, this model does not.",
        count=use.cluster,
    )
    return f"{sentence} {clusters}"


def _advice(use: Use, limits: Limits) -> str:
    now = occupancy(use, limits)
    if not now.blocks:
        return _refusal(use, limits, now)
    if now.warps == limits.warps_per_sm:
        return tr("The SM is full: more occupancy is not possible.")
    if "blocks" in now.limiters:
        return tr(
            "Limited by resident blocks: an SM holds {count}; only larger blocks give more warps.",
            count=limits.blocks_per_sm,
        )
    wanted = now.blocks + 1
    changes = []
    for limiter in now.limiters:
        if limiter == "threads":
            fitting = limits.warps_per_sm // wanted * WARP
            least = tr("at most {count} threads per block", count=thousands(fitting))
            changes.append(least if fitting else tr("smaller blocks"))
        elif limiter == "registers":
            most = _most_registers(use, limits, wanted)
            least = tr("at most {count} registers per thread", count=most)
            changes.append(least if most else tr("smaller blocks"))
        elif limiter == "barriers":
            assert limits.barriers_per_sm is not None
            # At least 1: an SM has a barrier for each block that it can hold.
            changes.append(tr("at most {count} named barriers per block", count=limits.barriers_per_sm // wanted))
        else:
            most = limits.shared_per_sm // wanted // limits.shared_unit * limits.shared_unit - limits.shared_reserved
            least = tr("at most {count} bytes of shared memory per block", count=thousands(most))
            changes.append(least if most > 0 else tr("no shared memory"))
    sentence = tr(
        "Limited by {resources}; one more block per SM needs {changes}.",
        resources=_names(now.limiters),
        changes=tr(" and ").join(changes),
    )
    return f"{sentence} {_barriers_taken(use)}" if "barriers" in now.limiters else sentence


def _barriers_taken(use: Use) -> str:
    if use.barriers < MOST_BARRIERS:
        return tr("A block takes {count} named barriers.", count=use.barriers)
    return tr(
        "A block takes all {count} named barriers: so many are reserved if the compiler does not know the number in a "
        "bar.sync.",
        count=use.barriers,
    )


def _most_registers(use: Use, limits: Limits, blocks: int) -> int:
    """Return the largest number of registers per thread with which that many blocks fit; 0 if there is none."""
    return next(
        (r for r in range(use.registers, 0, -1) if (_by_registers(_with_registers(use, r), limits) or 0) >= blocks), 0
    )


def _with_registers(use: Use, registers: int) -> Use:
    return replace(use, registers=registers)


def _refusal(use: Use, limits: Limits, now: Occupancy) -> str:
    reasons = {
        "threads": tr(
            "a block has {count} threads; {most} is the most",
            count=thousands(use.threads),
            most=thousands(limits.threads_per_block),
        ),
        "registers": tr(
            "{registers} registers per thread are too many for blocks of {threads} threads (at most {most})",
            registers=use.registers,
            threads=thousands(use.threads),
            most=_most_registers(use, limits, 1),
        ),
        "shared": tr(
            "a block takes {count} bytes of shared memory; {most} is the most",
            count=thousands(use.shared_bytes),
            most=thousands(limits.shared_per_block),
        ),
        "blocks": _no_cluster(use, limits),
        "barriers": tr(
            "a block has {count} named barriers; {most} is the most", count=thousands(use.barriers), most=MOST_BARRIERS
        ),
    }
    why = tr(" and ").join(reasons[name] for name in now.limiters)
    return tr("Such a block cannot run: {why}.", why=why)


def _no_cluster(use: Use, limits: Limits) -> str:
    if limits.blocks_per_cluster == 1:
        return tr("clusters need compute capability 9.0 or higher")
    return tr(
        "a cluster has {count} blocks; {most} is the most, and more than {portable} only where the kernel asks for it "
        "(non-portable)",
        count=thousands(use.cluster),
        most=limits.blocks_per_cluster,
        portable=_PORTABLE_CLUSTER,
    )


NAMES: dict[Resource, str] = {
    "threads": mark("threads"),
    "blocks": mark("resident blocks"),
    "registers": mark("registers"),
    "shared": mark("shared memory"),
    "barriers": mark("named barriers"),
}
"""The usual names of the resources."""


def _names(limiters: tuple[Resource, ...]) -> str:
    return tr(" and ").join(tr(NAMES[name]) for name in limiters)


def _round_up(value: int, unit: int) -> int:
    return -(-value // unit) * unit
