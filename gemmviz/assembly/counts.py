"""Counts instructions by their kind, and the products (multiply-adds) that they compute.

The names of instructions are those of the CUDA Binary Utilities, "Instruction Set Reference".
"""

import re
from collections import Counter
from collections.abc import Iterable

from gemmviz.assembly.listing import Instruction, Listing

WARP = 32
_WARPGROUP = 4  # warps
PRODUCTS = (
    *("FFMA", "FFMA2", "DFMA", "HFMA2", "IMAD", "IDP"),
    *("HMMA", "IMMA", "DMMA", "BMMA", "QMMA", "OMMA", "HGMMA", "IGMMA", "BGMMA", "QGMMA"),
)
"""Instructions that multiply and add; for HFMA2 and IMAD it depends on the operands: see `products`."""
UNFUSED = ("FMUL", "DMUL")
"""Instructions that count as products in code without instructions that multiply and add."""
_SUMS = ("FADD", "DADD")
MEMORY = (
    *("LDS", "LDSM", "STS", "STSM", "LDG", "STG", "LDGSTS", "LD", "ST", "LDL", "STL"),
    *("UTMALDG", "UTMASTG", "UTMAREDG", "UBLKCP", "ATOM", "ATOMG", "ATOMS", "RED", "REDG"),
)
"""Instructions that move data; those of local memory, LDL and STL, are spilled registers or local arrays."""
WAITING = ("BAR", "SYNCS", "DEPBAR", "LDGDEPBAR", "WARPGROUP", "WARPSYNC", "MEMBAR", "FENCE")
"""Barriers, and instructions that wait for copies and products."""
OTHER = "other"
SHOWN = (*PRODUCTS, *UNFUSED, *_SUMS, *MEMORY, *WAITING, OTHER)
"""Kinds in the order in which they are shown."""
# HMMA.16816.F32: 16 x 8 x 16. HGMMA.64x128x16.F32: 64 x 128 x 16.
_SMALL = re.compile(r"\.(?P<m>16|8)(?P<n>8)(?P<k>\d{1,3})(?=\.|$)")
_LARGE = re.compile(r"\.(?P<m>\d+)x(?P<n>\d+)x(?P<k>\d+)")
_SCALARS = {"FFMA": 1, "FFMA2": 2, "DFMA": 1}
_ONE_HALF = re.compile(r"\.H[01]_H[01]")
_ZERO = re.compile(r"-?U?RZ")
_BITS = {"8": 1, "U8": 1, "S8": 1, "16": 2, "U16": 2, "S16": 2, "32": 4, "64": 8, "128": 16}


def kind(one: Instruction, integer: bool = False) -> str:
    """Return the kind of an instruction: one of `SHOWN`.

    Parameters
    ----------
    one
        The instruction.
    integer
        Whether the kernel multiplies integers: only then an IMAD is a product.
    """
    if one.stem in PRODUCTS:
        return one.stem if products(one, integer) else OTHER
    return one.stem if one.stem in SHOWN else OTHER


def products(one: Instruction, integer: bool = False) -> int:
    """Return the number of products of one warp for an instruction; 0 also for an unknown form.

    An FFMA is 32 products for a warp of 32 threads. An instruction of a whole warpgroup, HGMMA, counts a quarter for
    each of its four warps.
    """
    stem = one.stem
    if stem in _SCALARS:
        return WARP * _SCALARS[stem]
    if stem == "HFMA2":
        # -RZ, RZ, 0, 0 loads a constant into a register.
        sources = one.operands.split(", ")[1:4]
        if any(_ZERO.fullmatch(source) for source in sources[:2]):
            return 0
        return WARP if all(_ONE_HALF.search(source) for source in sources) else 2 * WARP
    if stem == "IMAD":
        # With a modifier it moves, shifts or computes an address.
        return WARP if integer and one.opcode == "IMAD" and "RZ" not in one.operands else 0
    if stem == "IDP":
        return 4 * WARP if integer and ".4A" in one.opcode else 0
    if large := _LARGE.search(one.opcode):
        return int(large["m"]) * int(large["n"]) * int(large["k"]) // _WARPGROUP
    small = _SMALL.search(one.opcode)
    return int(small["m"]) * int(small["n"]) * int(small["k"]) if small and stem in PRODUCTS else 0


def worths(listing: Listing) -> list[int]:
    """Return the products of each instruction; if none multiplies and adds, instructions that only multiply count."""
    found = [products(one, listing.integer) for one in listing.instructions]
    return found if any(found) else [WARP if one.stem in UNFUSED else 0 for one in listing.instructions]


def shared_bytes(one: Instruction) -> int:
    """Return the bytes that an instruction loads from shared memory into registers of one thread."""
    parts = one.opcode.split(".")[1:]
    if one.stem == "LDS":
        return next((_BITS[part] for part in parts if part in _BITS), 4)
    if one.stem == "LDSM":
        # LDSM.16.M88.4: four matrices of 8 x 8 halves, 4 bytes of each for a thread.
        return 4 * int(parts[-1]) if parts and parts[-1] in ("2", "4") else 4
    return 0


def counted(instructions: Iterable[Instruction], integer: bool = False) -> Counter[str]:
    """Return the number of instructions of each kind."""
    return Counter(kind(one, integer) for one in instructions)


def by_line(listing: Listing, file: int = 0) -> dict[int, Counter[str]]:
    """Return the counts of each line of a file that has instructions; key 0: instructions from none of its lines."""
    found: dict[int, Counter[str]] = {}
    for one in listing.instructions:
        found.setdefault(listing.line(one.place, file), Counter())[kind(one, listing.integer)] += 1
    return found


def in_order(counts: Counter[str]) -> list[tuple[str, int]]:
    """Return the kinds with their counts in the order in which they are shown."""
    return [(name, counts[name]) for name in SHOWN if counts[name]]
