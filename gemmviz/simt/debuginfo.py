"""Reads a recorder's debug information: the source line of each instruction, the addresses of the shared arrays."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from elftools.dwarf.dwarf_expr import DWARFExprParser
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from gemmviz.backends.entry import ARGUMENTS
from gemmviz.simt import line_table
from gemmviz.simt.instruction_places import CodePlaces
from gemmviz.simt.shared_array import BARRIER, SharedArray
from gemmviz.simt.stack_sizes import largest_frame

_ELEMENT = {
    "float": "float32",
    "double": "float64",
    "int": "int32",
    "uint": "uint32",
    "short": "int16",
    "ushort": "uint16",
    "char": "int8",
    "uchar": "uint8",
    "longlong": "int64",
    "ulonglong": "uint64",
    "__half": "float16",
    "__nv_bfloat16": "bfloat16",
    "__nv_fp8_e4m3": "float8_e4m3fn",
    "__nv_fp8_e5m2": "float8_e5m2",
}
_VECTOR = re.compile(rf"({'|'.join(_ELEMENT)})([24])")
# An address and its (line, column) in the kernel's file; a line below 0 means another file.
Line = tuple[int, tuple[int, int]]
_NOWHERE, _HEADER = -1, -2
_AGGREGATE = ("DW_TAG_structure_type", "DW_TAG_union_type", "DW_TAG_class_type")
_TLS = ("DW_OP_GNU_push_tls_address", "DW_OP_form_tls_address")


def read_debug_info(library: Path, source_name: str) -> CodePlaces:
    """Read the debug information of `library`; see `gemmviz.simt.code_places.code_places`, which keeps it."""
    with library.open("rb") as stream:
        elf = ELFFile(stream)
        # The debug sections of a shared library need no relocation.
        dwarf = elf.get_dwarf_info(relocate_dwarf_sections=False, follow_links=False)
        anchor, entry = (_address(elf, name) for name in ("gv_anchor", "gv_entry"))
        lines: list[tuple[int, tuple[int, int]]] = []
        shared: list[SharedArray] = []
        variables: list[SharedArray] = []
        by_gcc = False
        for unit in dwarf.iter_CUs():
            mine = list(_lines(dwarf, unit, source_name))
            producer = unit.get_top_DIE().attributes.get("DW_AT_producer")
            gnu = bool(mine) and producer is not None and producer.value.startswith(b"GNU")
            headers = gnu or any(line == _HEADER for _, (line, _) in mine)
            lines += _called(dwarf, unit, source_name, mine) if headers else mine
            found = list(_variables(unit))
            shared += [replace(one, offset=one.offset - anchor) for one, is_shared in found if is_shared]
            variables += [one for one, is_shared in found if not is_shared]
            by_gcc |= gnu
        guards = [value - anchor for value in _guards(elf)] if by_gcc else []
        code = elf.get_section_by_name(".text")
        frame = largest_frame(elf.get_machine_arch(), code.data()) if code else None
    lines.sort(key=lambda row: row[0])
    unique = {array.offset: array for array in shared if array.name != "gv_anchor"}
    arrays = sorted(unique.values(), key=lambda a: a.name)
    variables.sort(key=lambda one: one.offset)
    return CodePlaces([a for a, _ in lines], [p for _, p in lines], arrays, guards, entry, variables, frame)


def _address(elf: Any, name: str) -> int:
    # The table of hashes finds a symbol without reading all of them.
    hashes, exported = (elf.get_section_by_name(section) for section in (".gnu.hash", ".dynsym"))
    found = [hashes.get_symbol(name)] if hashes else (exported and exported.get_symbol_by_name(name)) or ()
    for symbol in filter(None, found):
        return int(symbol["st_value"])
    raise LookupError(f"the recorder has no symbol {name}")


def _lines(dwarf: Any, unit: Any, source_name: str) -> Iterator[tuple[int, tuple[int, int]]]:
    program = dwarf.line_program_for_CU(unit)
    if program is None:
        return
    files = program["file_entry"]
    first = 0 if program["version"] >= 5 else 1
    names = [Path(file.name.decode(errors="replace")).name for file in files]
    of_kernel, of_call = ({n for n, name in enumerate(names, first) if name == w} for w in (source_name, ARGUMENTS))
    program.stream.seek(program.program_start_offset)
    code = program.stream.read(program.program_end_offset - program.program_start_offset)
    for row in line_table.rows(code, program.header):
        # An end of a sequence or another file ends the kernel's lines: no search goes past a negative line.
        other = _NOWHERE if row.ends or row.file in of_call else _HEADER
        yield row.address, (row.line, row.column) if row.file in of_kernel and not row.ends else (other, 0)


def _called(dwarf: Any, unit: Any, source_name: str, lines: list[Line]) -> list[Line]:
    """Give code that is inlined from headers the line of the call in the kernel.

    The recorder's own headers need this with GCC only: Clang has the attribute ``nodebug``.
    """
    lines = sorted(lines, key=lambda row: row[0])
    addresses = [address for address, _ in lines]
    found = dict(lines)
    # Inner calls come after the outer calls and replace their lines.
    for low, high, place in sorted(_inlined(dwarf, unit, source_name), key=lambda call: call[0] - call[1]):
        before = bisect_right(addresses, low) - 1
        if before >= 0 and lines[before][1][0] < 0:
            found[low] = place
        for address, (line, _) in lines[bisect_left(addresses, low) : bisect_left(addresses, high)]:
            if line < 0:
                found[address] = place
    return list(found.items())


def _inlined(dwarf: Any, unit: Any, source_name: str) -> Iterator[tuple[int, int, tuple[int, int]]]:
    """Yield the range of addresses of each inlined call in the kernel's own file, with its line and column."""
    program = dwarf.line_program_for_CU(unit)
    files = program["file_entry"]
    first = 0 if program["version"] >= 5 else 1
    base = unit.get_top_DIE().attributes.get("DW_AT_low_pc")
    for die in unit.iter_DIEs():
        if die.tag != "DW_TAG_inlined_subroutine" or "DW_AT_call_line" not in die.attributes:
            continue
        index = die.attributes["DW_AT_call_file"].value - first
        name = files[index].name.decode(errors="replace") if 0 <= index < len(files) else ""
        if Path(name).name != source_name:
            continue
        column = die.attributes.get("DW_AT_call_column")
        place = die.attributes["DW_AT_call_line"].value, column.value if column else 0
        for low, high in _ranges(dwarf, unit, die, base.value if base else 0):
            yield low, high, place


def _ranges(dwarf: Any, unit: Any, die: Any, base: int) -> Iterator[tuple[int, int]]:
    if "DW_AT_ranges" in die.attributes:
        for entry in dwarf.range_lists().get_range_list_at_offset(die.attributes["DW_AT_ranges"].value, cu=unit):
            if hasattr(entry, "begin_offset"):
                start = 0 if getattr(entry, "is_absolute", False) else base
                yield start + entry.begin_offset, start + entry.end_offset
            else:
                base = entry.base_address
    elif "DW_AT_low_pc" in die.attributes:
        low, high = die.attributes["DW_AT_low_pc"].value, die.attributes["DW_AT_high_pc"]
        yield low, high.value if high.form == "DW_FORM_addr" else low + high.value


def _guards(elf: Any) -> Iterator[int]:
    for section in elf.iter_sections():
        if isinstance(section, SymbolTableSection):
            for symbol in section.iter_symbols():
                if symbol.name.startswith("_ZGV") and symbol["st_info"]["type"] == "STT_TLS":
                    yield int(symbol["st_value"])


def _variables(unit: Any) -> Iterator[tuple[SharedArray, bool]]:
    """Yield the arrays in shared memory and in other memory that can be written, and whether each one is shared."""
    parser = DWARFExprParser(unit.structs)
    for die in unit.iter_DIEs():
        location = die.attributes.get("DW_AT_location")
        if die.tag != "DW_TAG_variable" or location is None or not isinstance(location.value, list):
            continue
        operations = parser.parse_expr(location.value)
        if not operations or not operations[0].args:
            continue
        is_shared = operations[-1].op_name in _TLS
        if not is_shared and [one.op_name for one in operations] != ["DW_OP_addr"]:
            continue
        origin = _attribute_die(die, "DW_AT_specification") or _attribute_die(die, "DW_AT_abstract_origin") or die
        named = die.attributes.get("DW_AT_name") or origin.attributes.get("DW_AT_name")
        if named is None:  # a text of the source
            continue
        name = named.value.decode()
        kind = _attribute_die(die, "DW_AT_type") or _attribute_die(origin, "DW_AT_type")
        if is_shared or not _is_const(kind):
            yield from ((one, is_shared) for one in _arrays(name, operations[0].args[0], kind))


def _arrays(name: str, offset: int, kind: Any) -> Iterator[SharedArray]:
    """Yield a variable as one array, or a structure as its members, which are the arrays in the source."""
    kind = _plain(kind)
    if kind is not None and kind.tag == "DW_TAG_array_type" and _is_one(kind):  # dynamic: one structure in total
        kind = _plain(_attribute_die(kind, "DW_AT_type"))
    if kind is not None and kind.tag in _AGGREGATE and kind.tag != "DW_TAG_union_type" and not _known(kind):
        for member in _members(kind):
            inside = f"{name}.{member.attributes['DW_AT_name'].value.decode()}"
            place = member.attributes.get("DW_AT_data_member_location")
            yield from _arrays(inside, offset + (place.value if place else 0), _attribute_die(member, "DW_AT_type"))
        return
    shape, dtype = _type(kind)
    yield SharedArray(name, offset, shape, dtype)


def _is_const(die: Any) -> bool:
    while die is not None and die.tag in ("DW_TAG_typedef", "DW_TAG_array_type", "DW_TAG_volatile_type"):
        die = _attribute_die(die, "DW_AT_type")
    return die is not None and die.tag == "DW_TAG_const_type"


def _plain(die: Any) -> Any:
    """Return a type without the names and qualifiers around it."""
    while die is not None and die.tag in ("DW_TAG_typedef", "DW_TAG_const_type", "DW_TAG_volatile_type"):
        die = _attribute_die(die, "DW_AT_type")
    return die


def _is_one(array: Any) -> bool:
    """Return whether an array has one element, a structure with members that are arrays."""
    element = _plain(_attribute_die(array, "DW_AT_type"))
    extents = [_extent(child) for child in array.iter_children() if child.tag == "DW_TAG_subrange_type"]
    if extents != [1] or element is None or element.tag != "DW_TAG_structure_type" or _known(element):
        return False
    kinds = [_plain(_attribute_die(member, "DW_AT_type")) for member in _members(element)]
    return any(kind is not None and kind.tag == "DW_TAG_array_type" for kind in kinds)


def _known(die: Any) -> tuple[tuple[int, ...], str] | None:
    """Return shape and dtype of the structures of CUDA: vectors, and numbers of CUDA's own types."""
    name = die.attributes.get("DW_AT_name")
    text = name.value.decode() if name else ""
    if text == "barrier" and die.attributes["DW_AT_byte_size"].value == 8:
        return (), BARRIER
    vector = _VECTOR.fullmatch(text)
    if vector is not None:
        return (int(vector[2]),), _ELEMENT[vector[1]]
    return ((), _ELEMENT[text]) if text in _ELEMENT else None


def _members(die: Any) -> list[Any]:
    return [m for m in die.iter_children() if m.tag == "DW_TAG_member" and "DW_AT_name" in m.attributes]


def _type(die: Any) -> tuple[tuple[int, ...], str]:
    """Return (shape, NumPy dtype) of a type; a scalar has shape (1,)."""
    shape: list[int] = []
    while die is not None and die.tag != "DW_TAG_base_type":
        if die.tag == "DW_TAG_array_type":
            shape += [_extent(child) for child in die.iter_children() if child.tag == "DW_TAG_subrange_type"]
        elif die.tag in _AGGREGATE:
            # An array of structures is shown as an array of their members, with one more dimension.
            known = _known(die)
            inner, dtype = known or _flat(die)
            if known is not None and inner and len(shape) == 1:
                return (shape[0] * inner[0],), dtype  # a line of vectors is one of numbers
            return (*shape, *inner) or (1,), dtype
        die = _attribute_die(die, "DW_AT_type")
    if die is None:
        return tuple(shape) or (1,), "u1"
    size = die.attributes["DW_AT_byte_size"].value
    encoding = die.attributes["DW_AT_encoding"].value
    letter = {4: "float", 5: "int", 7: "uint", 6: "int", 8: "uint", 2: "uint"}.get(encoding, "uint")
    return tuple(shape) or (1,), f"{letter}{8 * size}"


def _flat(die: Any) -> tuple[tuple[int, ...], str]:
    """Return the bytes of a structure or union as numbers of one type: the type of all members if it is the same.

    If the types differ, the numbers are words of the smallest member's size, so that no two members share an element.
    """
    size: int = die.attributes["DW_AT_byte_size"].value
    kinds = {_type(_attribute_die(member, "DW_AT_type"))[1] for member in _members(die)}
    width = min((np.dtype(kind).itemsize for kind in kinds), default=1)
    dtype = kinds.pop() if len(kinds) == 1 else f"uint{8 * width}"
    return (size // width,), dtype


def _extent(subrange: Any) -> int:
    count = subrange.attributes.get("DW_AT_count")
    if count is not None:
        return int(count.value)
    upper = subrange.attributes.get("DW_AT_upper_bound")
    # An array without elements has the bound -1. Some compilers write it as an unsigned number.
    return (int(upper.value) + 1) % 2**64 if upper is not None else 0


def _attribute_die(die: Any, name: str) -> Any:
    return die.get_DIE_from_attribute(name) if name in die.attributes else None
