"""GEMM kernels in the styles that people write and publish: each records as it stands, is right and has no defect."""

from pathlib import Path

import numpy as np
import pytest

from gemmviz.catalogue.kernel import load, parse
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.trace import hazards
from gemmviz.trace.recording.record import record
from gemmviz.trace.recording.recording import Recording

STYLES = Path(__file__).parents[1] / "styles"


def clean(style: str, *size: int) -> Recording:
    recording = record(launch(load(STYLES / f"{style}.cu"), Problem(*size)), deadline_s=20)
    assert recording.wrong == 0 and recording.notes == ()
    assert hazards.find(recording, c_is_input="beta" in recording.text) == []
    return recording


@pytest.mark.sweep("groups-*", "pipelined-*", "wmma_bf16-*")
@pytest.mark.parametrize(
    ("style", "size"),
    [
        ("block_tiles", (64, 96, 24)),
        ("warp_tiles", (32, 32, 16)),
        ("groups", (8, 6, 40)),
        ("pipelined", (40, 33, 20)),
        ("wmma_tf32", (32, 48, 24)),
        ("wmma_bf16", (32, 24, 48)),
        ("structs_by_pointer", (9, 10, 11)),
    ],
)
def test_a_style_records_as_it_stands(style: str, size: tuple[int, int, int]) -> None:
    clean(style, *size)


def test_float4_through_macros_is_one_access() -> None:
    log = clean("float4_fetches", 32, 64, 24).accesses
    assert set(log.bytes[np.isin(log.array, [0, 1, 2])]) == {16}


def test_dynamic_shared_memory_that_is_carved_into_two_arrays_shows_their_elements() -> None:
    recording = clean("carved", 20, 33, 21)
    smem = recording.arrays[3]
    assert (smem.name, smem.dtype, smem.size) == ("smem", "float32", 2 * 16 * 17)
    log = recording.accesses
    known = set(np.unique(recording.a)) | set(np.unique(recording.b)) | {0.0}
    assert set(np.unique(log.value[log.array == 3])) <= known


def test_halves_in_pairs_and_in_a_structure_of_four() -> None:
    recording = clean("halves", 32, 64, 32)
    assert [(a.name, a.shape, a.dtype) for a in recording.arrays[3:]] == [
        ("As", (32, 24), "float16"),
        ("Bs", (16, 16, 2), "float16"),
    ]
    log = recording.accesses
    assert set(log.bytes[log.array == 0]) == {8}


@pytest.mark.parametrize(("kind", "dtype"), [("float", "float32"), ("__nv_bfloat16", "bfloat16")])
def test_bfloat16(kind: str, dtype: str) -> None:
    base = load(STYLES / "brain.cu")
    text = base.text.replace("float *C", f"{kind} *C").replace('accumulate = "float32"', f'accumulate = "{dtype}"')
    recording = record(launch(parse(text, base.path), Problem(20, 18, 17)), deadline_s=20)
    assert recording.wrong == 0
    assert [(a.dtype, a.itemsize) for a in recording.arrays[:2]] == [("bfloat16", 2)] * 2
    assert [(a.name, a.dtype) for a in recording.arrays[3:]] == [("As", "bfloat16"), ("Bs", "bfloat16")]
    log = recording.accesses
    for array, matrix in ((0, recording.a), (1, recording.b), (2, recording.c)):
        rows = log.array == array
        assert (log.value[rows] == matrix.reshape(-1)[log.element[rows]]).all()
    assert set(np.unique(log.value[log.array == 3])) <= {-3, -2, -1, 0, 1, 2, 3}


def test_structures_in_shared_memory_are_shown_as_the_arrays_that_they_hold() -> None:
    recording = clean("structs", 16, 32, 16)
    assert [(a.name, a.shape, a.dtype) for a in recording.arrays[3:]] == [
        ("last", (16, 2), "float32"),
        ("s.a", (16, 8), "float32"),
        ("s.b", (8, 17), "float32"),
        ("s.steps", (1,), "int32"),
        ("scratch", (16,), "uint32"),
    ]


def test_three_stages_of_asynchronous_copies_ldmatrix_and_mma() -> None:
    recording = clean("swizzled", 32, 64, 160)
    log = recording.accesses
    line = np.array([s.line for s in recording.sites])[log.site]
    text = recording.text.splitlines()
    # Each row of an 8 x 8 matrix is one read of 16 bytes by the lane that gives its address.
    for needle, lanes, times in (("ldmatrix_x4(", 32, 1), ("ldmatrix_x2_trans(", 16, 2)):
        rows = line == next(i for i, words in enumerate(text, 1) if needle in words)
        assert set(log.bytes[rows]) == {16} and not log.write[rows].any()
        assert rows.sum() == 2 * 4 * (160 // 16) * lanes * times
        assert set(log.thread[rows] % 32) == set(range(lanes))
    assert recording.arrays[3].dtype == "float16"
    assert len(log.copies) == 2 * 128 * 2 * (160 // 32)
