"""Inline PTX in a recording: what it computes, what is written down of it, and on which line."""

import re
from pathlib import Path

import numpy as np
import pytest
from ptx_kernels import PtxKernel
from ptx_product_kernels import PRODUCTS, QUADS, product
from ptx_word_kernels import ALL_WORDS, WORDS
from ptx_word_kernels import words as kernel_of_words
from ptx_words import PAIR_WORDS

from gemmviz.catalogue.errors import BuildError, ConstraintError
from gemmviz.catalogue.kernel import load, parse
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.trace.recording.record import record
from gemmviz.trace.recording.recording import Recording

KERNELS = Path(__file__).parents[1] / "inline_ptx"


def recorded(name: str, problem: Problem, as_written: bool = False) -> Recording:
    return record(launch(load(KERNELS / name), problem), deadline_s=20, as_written=as_written)


def lines(recording: Recording, array: str, write: bool) -> set[str]:
    """The lines, without blanks, on which an array is read or written."""
    text, log = recording.text.splitlines(), recording.accesses
    number = next(n for n, a in enumerate(recording.arrays) if a.name == array)
    sites = set(log.site[(log.array == number) & (log.write == write)])
    return {text[recording.sites[site].line - 1].strip() if recording.sites[site].line else "" for site in sites}


@pytest.mark.parametrize("as_written", [False, True])
def test_macros_with_copies_ldmatrix_and_mma_multiply(as_written: bool) -> None:
    recording = recorded("hgemm_macros.cu", Problem(64, 32, 96), as_written)
    assert recording.wrong == 0 and not recording.notes
    assert recording.together == 32
    copy = {"COPY(swizzled(start, row, piece), from, 16);"}
    assert lines(recording, "A", False) == lines(recording, "As", True) == lines(recording, "Bs", True) == copy
    assert {line.split("(")[0] for line in lines(recording, "As", False)} == {"LDMATRIX_X4"}
    assert {line.split("(")[0] for line in lines(recording, "Bs", False)} == {"LDMATRIX_X2"}
    log = recording.accesses
    shared = np.isin(log.array, [3, 4])
    assert set(log.bytes[shared]) == {16}
    assert len(log.copies) == 64 * 32 // 32 // 32 * 3 * 2 * 128


def test_an_instruction_stands_at_the_column_of_its_macro() -> None:
    recording = recorded("hgemm_macros.cu", Problem(32, 32, 32))
    text = recording.text.splitlines()
    for site in recording.sites:
        line = text[site.line - 1]
        if re.match(r"\s*(COPY|LDMATRIX)", line):
            assert site.column == len(line) - len(line.lstrip()) + 1


@pytest.mark.parametrize("as_written", [False, True])
def test_asm_in_a_header_counts_on_the_line_that_calls_it(as_written: bool) -> None:
    recording = recorded("sgemm_header.cu", Problem(16, 8, 24), as_written)
    assert recording.wrong == 0 and not recording.notes
    assert lines(recording, "A", False) == {"async_copy<4>(shared_address(&As[y][x]), A + row * K + k + x);"}
    assert lines(recording, "Bs", True) == {"async_copy<4>(shared_address(&Bs[y][x]), B + (k + y) * N + column);"}
    assert lines(recording, "As", False) == {"float a = read_shared(shared_address(&As[y][i]));"}
    (store,) = lines(recording, "C", True)
    assert store.startswith('asm volatile("st.global.f32')


@pytest.mark.parametrize("as_written", [False, True])
def test_a_kernel_that_is_one_statement_ends_its_threads_at_the_edges(as_written: bool) -> None:
    recording = recorded("whole_kernel.cu", Problem(13, 21, 9), as_written)
    assert recording.wrong == 0 and not recording.notes
    writes = recording.accesses.write
    assert writes.sum() == 13 * 21 and (~writes).sum() == 2 * 9 * 13 * 21


def values(kernel: PtxKernel) -> Recording:
    recording = record(kernel.launch, deadline_s=20)
    assert not recording.notes
    return recording


@pytest.mark.sweep("m16n8k16_f16_f16_f32", "m8n8k16_s8_s8_s32", "m8n8k4_f64_f64_f64")
@pytest.mark.parametrize("given", PRODUCTS, ids=lambda given: "_".join(given[:4]))
def test_every_mma_multiplies_what_the_registers_hold(given: tuple[str, str, str, str, str]) -> None:
    _, a, b, _, _ = given
    recording = values(product(*given))
    shifted = [matrix + 3 * (kind == "u8") for matrix, kind in ((recording.a, a), (recording.b, b))]
    assert (recording.c == shifted[0] @ shifted[1]).all()


@pytest.mark.sweep("mma_m8n8k4_row_col_f16", "mma_m8n8k4_col_row_f32")
@pytest.mark.parametrize("kernel", QUADS, ids=lambda kernel: kernel.name)
def test_the_four_products_of_m8n8k4_are_the_quads_own(kernel: PtxKernel) -> None:
    recording = values(kernel)
    assert (recording.c == recording.a @ recording.b).all()


@pytest.fixture(scope="module")
def words() -> Recording:
    return values(ALL_WORDS)


@pytest.mark.parametrize("number", range(len(WORDS)), ids=[kernel.name for kernel in WORDS])
def test_an_instruction_on_registers_gives_what_the_same_cuda_gives(words: Recording, number: int) -> None:
    first = 32 * number
    rows = words.c[first : first + 32]
    assert (rows == 1).all(), rows


def test_pairs_of_floats_are_computed_by_halves() -> None:
    assert (values(kernel_of_words("pairs", PAIR_WORDS)).c == 1).all()


def text_of(body: str, before: str = "") -> str:
    return PtxKernel("mine", body, Problem(32, 8, 1), before).launch.kernel.text


@pytest.mark.sweep("asm volatile(?wibble*", "asm volatile(?add.u32*", "asm volatile(?this*")
@pytest.mark.parametrize(
    ("statement", "named"),
    [
        ('asm volatile("wibble.u32 %0, 1;" : "=r"(x));', "wibble.u32"),
        ('asm("mma.sync.aligned.m7n8k9.row.col.f32.f16.f16.f32 {%0}, {%0}, {%0}, {%0};" : "+r"(x));', "mma.sync"),
        ('asm volatile("add.rz.f64 %0, %0, %0;" : "+l"(y));', "add.rz.f64"),
        ('asm volatile("add.u32 %0, %0, nobody;" : "+r"(x));', "add.u32"),
        (
            'asm volatile("red.global.add.v2.f32 [%0], {%1, 1.0};" :: "l"(C), "f"(1.0f) : "memory");',
            "red.global.add.v2.f32",
        ),
        ('asm volatile("this + is no PTX" : "+r"(x));', "is"),
    ],
)
def test_an_instruction_that_is_not_known_is_named_with_its_line(statement: str, named: str) -> None:
    text = text_of(f"    unsigned x = 1; unsigned long long y = 1;\n    {statement}\n    C[threadIdx.x] = x + y;")
    line = next(n for n, line in enumerate(text.splitlines(), 1) if "asm" in line)
    with pytest.raises(ConstraintError) as caught:
        record(launch(parse(text, Path("mine.cu")), Problem(32, 8, 1)), deadline_s=10)
    assert str(caught.value).startswith(f"mine.cu:{line}: the PTX instruction {named}")


@pytest.mark.parametrize(
    "instruction",
    [
        "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned",
        "mma.sync.aligned.kind::mxf4.block_scale.scale_vec::2X.m16n8k64.row.col.f32.e2m1.e2m1.f32.ue8m0",
        "ld.global.v8.b32",
    ],
)
def test_an_instruction_of_a_newer_gpu_is_named_with_what_it_needs(instruction: str) -> None:
    text = text_of(f'    asm volatile("{instruction};" ::: "memory");\n    C[threadIdx.x] = 1;')
    with pytest.raises(ConstraintError, match=r"it needs compute capability 10\.0 or later"):
        record(launch(parse(text, Path("mine.cu")), Problem(32, 8, 1)), deadline_s=10)


def test_an_unknown_instruction_that_nobody_comes_to_is_no_reason_to_refuse() -> None:
    text = text_of(
        "    C[threadIdx.x] = A[0];\n    if (N == 1000) odd();",
        '__device__ void odd() { asm volatile("wibble.u32 a;"); }\n',
    )
    recording = record(launch(parse(text, Path("mine.cu")), Problem(32, 8, 1)), deadline_s=10)
    assert recording.accesses.write.sum() == 32


def test_a_mistake_in_a_statement_is_the_compilers_and_has_its_line() -> None:
    text = text_of('    unsigned x = 1;\n    asm("mov.u32 %0, %1;" : "=r"(x) : "r"(nobody));')
    with pytest.raises(BuildError, match="nobody") as caught:
        record(launch(parse(text, Path("mine.cu")), Problem(32, 8, 1)), deadline_s=10)
    line = next(n for n, line in enumerate(text.splitlines(), 1) if "asm" in line)
    assert f"mine.cu:{line}:" in str(caught.value)
