"""The bytes of a launch at each level of memory, the reuse of loaded data, and FLOP per byte (*recorded*).

Arithmetic intensity at a level is 2 M N K / the bytes that cross it (Williams, Waterman, Patterson: "Roofline", CACM
52(4), 2009, doi 10.1145/1498765.1498785). Bytes are counted in three ways: *asked* by the threads, *moved*
by the hardware (whole sectors, whole wavefronts), and *loaded*, the smallest number that any kernel needs: each used
element crosses once. Reuse is asked / loaded.
"""

from dataclasses import asdict, dataclass

from gemmviz.catalogue.matrices import C
from gemmviz.catalogue.plain import Plain
from gemmviz.trace.cost.traffic import Traffic
from gemmviz.trace.cost.wavefronts import SECTOR_BYTES, WAVEFRONT_BYTES
from gemmviz.trace.recording.recording import Recording


@dataclass(frozen=True)
class Level:
    """Bytes that cross one level of memory, counted in one way.

    Attributes
    ----------
    name
        ``"compulsory"`` (each element of A, B and C that is used crosses once), ``"global, asked"``,
        ``"global, moved"``, ``"shared, asked"``, ``"shared, moved"``. A CPU has ``"compulsory"`` and
        ``"memory, asked"``.
    bytes
        Of the whole launch, reads and writes.
    intensity
        FLOP per byte; None if nothing crosses.
    """

    name: str
    bytes: int
    intensity: float | None


@dataclass(frozen=True)
class Reuse:
    """The reuse of one array's elements.

    Attributes
    ----------
    name, space
        The name and the memory space of the array.
    read_bytes, asked_bytes
        Bytes read by threads; bytes read and written by threads.
    moved_bytes
        Global memory: 32 bytes per sector; shared memory: 128 bytes per wavefront. On a CPU: as asked.
    loaded_bytes
        Global memory: the different elements that are accessed; shared memory: the bytes written to it.
    """

    name: str
    space: str
    read_bytes: int
    asked_bytes: int
    moved_bytes: int
    loaded_bytes: int

    @property
    def reuse(self) -> float:
        """Bytes asked divided by bytes loaded; 0 if nothing is loaded (shared memory that is never written)."""
        return self.asked_bytes / self.loaded_bytes if self.loaded_bytes else 0.0

    @property
    def reads_per_element(self) -> float:
        """Reads per loaded element; 0 if none is loaded."""
        return self.read_bytes / self.loaded_bytes if self.loaded_bytes else 0.0


@dataclass(frozen=True)
class Levels:
    """Traffic, reuse and arithmetic intensity per level of memory.

    Attributes
    ----------
    flops
        2 M N K, the floating-point operations of the product; for some blocks only, 2 K for each element of C that they
        access.
    levels
        From the smallest possible traffic to the level nearest to the threads.
    arrays
        One per array that is accessed.
    """

    flops: int
    levels: tuple[Level, ...]
    arrays: tuple[Reuse, ...]

    def to_plain(self) -> Plain:
        """Return the levels as plain data, with the figures derived from them."""
        plain = asdict(self)
        plain["arrays"] = [
            asdict(a) | {"reuse": a.reuse, "reads_per_element": a.reads_per_element} for a in self.arrays
        ]
        return plain


def levels(recording: Recording, traffic: Traffic) -> Levels:
    """Return the traffic of a recorded launch at each level of memory.

    Parameters
    ----------
    recording, traffic
        The launch, and its traffic from `gemmviz.trace.cost.traffic.measure`.
    """
    elements = recording.m * recording.n
    if recording.scope is not None:
        elements = traffic.arrays[C].loaded_bytes // recording.arrays[C].itemsize
    flops = 2 * elements * recording.k
    on_gpu = recording.backend == "cuda"
    arrays = []
    for array in traffic.arrays:
        asked = array.read_bytes + array.write_bytes
        if not asked:
            continue
        unit = SECTOR_BYTES if array.space == "global" else WAVEFRONT_BYTES
        moved = (array.read_units + array.write_units) * unit if on_gpu else asked
        arrays.append(Reuse(array.name, array.space, array.read_bytes, asked, moved, array.loaded_bytes))
    found = [("compulsory", "global", "loaded_bytes")]
    if on_gpu:
        ways = (("asked", "asked_bytes"), ("moved", "moved_bytes"))
        found += [(f"{space}, {way}", space, field) for space in ("global", "shared") for way, field in ways]
    else:
        found.append(("memory, asked", "", "asked_bytes"))  # all arrays: a CPU's panels are ordinary memory
    sums = [(name, sum(getattr(a, field) for a in arrays if space in ("", a.space))) for name, space, field in found]
    return Levels(
        flops,
        tuple(Level(name, size, flops / size if size else None) for name, size in sums),
        tuple(arrays),
    )
