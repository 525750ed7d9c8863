"""Reads nvdisasm's listing of machine code, printed by ``nvdisasm -c -gi -gp``.

Before an instruction are its source lines, if they differ from those of the previous instruction::

    //## File "/…/tile.cuh", line 7 inlined at "/…/my.cu", line 30
    //## File "/…/my.cu", line 30
    //## File ".nv_debug_ptx_txt", line 59
    /*0010*/              @!P0 LDS.128 R4, [R2+0x10] ;

The first two lines are a place: the function's line, and the call that was inlined. The third is the line of PTX. Each
is valid until the next one.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

Raw = tuple[tuple[str, int], ...]
"""File names with lines, the innermost call first."""
_SECTION = re.compile(r"^\s*\.section\s+\.text\.([^,\s]+)")
_FILE = re.compile(r'^\s*//## File "(?P<file>[^"]*)", line (?P<line>\d+)')
_LABEL = re.compile(r"^\s*(\.L_\w+):")
_INSTRUCTION = re.compile(r"^\s*/\*(?P<address>[0-9a-f]{4,})\*/\s+(?P<text>.*?)\s*;")
_PARTS = re.compile(r"(?:(?P<predicate>@!?\w+)\s+)?(?P<opcode>[A-Z][\w.]*)\s*(?P<operands>.*)", re.DOTALL)
_PTX = ".nv_debug_ptx_txt"


@dataclass(frozen=True)
class Row:
    """An instruction of the listing: see `gemmviz.assembly.listing.Instruction`; `ptx` is a line of the whole PTX."""

    address: int
    predicate: str
    opcode: str
    operands: str
    place: Raw
    ptx: int
    label: str


def rows(text: str, entry: str) -> Iterator[Row]:
    """Yield the instructions of one kernel.

    Parameters
    ----------
    text
        nvdisasm's output.
    entry
        The kernel's name in the machine code.
    """
    inside, label = False, ""
    place: Raw = ()
    group: list[tuple[str, int]] = []
    ptx = 0
    for line in text.splitlines():
        if section := _SECTION.match(line):
            inside, place, ptx, label = section[1] == entry, (), 0, ""
        elif not inside:
            continue
        elif named := _FILE.match(line):
            if named["file"].startswith(_PTX):
                ptx = int(named["line"])
            else:
                group.append((named["file"], int(named["line"])))
        elif marked := _LABEL.match(line):
            label = f"{label} {marked[1]}".strip()
        elif found := _INSTRUCTION.match(line):
            if group:
                place, group = tuple(group), []
            parts = _PARTS.fullmatch(found["text"])
            if parts is not None:
                operands = " ".join(parts["operands"].split())
                address = int(found["address"], 16)
                yield Row(address, parts["predicate"] or "", parts["opcode"], operands, place, ptx, label)
                label = ""
