"""The launches of several GPUs for one product, and the traffic of the links between them."""

from dataclasses import dataclass


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

    @property
    def holds(self) -> bool:
        """Whether each launch names GPUs that are there."""
        known = range(self.devices)
        return bool(self.launches) and all(device in known and owner in known for device, owner in self.launches)
