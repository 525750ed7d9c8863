"""C in another type than the sums: in the front matter, in a recording, in a measurement and in the ranking."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from fake_backend import FakeBackend
from small_kernel import kernel

from gemmviz.bench import results
from gemmviz.bench.figures import Shown
from gemmviz.bench.measure import Bench, Measurement
from gemmviz.bench.protocol import Protocol
from gemmviz.bench.ranking import standings
from gemmviz.bench.rounds import take_turns
from gemmviz.bench.row import dtype_out
from gemmviz.bench.stats import summarise
from gemmviz.bench.verification_reference import References
from gemmviz.catalogue.errors import FrontMatterError
from gemmviz.catalogue.guessing.guess import guess
from gemmviz.catalogue.guessing.guessed_kernel import guessed_kernel
from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.trace.recording.record import record

FAST = Protocol(rounds=1, warmup_launches=1, warmup_s=0, min_samples=3, min_time_s=0, target_iqr=10, timeout_s=5)
HALF_C = """// ---gemmviz
// version    = 4
// entry      = "k"
// args       = ["A", "B", "C", "M", "N", "K"]
// block      = [8, 8]
// grid       = ["ceil(N / 8)", "ceil(M / 8)"]
// dtype      = "float16"
// accumulate = "float32"
// stores     = "float16"
// ---
#include <cuda_fp16.h>
__global__ void k(const half *A, const half *B, half *C, int M, int N, int K)
{
    int row = blockIdx.y * 8 + threadIdx.y, col = blockIdx.x * 8 + threadIdx.x;
    if (row >= M || col >= N) return;
    float sum = 0;
    for (int k = 0; k < K; k++) sum += __half2float(A[row * K + k]) * __half2float(B[k * N + col]);
    C[row * N + col] = __float2half(sum);
}
"""
SUMS = """// ---gemmviz
// entry = "mine"
// args  = ["C", "A", "B", "M", "N", "K"]
// dtype = "float16"
// ---
void mine(_Float16 *c, _Float16 *a, _Float16 *b, int m, int n, int k) {}
"""


def test_a_kernel_without_the_key_stores_c_as_it_sums_and_keeps_its_digest() -> None:
    plain, text = kernel(dtype='"float16"'), kernel(dtype='"float16"', stores='"float16"')
    assert (plain.dtype_out, plain.stores, text.stores) == ("float16", None, None)
    assert plain.sha256 == text.sha256 != kernel(dtype='"float16"', stores='"float32"').sha256


def test_an_unknown_type_of_c_is_refused() -> None:
    with pytest.raises(FrontMatterError, match=r"stores must be one of .*float16"):
        kernel(stores='"half"')


def test_a_kernel_that_describes_itself_no_more_is_guessed_to_sum_in_float() -> None:
    text = HALF_C.partition("// ---\n")[2]
    made = guess(text, Path("k.cu"))
    assert (made.dtype, made.accumulate, made.stores) == ("float16", "float32", "float16")
    assert guessed_kernel(made).types == parse(HALF_C, Path("k.cu")).types
    in_half = guess(text.replace("float sum = 0", "half sum = 0").replace("__half2float", ""), Path("k.cu"))
    assert (in_half.accumulate, in_half.stores) == ("float16", "float16")
    assert "stores" not in in_half.front_matter()


def test_a_recording_holds_c_in_its_own_type() -> None:
    recording = record(launch(parse(HALF_C, Path("k.cu")), Problem(9, 12, 10)))
    assert recording.wrong == 0
    assert [array.dtype for array in recording.arrays[:3]] == ["float16"] * 3
    stored = recording.accesses.value[(recording.accesses.array == 2) & recording.accesses.write]
    assert sorted(stored) == sorted(recording.c.ravel())


def test_a_recording_with_a_long_sum_is_exact_in_the_type_of_c() -> None:
    recording = record(launch(parse(HALF_C, Path("k.cu")), Problem(8, 8, 3000)))
    assert recording.wrong == 0
    assert np.abs(recording.a).max() == 1


def product_in_half(a, b, c, launches):
    total = np.zeros((len(a), b.shape[1]), np.float16)
    for k in range(a.shape[1]):
        total += np.outer(a[:, k], b[k])
    c.view[:] = total.reshape(-1)


def row(backend: FakeBackend, problem: Problem):
    bench = Bench(FAST, lambda name: backend, References(1))
    one = Measurement(parse(SUMS, Path("mine.c")), problem, {}, bench)
    return [record for _, _, record in take_turns([one], 1)][-1].row


def test_sums_in_half_are_measured_however_long_they_are() -> None:
    found = row(FakeBackend(product_in_half), Problem(12, 7, 2500))
    assert found["status"] == "ok", found["message"]
    assert found["verify"]["bound"] == "probabilistic" and found["verify"]["before"] == "ok"
    assert (found["dtype_in"], found["dtype_acc"], found["dtype_out"]) == ("float16",) * 3


@pytest.mark.parametrize("k", [0, 1000, 2499])
def test_a_term_that_is_left_out_of_a_long_sum_in_half_is_found(k: int) -> None:
    def without_k(a, b, c, launches):
        product_in_half(np.delete(a, k, axis=1), np.delete(b, k, axis=0), c, launches)

    found = row(FakeBackend(without_k), Problem(12, 7, 2500))
    assert found["status"] == "wrong"
    assert found["verify"]["bound"] == "exact"


def test_a_row_counts_the_bytes_of_c_as_it_is_stored() -> None:
    made = results.new_row(parse(HALF_C, Path("k.cu")), Problem(4, 8, 16), {})
    results.describe_samples(made, [1e-6], summarise([1e-6]), "steady", 2 * 4 * 8 * 16)
    assert (made["dtype_acc"], dtype_out(made)) == ("float32", "float16")
    assert made["gbps"] == pytest.approx(2 * (4 * 16 + 16 * 8 + 4 * 8) / 1e-6 / 1e9)
    del made["dtype_out"]  # an older file's
    assert dtype_out(made) == "float32"


def test_a_kernel_is_ranked_beside_the_library_with_the_same_c() -> None:
    mine = replace(parse(HALF_C, Path("k.cu")), name="mine")
    libraries = [find(name, ladder()) for name in ("cublas_fp16", "cublas_fp16_c16", "cublas_fp16_sums")]
    figures = {"mine": 50.0, "cublas_fp16": 80.0, "cublas_fp16_c16": 100.0, "cublas_fp16_sums": 200.0}
    shown = {name: Shown({"gflops": g, "peak_fraction": None}) for name, g in figures.items()}
    found = {s.kernel.name: s for s in standings([mine, *libraries], shown.get)}
    assert (found["mine"].share, found["mine"].library) == (0.5, libraries[1].title)
