"""Kernels that take alpha and beta, that write D, or that add to a C of zeros: tried with other values than 1 and 0."""

from pathlib import Path

import numpy as np
import pytest
from small_kernel import kernel as small

from gemmviz.backends.native import NativeBackend
from gemmviz.bench.measure import Bench, Measurement
from gemmviz.bench.protocol import Protocol
from gemmviz.bench.rounds import take_turns
from gemmviz.bench.row import Row
from gemmviz.bench.verification_reference import References
from gemmviz.catalogue.errors import FrontMatterError
from gemmviz.catalogue.guessing.guess import guess
from gemmviz.catalogue.guessing.guessed_kernel import guessed_kernel
from gemmviz.catalogue.kernel import Kernel, parse
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import HUGE_BYTE, Problem
from gemmviz.checking.examine import examine
from gemmviz.trace import hazards
from gemmviz.trace.recording.record import record

FAST = Protocol(rounds=1, warmup_launches=1, warmup_s=0, min_samples=3, min_time_s=0, target_iqr=10, timeout_s=5)
NATIVE = """// ---gemmviz
// version = 4
// entry = "k"
// args  = [{args}]
{more}// ---
void k({parameters})
{{
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {{
            float sum = 0;
            for (int k = 0; k < K; k++) sum += A[i * K + k] * B[k * N + j];
            {store}
        }}
}}
"""
SIZES = "int M, int N, int K, const float *A, const float *B, "


def native(args: str, parameters: str, store: str, more: str = "") -> Kernel:
    quoted = ", ".join(f'"{name}"' for name in f"M N K A B {args}".split())
    return parse(NATIVE.format(args=quoted, parameters=SIZES + parameters, store=store, more=more), Path("mine.c"))


def measured(kernel: Kernel) -> Row:
    backend = NativeBackend()
    one = Measurement(kernel, Problem(12, 10, 14), {}, Bench(FAST, lambda name: backend, References(1)))
    return [record for _, _, record in take_turns([one], 1)][-1].row


SCALED = "alpha * sum + beta * C[i * N + j];"
RIGHT = {
    "alpha and beta": native("C alpha beta", "float *C, float alpha, float beta", f"C[i * N + j] = {SCALED}"),
    "beta tested": native(
        "C alpha beta",
        "float *C, float alpha, float beta",
        f"C[i * N + j] = beta == 0 ? alpha * sum : {SCALED}",
    ),
    "alpha alone": native("C alpha", "float *C, float alpha", "C[i * N + j] = alpha * sum;"),
    "a separate D": native(
        "C D alpha beta", "const float *C, float *D, float alpha, float beta", f"D[i * N + j] = {SCALED}"
    ),
    "a D without scalars": native("C D", "const float *C, float *D", "D[i * N + j] = sum + C[i * N + j];"),
    "added to zeros": native("C", "float *C", "C[i * N + j] += sum;", '// zero = ["C"]\n'),
    "a bias": native("C bias", "float *C, const float *bias", "C[i * N + j] = sum + bias[j];"),
    "a bias and ReLU": native(
        "C bias alpha",
        "float *C, const float *bias, float alpha",
        "sum = alpha * sum + bias[j]; C[i * N + j] = sum > 0 ? sum : 0;",
        '// epilogue = "relu"\n',
    ),
    "ReLU": native("C", "float *C", "C[i * N + j] = sum > 0 ? sum : 0;", '// epilogue = "relu"\n'),
}


@pytest.mark.sweep("alpha and beta", "a separate D", "a bias and ReLU")
@pytest.mark.parametrize("name", RIGHT)
def test_a_right_kernel_passes_and_is_right_after_many_launches(name: str) -> None:
    row = measured(RIGHT[name])
    assert row["status"] == "ok", row["message"]
    assert row["verify"]["after"] == "ok"


@pytest.mark.sweep("alpha and beta-k*", "a bias-*", "ReLU-sum*", "a separate D*")
@pytest.mark.parametrize(
    ("name", "right", "wrong", "says"),
    [
        ("alpha and beta", "alpha * sum", "sum", "on whole numbers, with alpha = 2 and beta = -1: "),
        ("alpha and beta", " + beta * C[i * N + j]", "", "on whole numbers, with alpha = 2 and beta = -1: "),
        ("alpha and beta", "beta * C", "beta * alpha * C", "on whole numbers, with alpha = 2 and beta = -1: "),
        ("alpha alone", "alpha * sum", "sum", "on whole numbers, with alpha = 2: "),
        ("a separate D", "beta * C[i * N + j]", "beta * D[i * N + j]", "on whole numbers"),
        ("a D without scalars", " + C[i * N + j]", "", "on whole numbers, with C added: "),
        ("alpha and beta", "k < K", "k < K - 1", "on whole numbers: "),
        ("a bias", "bias[j]", "bias[i % N]", "on whole numbers, with a bias: "),
        ("a bias and ReLU", "bias[j]", "0", "on whole numbers, with alpha = 2 and a bias and negative sums: "),
        (
            "a bias and ReLU",
            "sum > 0 ? sum : 0",
            "sum",
            "on whole numbers, with alpha = 2 and a bias and negative sums",
        ),
        ("ReLU", "sum > 0 ? sum : 0", "sum", "on whole numbers, with negative sums: "),
        ("ReLU", "k < K", "k < K - 1", "on whole numbers: "),
    ],
)
def test_a_wrong_kernel_is_named_with_the_trial_that_it_fails(name: str, right: str, wrong: str, says: str) -> None:
    text = RIGHT[name].text
    assert right in text
    row = measured(parse(text.replace(right, wrong), Path("mine.c")))
    assert row["status"] == "wrong"
    assert row["message"].startswith(says), row["message"]


def test_a_kernel_that_adds_to_c_and_does_not_say_so_is_wrong() -> None:
    plain = RIGHT["added to zeros"].text.replace('// zero = ["C"]\n', "")
    assert measured(parse(plain, Path("mine.c")))["status"] == "wrong"


def test_what_c_holds_before_is_finite_and_large_in_every_type() -> None:
    for name in ("float32", "float64", "float16", "bfloat16", "int32", "int64"):
        value = float(np.frombuffer(bytes([HUGE_BYTE]) * 8, np.dtype(name))[0])
        assert np.isfinite(value) and value > 60_000


HALF = """// ---gemmviz
// version = 4
// entry = "k"
// args  = ["A", "B", {pointers}, "M", "N", "K"{scalars}]
// block = [8, 8]
// grid  = ["ceil(N / 8)", "ceil(M / 8)"]
// dtype = "float16"
{more}// ---
#include <cuda_fp16.h>
__global__ void k(const half *A, const half *B, {types}, int M, int N, int K{parameters})
{{
    int row = blockIdx.y * 8 + threadIdx.y, col = blockIdx.x * 8 + threadIdx.x;
    if (row >= M || col >= N) return;
    half sum = 0;
    for (int k = 0; k < K; k++) sum = __hfma(A[row * K + k], B[k * N + col], sum);
    {store}
}}
"""


BETA = {
    "pointers": '"C"',
    "types": "half *C",
    "scalars": ', "alpha", "beta"',
    "parameters": ", half alpha, half beta",
    "store": "C[row * N + col] = alpha * sum + beta * C[row * N + col];",
    "more": "",
}
WITH_D = {
    "pointers": '"C", "D"',
    "types": "const half *C, half *D",
    "scalars": ', "alpha", "beta"',
    "parameters": ", half alpha, half beta",
    "store": "D[row * N + col] = alpha * sum + beta * C[row * N + col];",
    "more": "",
}


@pytest.mark.sweep("beta", "bias")
@pytest.mark.parametrize(
    "parts",
    [
        BETA,
        WITH_D,
        {
            "pointers": '"C"',
            "types": "half *C",
            "scalars": "",
            "parameters": "",
            "store": "C[row * N + col] = C[row * N + col] + sum;",
            "more": '// zero = ["C"]\n',
        },
        {
            "pointers": '"C", "bias"',
            "types": "half *C, const half *bias",
            "scalars": "",
            "parameters": "",
            "store": "C[row * N + col] = __hmax(sum + bias[col], 0);",
            "more": '// epilogue = "relu"\n',
        },
    ],
    ids=["beta", "D", "zero", "bias"],
)
def test_a_recording_of_a_kernel_in_half_has_no_false_alarm(parts: dict[str, str]) -> None:
    kernel = parse(HALF.format(**parts), Path("k.cu"))
    recording = record(launch(kernel, Problem(9, 11, 10)))
    assert recording.wrong == 0
    assert hazards.find(recording, c_is_input=kernel.reads_result) == []


@pytest.mark.parametrize(
    ("parts", "right", "wrong"),
    [
        ("BETA", "", ""),
        ("BETA", "alpha * sum", "sum"),
        ("BETA", " + beta * C[row * N + col]", ""),
        ("WITH_D", "", ""),
        ("WITH_D", " + beta * C[row * N + col]", ""),
    ],
)
def test_the_checker_finds_a_factor_that_is_forgotten(parts: str, right: str, wrong: str) -> None:
    text = HALF.format(**(BETA if parts == "BETA" else WITH_D))
    assert right in text
    report = examine(parse(text.replace(right, wrong), Path("k.cu")), Problem(9, 11, 10), {})
    assert [finding.kind for finding in report.findings] == ["wrong result"] * (right != "")
    for finding in report.findings:
        assert finding.text.startswith("with alpha = 2, beta = -1, C[") and finding.line == 16
        assert finding.count > 50


def test_a_kernel_that_writes_d_is_described() -> None:
    text = HALF.format(**WITH_D).partition("// ---\n")[2]
    made = guess(text, Path("k.cu"))
    assert made.roles == ("A", "B", "C", "D", "M", "N", "K", "alpha", "beta")
    assert made.doubts == [] and guessed_kernel(made).has_d
    named = text.replace("half *C", "half *weights")
    # It is read where D is written; with another index it is no C.
    assert guess(named.replace("* C[", "* weights["), Path("k.cu")).roles[2:4] == ("C", "D")
    unknown = guess(named.replace("* C[row * N + col]", "* weights[row]"), Path("k.cu"))
    assert "" in unknown.roles and "D" not in unknown.roles
    other = text.replace("half *C", "half *bias").replace("beta * C[row * N + col]", "bias[col]")
    assert guess(other, Path("k.cu")).roles[2:4] == ("bias", "C")
    assert guess(other, Path("k.cu")).epilogue == "" != guess(other.replace("k(", "gemm_relu("), Path("k.cu")).epilogue


def test_the_keys_decide_the_launch_and_a_kernel_without_them_keeps_its_digest() -> None:
    assert small(zero='["C"]').sha256 != small().sha256
    assert not small().zeroed and not small().has_d
    assert small(epilogue='"relu"').sha256 != small(epilogue='""').sha256 == small().sha256
    with pytest.raises(FrontMatterError, match='epilogue must be "relu"'):
        small(epilogue='"gelu"')
    with pytest.raises(FrontMatterError, match=r'zero must be \["C"\]'):
        small(zero='["A"]')
