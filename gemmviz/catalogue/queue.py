"""The order in which several GPUs copy the rows of A and multiply, as the host queues them for one product.

Each GPU has two streams: one for its products, one for the copies of its own rows to the other GPUs. A product waits
for events of copies. No GPU begins a product before all GPUs have ended their launches of the one before.
"""

from dataclasses import dataclass

from gemmviz.catalogue.division import Panel, panels


@dataclass(frozen=True)
class Copy:
    """The copy of a GPU's rows of A to another GPU's memory.

    Attributes
    ----------
    owner, to
        The GPU that holds the rows, and the GPU that gets them.
    place
        The GPU whose rows have this place in A. There are as many places as GPUs.
    """

    owner: int
    to: int
    place: int


@dataclass(frozen=True)
class Product:
    """A launch, and the copies that it waits for."""

    panel: Panel
    waits: tuple[Copy, ...] = ()


@dataclass(frozen=True)
class Queue:
    """The copies and launches of one product, each in the order of the host's calls."""

    copies: tuple[Copy, ...]
    products: tuple[Product, ...]


def queue(devices: int, crossing: str) -> Queue:
    """Return the queue of a product.

    In each turn every GPU sends its rows to one other, and gets those of another one. The turns are queued one after
    the other: a GPU's copies run in the order in which the host queued them, whatever stream they are on, so that one
    that has to wait stops all later ones.

    Parameters
    ----------
    devices
        The number of GPUs.
    crossing
        As `gemmviz.catalogue.division.Division.crossing`.
    """
    turns = range(1, devices if crossing in ("before", "meanwhile") else 1)
    copies = tuple(Copy(owner, (owner - turn) % devices, owner) for turn in turns for owner in range(devices))
    in_panels = crossing in ("meanwhile", "reads")
    products = [
        Product(
            panel,
            tuple(
                copy
                for copy in sorted(copies, key=lambda copy: copy.owner)
                if copy.to == panel.device and (copy.owner == panel.owner or not in_panels)
            ),
        )
        for panel in panels(devices, in_panels)
    ]
    return Queue(copies, tuple(products))
