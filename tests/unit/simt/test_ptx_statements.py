"""Reading asm statements and their PTX, and C++ in their place."""

import re
from pathlib import Path

import numpy as np
import pytest

from gemmviz.catalogue.errors import BuildError
from gemmviz.catalogue.kernel import load, parse
from gemmviz.catalogue.launch import launch, nearest_size
from gemmviz.catalogue.problem import Problem
from gemmviz.simt import build
from gemmviz.simt.inline_ptx import passes
from gemmviz.simt.inline_ptx.columns import aligned
from gemmviz.simt.inline_ptx.grammar import Address, Label, Name, NotPtx, Number, Pair, Vector
from gemmviz.simt.inline_ptx.grammar import parse as parse_ptx
from gemmviz.simt.inline_ptx.rewriting import has_asm, rewritten
from gemmviz.simt.inline_ptx.statements import Statement, statements
from gemmviz.simt.inline_ptx.translation import translated
from gemmviz.trace.recording.record import record

STYLES = Path(__file__).parents[1] / "styles"


def found(text: str) -> list[Statement]:
    return list(statements(text, lambda file, system: True))


@pytest.mark.parametrize(
    ("text", "template", "outputs", "inputs"),
    [
        ('asm("a;");', "a;", [], []),
        ('asm volatile ("a;" "b;\\n" ::: "memory");', "a;b;\n", [], []),
        ('__asm__ __volatile__("a" : "=r"(x) : "r"(f(y, "z)")), "n"(T<1, 2>));', "a", ["x"], ['f(y, "z)")', "T<1, 2>"]),
        ('asm("a" : [d] "=" "f"(x[1]) : [s] "f"(y ? u : v));', "a", ["x[1]"], ["y ? u : v"]),
        ('asm(R"x(a "b" \\n)x" :: "r"(n::m));', 'a "b" \\n', [], ["n::m"]),
        ('asm("a" :: "r"(x) "l"(y));', "a", [], ["x", "y"]),
        ('asm("\\x41\\t\\"%%" ::);', 'A\t"%%', [], []),
        ('asm volatile(\n"a"\n"b"\n: "+r"(x)\n);', "ab", ["x"], []),
    ],
)  # fmt: skip
def test_a_statement_has_its_template_and_operands(
    text: str, template: str, outputs: list[str], inputs: list[str]
) -> None:
    (statement,) = found(text)
    assert text[statement.start : statement.end] == text.rstrip(";")
    assert statement.template == template
    assert [operand.expression for operand in statement.outputs] == outputs
    assert [operand.expression for operand in statement.inputs] == inputs


@pytest.mark.parametrize(
    "text",
    ['const char *s = "asm(\\"x\\");";', "int asm_count(int);", "asm(text);", 'asm("unfinished" : "r"(x', "asm goto;"],
)
def test_what_only_looks_like_a_statement_is_none(text: str) -> None:
    assert found(text) == []


def test_a_statement_counts_where_its_file_does_and_has_its_line() -> None:
    text = '# 1 "a.cu"\n\nasm("one");\n# 30 "/usr/x.h" 3\nasm("two");\n# 7 "a.cu" 2\n\nint x; asm("three");\n'
    mine = list(statements(text, lambda file, system: not system))
    assert [(s.template, s.file, s.line) for s in mine] == [("one", "a.cu", 2), ("three", "a.cu", 8)]


def test_asm_in_comments_and_texts_needs_no_translation() -> None:
    assert not has_asm(['// asm("a")\nconst char *s = "asm"; int asmodeus; /* __asm__ */'])
    assert has_asm(["int x;", 'void f() { __asm__("a"); }'])


def test_blocks_labels_predicates_and_operands_are_read() -> None:
    program = parse_ptx(
        "{ .reg .pred p, q; .reg .b32 %%r<2>; // two\n again: setp.eq.and.s32 p|q, %0, -1, !q;\n"
        "@!p bra.uni again; ld.shared.v2.f32 {%%r0, %%r1}, [%1 + 16 + -4];\n"
        "x.y.shared::cta [%2, {%3, 0x1F}], [_], 0f3F800000; }"
    )
    label, compare, jump, load, other = program.items
    assert isinstance(label, Label) and label.name == "again"
    assert [(r.name, r.kind) for r in program.registers] == [
        *(("p", "bool"), ("q", "bool"), ("%r0", "unsigned"), ("%r1", "unsigned"))
    ]
    assert compare.operands == (Pair(Name("p"), Name("q")), Name("%0"), Number("-1"), Name("q", True))
    assert jump.predicate == Name("p", True) and jump.opcode == "bra.uni"
    assert load.operands == (
        Vector((Name("%r0"), Name("%r1"))),
        Address((Name("%1"), Number("16"), Number("-4"))),
    )
    assert other.operands == (
        *(Address((Name("%2"),), (Name("%3"), Number("0x1F"))), Address((Name("_"),)), Number("0f3F800000")),
    )


@pytest.mark.parametrize("text", ["add.u32 %0 %1;", "}", "add.u32 %0, #;", "@ add;", ".reg .u7 x;", "a b c", "[%0];"])
def test_what_is_no_ptx_is_refused(text: str) -> None:
    with pytest.raises(NotPtx):
        parse_ptx(text)


@pytest.mark.parametrize("text", ["mov.b32 %0, " + "{" * 20_000, ".reg .b32 r<999999999>;", ".reg .b32 r<x>;"])
def test_a_statement_that_would_take_all_memory_or_the_stack_ends_the_run(text: str) -> None:
    (statement,) = found(f'asm("{text}" : "=r"(x));')
    assert "gv_unknown_ptx(" in translated(statement, 0)


def test_a_source_whose_macros_make_too_much_text_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = load(STYLES.parent / "inline_ptx/hgemm_macros.cu")
    kernel = parse(kernel.text + "// Not built before.\n", kernel.path)
    monkeypatch.setattr(passes, "_MOST_EXPANDED", 4096)
    with pytest.raises(BuildError, match=r"^hgemm_macros\.cu: with its macros filled in"):
        build.build(launch(kernel, Problem(32, 32, 32)))


def test_each_use_of_a_statement_has_labels_of_its_own() -> None:
    (statement,) = found('asm("{ again: @p bra again; .reg .pred p; bra past; past: bra again_%=; again_%=: }");')
    first, second = translated(statement, 1), translated(statement, 2)
    names = [set(re.findall(r"\bgv\d+l\d+", text)) for text in (first, second)]
    assert len(names[0]) == len(names[1]) == 3 and not names[0] & names[1]
    assert "gv_unknown" not in first


def test_a_jump_to_no_label_and_a_register_that_nobody_declares_are_named() -> None:
    for text, name in (("bra nowhere;", "bra"), ("mov.u32 %0, r1;", "mov.u32"), ("mov.u32 %7, 1;", "mov.u32")):
        (statement,) = found(f'asm("{text}" : "=r"(x));')
        assert f'gv_unknown_ptx("{name}")' in translated(statement, 0)


def test_what_follows_a_statement_stays_where_it_was() -> None:
    text = '# 1 "a.cu"\nif (x) asm("bar.sync 0;"); else y;\nz;\nf(asm_, 1); asm("a\\n"\n    "b"); g();\n'
    lines = rewritten(text, "a.cu", Path("/nowhere"), ()).split("\n")
    place = {}
    number = 0
    for line in lines:
        if mark := re.match(r'# (\d+) "a.cu"', line):
            number = int(mark[1])
            continue
        if not line.startswith("#"):
            place |= {word: (number, line.index(word) + 1) for word in ("else", "z;", "g()") if word in line}
        number += 1
    assert place == {"else": (1, 28), "z;": (2, 1), "g()": (4, 11)}


def test_tokens_keep_their_columns_on_both_sides_of_a_macro() -> None:
    source = "#define ONE (1)\n    int   a = ONE  +  b;   // ONE\n\treturn /* it */ a;\n"
    text = '# 1 "a.cu"\n\n    int a = (1) + b;\n return a;\n'
    written = aligned(text, "a.cu", source).split("\n")
    assert [line.rstrip() for line in written[2:6]] == [
        *("    int   a = (1)", '# 2 "a.cu"', "                   +  b;", "\treturn          a;")
    ]


@pytest.mark.sweep("block_tiles-True", "structs-False", "wmma_bf16-False")
@pytest.mark.parametrize("as_written", [False, True])
@pytest.mark.parametrize("name", ["block_tiles", "halves", "structs", "wmma_bf16"])
def test_a_file_with_asm_is_recorded_as_it_is_without(name: str, as_written: bool) -> None:
    kernel = load(STYLES / f"{name}.cu")
    unused = '\n__device__ inline void unused() { asm volatile("bar.sync 0;"); }\n'
    size = nearest_size(kernel, Problem(32, 32, 32), kernel.defaults)
    assert size is not None
    plain, other = (
        record(launch(parse(kernel.text + more, kernel.path), size), deadline_s=30, as_written=as_written)
        for more in ("", unused)
    )
    assert plain.sites == other.sites
    for column in ("site", "array", "write", "element", "bytes", "value", "block", "thread", "phase"):
        assert np.array_equal(getattr(plain.accesses, column), getattr(other.accesses, column))
