"""What a launch leaves behind for the next one is found, and waits that are missing around variables of the device."""

from pathlib import Path

import pytest

from gemmviz.catalogue.errors import KernelFault
from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.problem import Problem
from gemmviz.checking.crash import crashed
from gemmviz.checking.examine import examine
from gemmviz.trace.hazards import Finding

MATTER = """// ---gemmviz
// entry = "gemm"
// args = ["A", "B", "C", "M", "N", "K"]
// block = [64]
// grid = [2]
// requires = ["M == 8", "N == 8", "K % 2 == 0"]
// ---
"""
# The first block hands its half of the sums to the second one.
SPLIT = """__device__ float part[64];
__device__ volatile int ready[2];
__global__ void gemm(const float *A, const float *B, float *C, int M, int N, int K)
{
    int t = threadIdx.x, row = t / 8, col = t % 8, half = K / 2;
    float sum = 0;
    for (int k = blockIdx.x * half; k < (blockIdx.x + 1) * half; k++) sum += A[row * K + k] * B[k * N + col];
    if (blockIdx.x == 0) {
        part[t] = sum;
        __threadfence();
        __syncthreads();
        if (t == 0) ready[0] = 1;
        return;
    }
    if (t == 0)
        while (ready[0] == 0) {}
    __syncthreads();
    __threadfence();
    C[row * N + col] = sum + part[t];
    __syncthreads();
    if (t == 0) ready[0] = 0;
}
"""
RESET = "if (t == 0) ready[0] = 0;"
# Each block takes tiles until none is left, and the last block to leave sets the counters back.
QUEUE = """__device__ unsigned taken, left;
__global__ void gemm(const float *A, const float *B, float *C, int M, int N, int K)
{
    __shared__ unsigned row;
    int t = threadIdx.x;
    for (;;) {
        if (t == 0) row = atomicAdd(&taken, 1u);
        __syncthreads();
        unsigned mine = row;
        __syncthreads();
        if (mine >= M) break;
        if (t < N) {
            float sum = 0;
            for (int k = 0; k < K; k++) sum += A[mine * K + k] * B[k * N + t];
            C[mine * N + t] = sum;
        }
    }
    if (t == 0) {
        __threadfence();
        if (atomicAdd(&left, 1u) == gridDim.x - 1) {
            __threadfence();
            taken = 0;
            left = 0;
        }
    }
}
"""


def found(text: str) -> list[Finding]:
    kernel, problem = parse(MATTER + text, Path("mine.cu")), Problem(8, 8, 6)
    try:
        return examine(kernel, problem, {}, deadline_s=5).findings
    except KernelFault as fault:
        return crashed(kernel, problem, {}, str(fault), fault.line, fault.defect, fault.array).findings


def line(text: str, part: str) -> int:
    return (MATTER + text).split(part)[0].count("\n") + 1


@pytest.mark.parametrize("text", [SPLIT, QUEUE])
def test_kernels_that_set_their_flags_back_have_no_finding(text: str) -> None:
    assert found(text) == []


def test_a_flag_that_is_not_set_back_is_named_with_the_line_that_set_it() -> None:
    (finding,) = found(SPLIT.replace(RESET, ""))
    setting, reading = line(SPLIT, "if (t == 0) ready[0] = 1"), line(SPLIT, "while (ready")
    assert (finding.kind, finding.line, finding.other_line) == ("state left behind", setting, reading)
    assert f"ready[0] was left at 1 by the launch before (line {setting}), and was 0 at first" in finding.text
    assert f"So line {reading} does not wait in a second launch" in finding.text


def test_a_wait_that_is_missing_around_scratch_memory_is_a_race() -> None:
    (race,) = found(SPLIT.replace("while (ready[0] == 0) {}", ";"))
    lines = line(SPLIT, "part[t] = sum"), line(SPLIT, "C[row * N + col] = sum")
    assert (race.kind, race.array, (race.line, race.other_line)) == ("race", "part", lines)
    assert "writes part[0]" in race.text


@pytest.mark.parametrize("fence", [0, 1])
def test_a_fence_that_is_missing_around_scratch_memory_is_a_race(fence: int) -> None:
    parts = SPLIT.split("__threadfence();")
    text = "__threadfence();".join(parts[: fence + 1]) + "".join(parts[fence + 1 :])
    text = text if fence else SPLIT.replace("__threadfence();", "", 1)
    (race,) = found(text)
    assert race.kind == "race" and "__threadfence()" in race.text


def test_a_counter_that_is_not_set_back_makes_the_next_c_wrong() -> None:
    (finding,) = found(QUEUE.replace("taken = 0;", ""))
    assert (finding.kind, finding.line, finding.count) == ("state left behind", line(QUEUE, "if (t == 0) row"), 64)
    assert "a second launch gives a wrong C (64 elements): taken was left at 10" in finding.text


def test_what_only_a_third_launch_shows() -> None:
    # The second launch counts from 2 on, so that no block is the last one: the third one takes no tile.
    (finding,) = found(QUEUE.replace("            left = 0;", ""))
    assert finding.kind == "state left behind"
    assert "a third launch gives a wrong C" in finding.text


def test_sums_that_the_launch_before_has_left() -> None:
    (finding,) = found(SPLIT.replace("part[t] = sum;", "part[t] += sum;"))
    assert (finding.kind, finding.line) == ("state left behind", line(SPLIT, "part[t] = sum"))
    assert "reads part[0], which the launch before has left" in finding.text


def test_a_launch_that_waits_for_what_no_launch_does_again() -> None:
    text = SPLIT.replace("if (t == 0) ready[0] = 1;", "if (t == 0) { while (ready[0] == 1) {} ready[0] = 1; }")
    assert found(text) == []
    (finding,) = found(text.replace(RESET, ""))
    assert (finding.kind, finding.line) == ("state left behind", line(SPLIT, "if (t == 0) ready[0] = 1"))
    assert "in a second launch: " in finding.text and "ready[0] was left at 1" in finding.text


def test_a_flag_that_is_forgotten_while_its_neighbours_are_set_back() -> None:
    # Both flags order the same sums: only the second one is left.
    text = SPLIT.replace("ready[0] = 1;", "ready[0] = ready[1] = 1;").replace(
        "ready[0] == 0", "ready[0] * ready[1] == 0"
    )
    (finding,) = found(text)
    assert (finding.kind, finding.line) == ("state left behind", line(SPLIT, "if (t == 0) ready[0] = 1"))
    assert finding.text.startswith("ready[1] was left at 1") and "ready[0] is set back" in finding.text
    assert found(text.replace(RESET, "if (t == 0) ready[0] = ready[1] = 0;")) == []


def test_a_flag_that_host_code_sets_back_is_no_finding() -> None:
    host = """
void run(const float *A, const float *B, float *C, int K)
{
    int zero[2] = {};
    cudaMemcpyToSymbol(ready, zero, sizeof zero);
    gemm<<<2, 64>>>(A, B, C, 8, 8, K);
}
"""
    assert found(SPLIT.replace(RESET, "") + host) == []


def test_a_counter_that_goes_on_is_no_finding() -> None:
    # Each launch adds to the counter, and the blocks wait until it is even again.
    text = SPLIT.replace("volatile int ready[2]", "unsigned ready").replace(RESET, "if (t == 0) atomicAdd(&ready, 1u);")
    text = text.replace("if (t == 0) ready[0] = 1;", "if (t == 0) atomicAdd(&ready, 1u);")
    assert found(text.replace("while (ready[0] == 0)", "while (atomicAdd(&ready, 0u) % 2 == 0)")) == []


def test_volatile_sums_are_no_flags_that_were_forgotten() -> None:
    assert found(SPLIT.replace("__device__ float part[64]", "__device__ volatile float part[64]")) == []
