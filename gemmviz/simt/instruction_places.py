"""The source lines of a recorder's instructions and its shared arrays, as read from its debug information."""

from bisect import bisect_right
from dataclasses import dataclass, field

from gemmviz.simt.shared_array import SharedArray


@dataclass(frozen=True)
class CodePlaces:
    """Lines and shared arrays of one shared library; addresses are relative to its load address.

    GCC adds a flag for each shared array that was constructed; ``guards`` has the offsets of these flags in bytes from
    the anchor. ``entry`` is the address of the function that calls the kernel. ``variables`` are the variables of the
    device that can be written, with their addresses as offsets. ``largest_frame`` is the memory on the stack that its
    functions need at most, in bytes, as `simt.stack_sizes.largest_frame` returns it.
    """

    addresses: list[int]
    places: list[tuple[int, int]]
    shared: list[SharedArray]
    guards: list[int]
    entry: int
    variables: list[SharedArray] = field(default_factory=list)
    largest_frame: int | None = None

    def place(self, address: int) -> tuple[int, int]:
        """Return (line, column) in the kernel's file of the instruction at `address`; (0, 0) for another file.

        The compiler has usually moved an instruction without a line upwards, out of a loop: it gets the line of the
        next instruction that has one.
        """
        index = bisect_right(self.addresses, address) - 1
        if index < 0:
            return (0, 0)
        while index + 1 < len(self.places) and self.places[index][0] == 0:
            index += 1
        line, column = self.places[index]
        return (line, column) if line > 0 else (0, 0)
