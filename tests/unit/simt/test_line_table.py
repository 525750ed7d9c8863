"""Line tables: as pyelftools reads them, for a kernel as compilers make it, and rules that no kernel here needs."""

import pytest
from elftools.elf.elffile import ELFFile

from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.simt.build import build
from gemmviz.simt.line_table import Row, rows

HEADER = {
    "opcode_base": 13,
    "line_base": -5,
    "line_range": 14,
    "minimum_instruction_length": 4,
    "standard_opcode_lengths": [0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1],
}
COPY, ADVANCE_PC, ADVANCE_LINE, SET_FILE, SET_COLUMN, NEGATE, BASIC_BLOCK, CONST_ADD_PC, FIXED_ADVANCE = range(1, 10)
PROLOGUE_END, EPILOGUE_BEGIN, SET_ISA = 10, 11, 12


@pytest.mark.sweep("as compiled-gputiled", "as written-mma_pipeline")
@pytest.mark.parametrize("name", ["gputiled", "warp_tiling", "mma_pipeline", "simd_threads"])
@pytest.mark.parametrize("as_written", [False, True], ids=["as compiled", "as written"])
def test_the_rows_of_a_rung_are_those_that_pyelftools_finds(name: str, as_written: bool) -> None:
    compared = 0
    with build(launch(find(name, ladder()), Problem.cube(128)), as_written=as_written).open("rb") as stream:
        dwarf = ELFFile(stream).get_dwarf_info(relocate_dwarf_sections=False, follow_links=False)
        for unit in dwarf.iter_CUs():
            program = dwarf.line_program_for_CU(unit)
            states = [entry.state for entry in program.get_entries() if entry.state is not None]
            program.stream.seek(program.program_start_offset)
            code = program.stream.read(program.program_end_offset - program.program_start_offset)
            theirs = [Row(s.address, s.file, s.line, s.column, s.end_sequence) for s in states]
            assert list(rows(code, program.header)) == theirs
            compared += len(theirs)
    assert compared > 50


def test_each_opcode_does_what_the_standard_says() -> None:
    address = bytes([0, 9, 2]) + (0x1000).to_bytes(8, "little")
    code = address + bytes(
        [
            *(SET_FILE, 2, SET_COLUMN, 0x80 | 5, 1, ADVANCE_LINE, 9, COPY),  # column 133, line 10
            *(ADVANCE_PC, 0x80 | 1, 1, ADVANCE_LINE, 0x7D, COPY),  # 129 instructions on, 3 lines back
            *(FIXED_ADVANCE, 0x02, 0x01, NEGATE, BASIC_BLOCK, PROLOGUE_END, EPILOGUE_BEGIN, SET_ISA, 7, COPY),
            *(CONST_ADD_PC, 13 + 14 * 2 + 6),  # (255 - 13) // 14 instructions on; then 2 of these, and a line
            *(0, 2, 4, 3),  # a discriminator
            *(0, 1, 1, COPY),
        ]
    )
    assert list(rows(code, HEADER)) == [
        Row(0x1000, 2, 10, 133, False),
        Row(0x1000 + 4 * 129, 2, 7, 133, False),
        Row(0x1000 + 4 * 129 + 0x102, 2, 7, 133, False),
        Row(0x1000 + 4 * (129 + 17 + 2) + 0x102, 2, 8, 133, False),
        Row(0x1000 + 4 * (129 + 17 + 2) + 0x102, 2, 8, 133, True),
        Row(0, 1, 1, 0, False),
    ]
