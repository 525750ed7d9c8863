"""The launches of several GPUs for one product, and the traffic of the links between them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Sharing:
    """The launches of a product on several GPUs.

    Attributes
    ----------
    devices
        The number of GPUs.
    crossing
        As `gemmviz.catalogue.division.Division.crossing`; empty if each GPU holds all of A.
    launches
        Of each launch, in the order of its blocks: the GPU, and the GPU that owns the rows of A that are multiplied. A
        launch of all rows has the GPU itself.
    """

    devices: int
    crossing: str
    launches: tuple[tuple[int, int], ...]

    @property
    def in_panels(self) -> bool:
        """Whether each launch multiplies the rows of A of one GPU."""
        return len(self.launches) > self.devices

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> "Sharing":
        """Return the sharing of plain data; it must name its own GPUs only.

        Raises
        ------
        ValueError
            When it does not.
        """
        launches = tuple((int(device), int(owner)) for device, owner in plain["launches"])
        found = cls(int(plain["devices"]), str(plain["crossing"]), launches)
        known = range(found.devices)
        if found.devices < 1 or not launches or any(d not in known or o not in known for d, o in launches):
            raise ValueError("launches of GPUs that are not there")
        return found
