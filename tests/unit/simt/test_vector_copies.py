"""Loops that only copy or clear: each access of the source is recorded as wide as it is written."""

from collections import Counter

import numpy as np
from recordings import own

from gemmviz.catalogue.problem import Problem
from gemmviz.trace.recording.recording import Recording

LOOP = "for (int i = 0; i < 4; i++)\n"


def widths(recording: Recording, needle: str, write: bool) -> Counter[int]:
    """Count the accesses of the line that holds `needle` by their bytes."""
    line = next(number for number, text in enumerate(recording.text.splitlines(), 1) if needle in text)
    log = recording.accesses
    here = np.array([site.line == line for site in recording.sites])[log.site] & (log.write == write)
    return Counter(log.bytes[here].tolist())


def copying(copy: str) -> Recording:
    body = f"""
    __shared__ __align__(16) float tile[32][16];
    {LOOP} {copy};
    __syncthreads();
    C[threadIdx.x] = tile[threadIdx.x][3] + tile[31 - threadIdx.x][4];"""
    return own(body, Problem(32, 16, 16))


def test_a_loop_of_float4_reads_and_writes_16_bytes_at_a_time() -> None:
    move = "*(float4 *)&tile[threadIdx.x][4 * i] = *(const float4 *)&A[threadIdx.x * 16 + 4 * i]"
    recording = copying(move)
    assert widths(recording, move, write=False) == {16: 4 * 32}
    assert widths(recording, move, write=True) == {16: 4 * 32}


def test_a_loop_that_clears_by_float2_writes_8_bytes_at_a_time() -> None:
    clear = "*(float2 *)&tile[threadIdx.x][2 * i + 2] = make_float2(0, 0)"
    assert widths(copying(clear), clear, write=True) == {8: 4 * 32}


def test_a_line_of_vectors_is_drawn_in_rows_of_numbers() -> None:
    """256 vectors of four numbers were drawn as 256 x 4: nobody could read that."""
    body = """
    __shared__ float4 line[256];
    __shared__ float2 table[8][16];
    __shared__ struct { float a, b; } pairs[64];
    line[threadIdx.x] = *(const float4 *)&A[4 * threadIdx.x];
    table[threadIdx.x / 16][threadIdx.x % 16] = make_float2(A[threadIdx.x], 0);
    pairs[threadIdx.x].a = A[threadIdx.x];
    __syncthreads();
    C[threadIdx.x] = line[31 - threadIdx.x].y + table[0][threadIdx.x % 16].x + pairs[31 - threadIdx.x].a;"""
    shared = {array.name: array for array in own(body, Problem(32, 16, 16)).arrays if array.space == "shared"}
    assert shared["line"].shape == (1024,) and shared["line"].grid == (32, 32)
    assert shared["table"].shape == (8, 16, 2) and shared["pairs"].shape == (64, 2)
