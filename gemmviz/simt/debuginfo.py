"""Reads a recorder's debug information: which source line an instruction comes from, where shared arrays lie."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from elftools.dwarf.dwarf_expr import DWARFExprParser
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

_VECTOR = re.compile(r"(float|double|int|uint|short|ushort|char|uchar|__half)([24])")
_ELEMENT = {
    "float": "float32",
    "double": "float64",
    "int": "int32",
    "uint": "uint32",
    "short": "int16",
    "ushort": "uint16",
    "char": "int8",
    "uchar": "uint8",
    "__half": "float16",
}
_TLS = ("DW_OP_GNU_push_tls_address", "DW_OP_form_tls_address")


@dataclass(frozen=True)
class SharedArray:
    """A ``__shared__`` array as the compiler laid it out: name, distance in bytes from the anchor, shape, dtype."""

    name: str
    offset: int
    shape: tuple[int, ...]
    dtype: str


@dataclass(frozen=True)
class DebugInfo:
    """Lines and shared arrays of one shared library; addresses are relative to where it is loaded."""

    addresses: list[int]
    places: list[tuple[int, int]]
    shared: list[SharedArray]

    def place(self, address: int) -> tuple[int, int]:
        """Return (line, column) in the kernel's file of the instruction at `address`; (0, 0) when it is not from there.

        An instruction that the compiler gave no line of its own was mostly moved up, out of a loop: it gets the line of
        the next one that has one.
        """
        index = bisect_right(self.addresses, address) - 1
        if index < 0:
            return (0, 0)
        while index + 1 < len(self.places) and self.places[index][0] == 0:
            index += 1
        line, column = self.places[index]
        return (line, column) if line > 0 else (0, 0)


def read(library: Path, source_name: str) -> DebugInfo:
    """Read the debug information of `library`.

    Parameters
    ----------
    library
        What `gemmviz.simt.build.build` made.
    source_name
        The kernel file's name, whose lines count.
    """
    with library.open("rb") as stream:
        elf = ELFFile(stream)
        dwarf = elf.get_dwarf_info()
        anchor = _symbol(elf, "gv_anchor")
        lines: list[tuple[int, tuple[int, int]]] = []
        shared: list[SharedArray] = []
        for unit in dwarf.iter_CUs():
            lines += _lines(dwarf, unit, source_name)
            shared += _shared(unit, anchor)
    lines.sort(key=lambda row: row[0])
    unique = {array.offset: array for array in shared if array.name != "gv_anchor"}
    return DebugInfo([a for a, _ in lines], [p for _, p in lines], sorted(unique.values(), key=lambda a: a.name))


def symbol_address(library: Path, name: str) -> int:
    """Return the address of a function in the file `library`.

    Raises
    ------
    LookupError
        When it has no such symbol.
    """
    with library.open("rb") as stream:
        return _symbol(ELFFile(stream), name)


def _symbol(elf: Any, name: str) -> int:
    for section in elf.iter_sections():
        if isinstance(section, SymbolTableSection):
            for symbol in section.get_symbol_by_name(name) or ():
                return int(symbol["st_value"])
    raise LookupError(f"the recorder has no symbol {name}")


def _lines(dwarf: Any, unit: Any, source_name: str) -> Iterator[tuple[int, tuple[int, int]]]:
    program = dwarf.line_program_for_CU(unit)
    if program is None:
        return
    files = program["file_entry"]
    first = 0 if program["version"] >= 5 else 1
    for entry in program.get_entries():
        state = entry.state
        if state is None:
            continue
        index = state.file - first
        name = files[index].name.decode(errors="replace") if 0 <= index < len(files) else ""
        mine = Path(name).name == source_name
        # Ends of sequences and other files close the kernel's lines: a negative line is never looked past.
        yield state.address, (state.line, state.column) if mine and not state.end_sequence else (-1, 0)


def _shared(unit: Any, anchor: int) -> Iterator[SharedArray]:
    parser = DWARFExprParser(unit.structs)
    for die in unit.iter_DIEs():
        location = die.attributes.get("DW_AT_location")
        if die.tag != "DW_TAG_variable" or location is None or not isinstance(location.value, list):
            continue
        operations = parser.parse_expr(location.value)
        if not operations or operations[-1].op_name not in _TLS or not operations[0].args:
            continue
        origin = _attribute_die(die, "DW_AT_specification") or _attribute_die(die, "DW_AT_abstract_origin") or die
        name = (die.attributes.get("DW_AT_name") or origin.attributes["DW_AT_name"]).value.decode()
        kind = _attribute_die(die, "DW_AT_type") or _attribute_die(origin, "DW_AT_type")
        shape, dtype = _type(kind)
        yield SharedArray(name, operations[0].args[0] - anchor, shape, dtype)


def _type(die: Any) -> tuple[tuple[int, ...], str]:
    """Return (shape, NumPy dtype) of a type; a scalar has shape (1,)."""
    shape: list[int] = []
    while die is not None and die.tag != "DW_TAG_base_type":
        if die.tag == "DW_TAG_array_type":
            shape += [_extent(child) for child in die.iter_children() if child.tag == "DW_TAG_subrange_type"]
        elif die.tag in ("DW_TAG_structure_type", "DW_TAG_union_type", "DW_TAG_class_type"):
            name = die.attributes.get("DW_AT_name")
            vector = _VECTOR.fullmatch(name.value.decode() if name else "")
            if vector is None:
                return tuple(shape) or (1,), f"V{die.attributes['DW_AT_byte_size'].value}"
            # An array of vectors is shown as what it holds: one dimension more.
            return (*shape, int(vector[2])), _ELEMENT[vector[1]]
        die = _attribute_die(die, "DW_AT_type")
    if die is None:
        return tuple(shape) or (1,), "u1"
    size = die.attributes["DW_AT_byte_size"].value
    encoding = die.attributes["DW_AT_encoding"].value
    letter = {4: "float", 5: "int", 7: "uint", 6: "int", 8: "uint", 2: "uint"}.get(encoding, "uint")
    return tuple(shape) or (1,), f"{letter}{8 * size}"


def _extent(subrange: Any) -> int:
    count = subrange.attributes.get("DW_AT_count")
    if count is not None:
        return int(count.value)
    upper = subrange.attributes.get("DW_AT_upper_bound")
    return int(upper.value) + 1 if upper is not None else 0


def _attribute_die(die: Any, name: str) -> Any:
    return die.get_DIE_from_attribute(name) if name in die.attributes else None
