"""A kernel's machine code as data: instructions (SASS), PTX, their source lines, and the resources used.

It is sent through the engine's pipe, so each text and list has a limit, and each index is checked.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated

from msgspec import Meta

MOST_INSTRUCTIONS, MOST_PTX, MOST_PLACES, MOST_FILES = 1 << 17, 1 << 18, 1 << 17, 500
MOST_DEPTH, MOST_LABEL, MOST_OPERANDS, MOST_PTX_LINE = 64, 1000, 2000, 4000
_MOST_WORD, _MOST_TEXT = 200, 4 << 20
NO_PLACE = -1

Word = Annotated[str, Meta(max_length=_MOST_WORD)]
Count = Annotated[int, Meta(ge=0, le=1 << 40)]
Index = Annotated[int, Meta(ge=NO_PLACE, le=1 << 20)]
"""An index into another list; `NO_PLACE`: none."""


@dataclass(frozen=True)
class Frame:
    """A line (from 1) of one of `Listing.files`, given by its index."""

    file: Count
    line: Count


Place = Annotated[list[Frame], Meta(min_length=1, max_length=MOST_DEPTH)]
"""The line of an inlined function, then the line that calls the function, and so on outwards."""


@dataclass(frozen=True)
class SourceFile:
    """A source file of instructions; its text is empty if it is neither a file of the user nor of gemmviz."""

    name: Annotated[str, Meta(max_length=4096)]
    text: Annotated[str, Meta(max_length=_MOST_TEXT)] = ""


@dataclass(frozen=True)
class Instruction:
    """One instruction of SASS.

    Attributes
    ----------
    address
        The offset in bytes from the kernel's start.
    predicate
        The condition under which it is executed, for example ``"@!P0"``; empty: always.
    opcode
        With its modifiers: ``"LDS.128"``.
    operands
        As nvdisasm prints them.
    place
        Its place in `Listing.places`.
    ptx
        Its line in `Listing.ptx`.
    label
        The labels before it, ``".L_x_1"``, separated by spaces; empty if there is none.
    """

    address: Count
    predicate: Word
    opcode: Word
    operands: Annotated[str, Meta(max_length=MOST_OPERANDS)]
    place: Index = NO_PLACE
    ptx: Index = NO_PLACE
    label: Word = ""

    @property
    def stem(self) -> str:
        """The opcode without its modifiers: ``"LDS"``."""
        return self.opcode.partition(".")[0]

    @property
    def text(self) -> str:
        """The instruction as text."""
        return " ".join(part for part in (self.predicate, self.opcode, self.operands) if part)


@dataclass(frozen=True)
class PtxLine:
    """One line of PTX, and its place in `Listing.places`."""

    text: Annotated[str, Meta(max_length=MOST_PTX_LINE)]
    place: Index = NO_PLACE


@dataclass(frozen=True)
class Usage:
    """The resources of a thread or a block, as the assembler reports them.

    Attributes
    ----------
    registers
        Registers per thread.
    shared_bytes
        Static and dynamic shared memory per block.
    stack_bytes
        Local memory of a thread.
    spill_store_bytes, spill_load_bytes
        Registers of a thread that are moved to local memory and back.
    barriers
        Barriers per block.
    """

    registers: Count = 0
    shared_bytes: Count = 0
    stack_bytes: Count = 0
    spill_store_bytes: Count = 0
    spill_load_bytes: Count = 0
    barriers: Count = 0


@dataclass(frozen=True)
class Listing:
    """The machine code of a launch.

    Attributes
    ----------
    label
        The launch as text for people.
    entry
        The kernel's name in the machine code.
    architecture
        The architecture for which it was compiled.
    compiler
        Its name and version.
    integer
        Whether the kernel multiplies integers.
    threads
        The number of threads per block.
    usage
        Registers and memory.
    files
        The source files of instructions; the kernel's own file is the first one.
    places
        The places of instructions, each once.
    instructions
        In the order of their addresses.
    ptx
        The PTX of this kernel.
    architectures
        The architectures that the compiler knows.

    Raises
    ------
    ValueError
        When an index is out of range.
    """

    label: Annotated[str, Meta(max_length=MOST_LABEL)]
    entry: Annotated[str, Meta(max_length=1 << 16)]
    architecture: Word
    compiler: Word
    integer: bool
    threads: Count
    usage: Usage
    files: Annotated[list[SourceFile], Meta(min_length=1, max_length=MOST_FILES)]
    places: Annotated[list[Place], Meta(max_length=MOST_PLACES)] = field(default_factory=list)
    instructions: Annotated[list[Instruction], Meta(max_length=MOST_INSTRUCTIONS)] = field(default_factory=list)
    ptx: Annotated[list[PtxLine], Meta(max_length=MOST_PTX)] = field(default_factory=list)
    architectures: Annotated[list[Word], Meta(max_length=200)] = field(default_factory=list)

    def __post_init__(self) -> None:
        frames = max((frame.file for place in self.places for frame in place), default=0)
        places = max((*(one.place for one in self.instructions), *(one.place for one in self.ptx)), default=NO_PLACE)
        lines = max((one.ptx for one in self.instructions), default=NO_PLACE)
        if frames >= len(self.files) or places >= len(self.places) or lines >= len(self.ptx):
            raise ValueError("an index of this listing is out of range")

    def line(self, place: int, file: int = 0) -> int:
        """Return the line of a place in a file, for inlined calls the innermost one; 0 if there is none."""
        frames: Sequence[Frame] = self.places[place] if place >= 0 else ()
        return next((frame.line for frame in frames if frame.file == file), 0)

    def where(self, place: int) -> str:
        """Return a place as text: ``"tile.cuh:12, my.cu:40"``, the innermost call first."""
        frames: Sequence[Frame] = self.places[place] if place >= 0 else ()
        return ", ".join(f"{self.files[frame.file].name}:{frame.line}" for frame in frames)
