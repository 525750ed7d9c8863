"""The number of instructions of each kind in the main loop, and per product."""

from collections import Counter
from dataclasses import dataclass

from gemmviz.assembly.counts import PRODUCTS, UNFUSED, counted, shared_bytes, worths
from gemmviz.assembly.flow import innermost, loops
from gemmviz.assembly.listing import Listing


@dataclass(frozen=True)
class Part:
    """A part of the machine code.

    Attributes
    ----------
    instructions
        Their indices.
    counts
        The number of instructions of each kind: see `gemmviz.assembly.counts.SHOWN`.
    products
        The products of a warp that executes each instruction once.
    unit
        The instruction that computes most of the products; empty without products.
    shared_bytes
        The bytes that a thread reads from shared memory if it executes each instruction once.
    """

    instructions: tuple[int, ...]
    counts: Counter[str]
    products: int
    unit: str
    shared_bytes: int

    def ratio(self, name: str) -> float | None:
        """Return the number of instructions of a kind per instruction that computes products; None without products."""
        return self.counts[name] / self.counts[self.unit] if self.unit else None


@dataclass(frozen=True)
class Summary:
    """A whole kernel, and the innermost loop that computes its products; None without such a loop."""

    whole: Part
    loop: Part | None


def summary(listing: Listing) -> Summary:
    """Return the counts of a listing, and of its main loop."""
    worth = worths(listing)
    main = innermost(loops(listing.instructions), worth)
    whole = _part(listing, tuple(range(len(listing.instructions))), worth)
    return Summary(whole, _part(listing, main.instructions, worth) if main else None)


def _part(listing: Listing, indices: tuple[int, ...], worth: list[int]) -> Part:
    held = [listing.instructions[index] for index in indices]
    made: Counter[str] = Counter()
    for index, one in zip(indices, held, strict=True):
        made[one.stem] += worth[index]
    unit = max((*PRODUCTS, *UNFUSED), key=lambda name: made[name])
    return Part(
        indices,
        counted(held, listing.integer),
        made.total(),
        unit if made[unit] else "",
        sum(map(shared_bytes, held)),
    )
