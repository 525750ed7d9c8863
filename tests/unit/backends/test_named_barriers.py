"""The number of named barriers in machine code: as the assembler reports it, and None for anything unexpected."""

import re
from pathlib import Path

import pytest
from listings import needs_tools

from gemmviz.assembly.compiled import compiled
from gemmviz.assembly.toolkit import toolkit
from gemmviz.assembly.usage import usage
from gemmviz.backends.named_barriers import named_barriers
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem

ENTRY = "_Z1kv"
HEAD, SECTION = 64, 64


def elf(flags: int, facts: bytes, entry: str = ENTRY) -> bytes:
    """Return the least ELF file with a kernel's code and its attributes."""
    names = b"\0.shstrtab\0.text." + entry.encode() + b"\0.nv.info." + entry.encode() + b"\0"
    head = b"\x7fELF\x02\x01\x01" + bytes(9)
    fields = [(2, 2), (190, 2), (1, 4), (0, 8), (0, 8), (HEAD, 8), (0, 4), (HEAD, 2), (0, 2), (0, 2), (SECTION, 2)]
    head += b"".join(value.to_bytes(size, "little") for value, size in [*fields, (4, 2), (1, 2)])
    start = HEAD + 4 * SECTION

    def section(name: bytes, kind: int, flags: int, place: int, size: int) -> bytes:
        at = names.index(name + b"\0") if name else 0
        values = [(at, 4), (kind, 4), (flags, 8), (0, 8), (place, 8), (size, 8), (0, 4), (0, 4), (1, 8), (0, 8)]
        return b"".join(value.to_bytes(size, "little") for value, size in values)

    sections = [
        section(b"", 0, 0, 0, 0),
        section(b".shstrtab", 3, 0, start, len(names)),
        section(b".text." + entry.encode(), 1, flags, start, 0),
        section(b".nv.info." + entry.encode(), 0x7000_0000, 0x40, start + len(names), len(facts)),
    ]
    return head + b"".join(sections) + names + facts


# An attribute of each form before the number, one with a payload that looks like it, and one after it.
BEFORE = bytes.fromhex("01350000 04660400024c0500 03500000 02030700")
AFTER = bytes.fromhex("035f0101 041c040090000000")


def told(tmp_path: Path, content: bytes, entry: str = ENTRY) -> int | None:
    file = tmp_path / "kernel.cubin"
    file.write_bytes(content)
    return named_barriers(file, entry)


@pytest.mark.parametrize(
    ("flags", "attribute", "number"),
    [
        (0x6, "024c1000", 16),
        (0x6, "024c0100", 1),
        (0x6, "", 0),
        # CUDA 12 has no attribute, but flags: measured with NVRTC 12.0 and 12.4, which nvdisasm calls SHF_BARRIERS.
        (0x1000006, "", 16),
        (0x100006, "", 1),
        (0x6, "024c1100", None),
        (0x6, "09000000", None),
        (0x6, "04660800", None),
    ],
)
def test_the_number_is_an_attribute_or_in_the_flags_of_the_code(tmp_path, flags, attribute, number):
    assert told(tmp_path, elf(flags, BEFORE + bytes.fromhex(attribute) + AFTER)) == number


def test_a_kernel_or_file_that_is_not_there_has_no_number(tmp_path):
    assert told(tmp_path, elf(0x6, AFTER), "_Z5otherv") is None
    assert named_barriers(tmp_path / "none.cubin", ENTRY) is None
    assert named_barriers(tmp_path, ENTRY) is None
    for content in (b"", b"\x7fELF", b"//\n.version 9.0\n.target sm_90\n", bytes(4096)):
        assert told(tmp_path, content) is None


def test_a_damaged_file_never_raises(tmp_path):
    content = elf(0x6, BEFORE + bytes.fromhex("024c1000") + AFTER)
    assert told(tmp_path, content) == 16
    answers = [told(tmp_path, content[:length]) for length in range(0, len(content), 7)]
    assert not any(answers)
    for at in range(len(content)):
        for wrong in (0x00, 0x7F, 0xFF):
            damaged = content[:at] + bytes([wrong]) + content[at + 1 :]
            found = told(tmp_path, damaged)
            assert found is None or 0 <= found <= 16


@needs_tools
@pytest.mark.parametrize(
    ("name", "params", "number"),
    [("matmul_kernel_naive", {}, 0), ("gputiled", {}, 1), ("every_shape", {"STAGES": 4}, 16), ("fp8_promoted", {}, 16)],
)
def test_it_is_the_number_that_the_assembler_reports(tmp_path, name, params, number):
    made = compiled(launch(find(name, ladder()), Problem.cube(256), params), "sm_90a", toolkit(), tmp_path)
    found = named_barriers(made.cubin, made.entry)
    assert found == number
    if re.search(r"used \d+ barriers", made.log):
        assert found == usage(made.log, made.entry, 0).barriers
    # The kernel that describes the types of the parameters is in the same file, and waits for nothing.
    assert named_barriers(made.cubin, "gv_describe") == 0
