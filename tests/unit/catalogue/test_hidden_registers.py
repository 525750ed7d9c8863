"""Registers of inline PTX with the names that the compiler gives: a warning, where operands may be hidden."""

from pathlib import Path

import pytest

from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.ladder import ladder

MATTER = '// ---gemmviz\n// entry = "k"\n// args = ["A", "B", "C"]\n// block = [32]\n// grid = [1]\n// ---\n'
HEAD = "__global__ void k(const float *A, const float *B, float *C)\n{\n    unsigned x = 1;\n"
WITH_OPERAND = """    asm volatile("{\\n"
        {declared}
        "add.u32 %%t, %0, 1;\\n mov.u32 %0, %%t; }\\n" : "+r"(x));
"""


def notes(declared: str, statement: str = WITH_OPERAND) -> tuple[str, ...]:
    return parse(f"{MATTER}{HEAD}{statement.replace('{declared}', declared)}}}\n", Path("mine.cu")).notes


@pytest.mark.parametrize(
    ("declared", "name"),
    [
        ('".reg .b32 %%r<8>;\\n"', "%r<8>"),
        ('".reg .b32 %%t;\\n" ".reg .pred %%p1;"', "%p1"),
        ('".reg .b64 %%t, %%rd4;"', "%rd4"),
        ('"  .reg.f32 %%t; .reg .f64 %%fd<2>;"', "%fd<2>"),
    ],
)
def test_a_name_that_the_compiler_gives_is_warned_of_with_its_line(declared: str, name: str) -> None:
    (note,) = notes(declared)
    assert note.startswith(f"mine.cu:11: {name} may hide a register of the compiler")


@pytest.mark.parametrize(
    "declared",
    [
        '".reg .b32 %%t;"',
        '".reg .b32 r<8>, p1;"',
        '".reg .b32 %%row0, %%r, %%pr1, %%r1x;"',
        '/* ".reg .b32 %%r<8>;" */ ""',
    ],
)
def test_other_names_are_not(declared: str) -> None:
    assert notes(declared) == ()


def test_a_statement_without_operands_hides_none() -> None:
    assert notes("", '    asm volatile("{ .reg .b32 %r<8>; mov.u32 %r1, 5; }");\n') == ()


def test_no_rung_is_warned_of() -> None:
    assert [kernel.name for kernel in ladder() if kernel.recordable and kernel.notes] == []
