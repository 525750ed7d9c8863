"""A kernel's machine code as data: instructions (SASS), PTX, their source lines, and what the compiler used.

It goes through the engine's pipe, so each text and list has a limit, and each number that is an index is checked.
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
"""The line of a function's text, then the line that calls the function, and so on outwards: calls that are inlined."""


@dataclass(frozen=True)
class SourceFile:
    """A file that instructions come from; its text is empty where it is no file of the user's or of gemmviz."""

    name: Annotated[str, Meta(max_length=4096)]
    text: Annotated[str, Meta(max_length=_MOST_TEXT)] = ""


@dataclass(frozen=True)
class Instruction:
    """One instruction of SASS.

    Attributes
    ----------
    address
        In bytes, from the kernel's start.
    predicate
        The condition under which it is executed, for example ``"@!P0"``; empty: always.
    opcode
        With its modifiers: ``"LDS.128"``.
    operands
        As nvdisasm writes them.
    place
        Its place in `Listing.places`.
    ptx
        Its line in `Listing.ptx`.
    label
        The labels in front of it, ``".L_x_1"``, with spaces between them; empty without one.
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
        """The instruction as people write it."""
        return " ".join(part for part in (self.predicate, self.opcode, self.operands) if part)


@dataclass(frozen=True)
class PtxLine:
    """One line of PTX, and its place in `Listing.places`."""

    text: Annotated[str, Meta(max_length=MOST_PTX_LINE)]
    place: Index = NO_PLACE


@dataclass(frozen=True)
class Usage:
    """What a thread or a block uses, as the assembler says.

    Attributes
    ----------
    registers
        Of a thread.
    shared_bytes
        Of a block: static and dynamic.
    stack_bytes
        Local memory of a thread.
    spill_store_bytes, spill_load_bytes
        Registers of a thread that are moved to local memory and back.
    barriers
        That a block uses.
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
        The launch as people read it.
    entry
        The kernel's name in the machine code.
    architecture
        That it was compiled for.
    compiler
        Name and version.
    integer
        Whether the kernel multiplies whole numbers.
    threads
        Of a block.
    usage
        Registers and memory.
    files
        The files that instructions come from; the kernel's own is the first one.
    places
        The places of instructions, each once.
    instructions
        In the order of their addresses.
    ptx
        The kernel's part of PTX.
    architectures
        Those that the compiler knows.

    Raises
    ------
    ValueError
        When an index points to nothing.
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
            raise ValueError("an index of this listing points to nothing")

    def line(self, place: int, file: int = 0) -> int:
        """Return the line of a file that a place stands on, the innermost one of inlined calls; 0: none."""
        frames: Sequence[Frame] = self.places[place] if place >= 0 else ()
        return next((frame.line for frame in frames if frame.file == file), 0)

    def where(self, place: int) -> str:
        """Return a place in words: ``"tile.cuh:12, my.cu:40"``, the innermost call first."""
        frames: Sequence[Frame] = self.places[place] if place >= 0 else ()
        return ", ".join(f"{self.files[frame.file].name}:{frame.line}" for frame in frames)
