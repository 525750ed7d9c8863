"""Runs a line-number program of DWARF. Its result is the file, line and column of each instruction of a library.

Every recording waits for this. pyelftools makes an object of every operation and takes 20 times as long (measured).
The rules are those of DWARF 5, section 6.2 (https://dwarfstd.org/doc/DWARF5.pdf).
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

# Standard opcodes, and the extended opcodes, which follow a zero byte (DWARF 5, 7.22).
_EXTENDED, _COPY, _ADVANCE_PC, _ADVANCE_LINE, _SET_FILE, _SET_COLUMN = range(6)
_CONST_ADD_PC, _FIXED_ADVANCE_PC = 8, 9
_END_SEQUENCE, _SET_ADDRESS = 1, 2


class Row(NamedTuple):
    """The source place of the instructions from `address` to the next row, or the end of a sequence.

    Attributes
    ----------
    address
        The address in the library.
    file
        The number of the file in the program's header.
    line, column
        From 1; 0 if the compiler gives none.
    ends
        Whether a sequence of instructions ends before `address`.
    """

    address: int
    file: int
    line: int
    column: int
    ends: bool


def rows(code: bytes, header: Mapping[str, Any]) -> Iterator[Row]:
    """Yield the rows of a line table, in the order of the program.

    Parameters
    ----------
    code
        The program, without its header.
    header
        Its header, with the field names of DWARF. The architecture has no bundles of instructions.
    """
    first_special, least_line, lines = header["opcode_base"], header["line_base"], header["line_range"]
    unit, operands = header["minimum_instruction_length"], header["standard_opcode_lengths"]
    at, address, file, line, column = 0, 0, 1, 1, 0
    while at < len(code):
        opcode = code[at]
        at += 1
        if opcode >= first_special:
            steps, more = divmod(opcode - first_special, lines)
            address += steps * unit
            line += least_line + more
            yield Row(address, file, line, column, False)
        elif opcode == _COPY:
            yield Row(address, file, line, column, False)
        elif opcode == _ADVANCE_PC:
            steps, at = _unsigned(code, at)
            address += steps * unit
        elif opcode == _ADVANCE_LINE:
            more, at = _signed(code, at)
            line += more
        elif opcode == _SET_FILE:
            file, at = _unsigned(code, at)
        elif opcode == _SET_COLUMN:
            column, at = _unsigned(code, at)
        elif opcode == _CONST_ADD_PC:
            address += (255 - first_special) // lines * unit
        elif opcode == _FIXED_ADVANCE_PC:
            address += int.from_bytes(code[at : at + 2], "little")
            at += 2
        elif opcode == _EXTENDED:
            length, at = _unsigned(code, at)
            if code[at] == _END_SEQUENCE:
                yield Row(address, file, line, column, True)
                address, file, line, column = 0, 1, 1, 0
            elif code[at] == _SET_ADDRESS:
                address = int.from_bytes(code[at + 1 : at + length], "little")
            at += length
        else:  # no information about the source place
            for _ in range(operands[opcode - 1]):
                _, at = _unsigned(code, at)


def _unsigned(code: bytes, at: int) -> tuple[int, int]:
    """Return the LEB128 number at a position, and the position after it (DWARF 5, 7.6)."""
    value = shift = 0
    while code[at] & 0x80:
        value |= (code[at] & 0x7F) << shift
        shift += 7
        at += 1
    return value | code[at] << shift, at + 1


def _signed(code: bytes, at: int) -> tuple[int, int]:
    value, after = _unsigned(code, at)
    bits = 7 * (after - at)
    return value - (1 << bits) if value >> (bits - 1) else value, after
