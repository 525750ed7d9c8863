"""Accesses to the shared memory of another block of the cluster: each order that is missing is found, and no other."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest

from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.trace.hazards import Finding, find
from gemmviz.trace.recording.record import record

# Two blocks give each other their sums, in two rounds. The bits of K choose what orders them, so that one compilation
# is enough.
BEGIN, AFTER, BETWEEN, LOADS, MBARRIER, SPLIT, RELAXED = (1 << i for i in range(7))
TEXT = """// ---gemmviz
// entry = "gemm"
// args = ["A", "B", "C", "M", "N", "K"]
// block = [64]
// grid = [2]
// cluster = [2]
// capability = "9.0"
// requires = ["M == 16", "N == 16"]
// ---
__device__ unsigned there(const void *p, unsigned rank)
{
    unsigned at;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(at) : "r"((unsigned)__cvta_generic_to_shared(p)), "r"(rank));
    return at;
}
__device__ void meet(bool really)
{
    if (really)
        asm volatile("barrier.cluster.arrive.release.aligned;\\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
    else
        __syncthreads();
}
__global__ void __cluster_dims__(2, 1, 1) gemm(const float *A, const float *B, float *C, int M, int N, int K)
{
    __shared__ float s[64];
    __shared__ unsigned long long full;
    unsigned rank, at = threadIdx.x, bar = (unsigned)__cvta_generic_to_shared(&full);
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    if (at == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], 64;" :: "r"(bar) : "memory");
    meet(K & 1);
    for (int round = 0; round < 2; round++) {
        int row = round * 8 + at / 8, mine = rank * 8 + at % 8, others = mine ^ 8;
        float sum = 0, got;
        for (int k = 0; k < K; k++) sum += A[row * K + k] * B[k * N + others];
        if (K & 8)
            s[at] = sum; // own
        else
            asm volatile("st.shared::cluster.f32 [%0], %1;" // far
                         :: "r"(there(&s[at], rank ^ 1)), "f"(sum) : "memory");
        if (K & 16) {
            asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" :: "r"(there(&full, rank ^ 1)));
            asm volatile("{\\n.reg .pred p;\\nagain:\\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\\n"
                         "@!p bra again;\\n}" :: "r"(bar), "r"(round) : "memory");
        } else if (K & 64)
            asm volatile("barrier.cluster.arrive.relaxed;\\nbarrier.cluster.wait.acquire;" ::: "memory");
        else
            meet(K & 2);
        if (K & 32) asm volatile("barrier.cluster.arrive.release;" ::: "memory");
        if (K & 8)
            asm volatile("ld.shared::cluster.f32 %0, [%1];" // get
                         : "=f"(got) : "r"(there(&s[at ^ 1], rank ^ 1)) : "memory");
        else
            got = s[at ^ 1]; // take
        if (K & 32)
            asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
        else
            meet(K & 4);
        C[(round * 8 + (at ^ 1) / 8) * N + rank * 8 + (at ^ 1) % 8] = got;
    }
}
"""
MARKS = ("far", "own", "get", "take")
LINES = {mark: next(n for n, line in enumerate(TEXT.splitlines(), 1) if f"// {mark}" in line) for mark in MARKS}

# Two blocks send each other their sums, and a barrier of the receiver counts the bytes.
WAIT, PLAIN = 2, 4
SENT = (
    TEXT[: TEXT.index("__global__")]
    + """__global__ void __cluster_dims__(2, 1, 1) gemm(const float *A, const float *B, float *C, int M, int N, int K)
{
    __shared__ float s[128], plain[64];
    __shared__ unsigned long long full;
    unsigned rank, at = threadIdx.x, bar = (unsigned)__cvta_generic_to_shared(&full), other = at ^ 1;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    if (at == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(bar) : "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 512;" :: "r"(bar) : "memory");
    }
    meet(K & 1);
    float sums[2] = {};
    for (int round = 0; round < 2; round++)
        for (int k = 0; k < K; k++)
            sums[round] += A[(round * 8 + at / 8) * K + k] * B[k * N + (rank ^ 1) * 8 + at % 8];
    if (K & 4)
        asm volatile("st.shared::cluster.f32 [%0], %1;" // beside
                     :: "r"(there(&plain[at], rank ^ 1)), "f"(sums[0]) : "memory");
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.f32 [%0], {%1, %2}, [%3];" // sent
                 :: "r"(there(&s[2 * at], rank ^ 1)), "f"(sums[0]), "f"(sums[1]), "r"(there(&full, rank ^ 1))
                 : "memory");
    if (K & 2)
        asm volatile("{\\n.reg .pred p;\\nagain:\\n"
                     "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], 0;\\n@!p bra again;\\n}"
                     :: "r"(bar) : "memory");
    else
        __syncthreads();
    for (int round = 0; round < 2; round++) {
        float got = s[2 * other + round];
        if (K & 4 && round == 0)
            got = plain[other];
        C[(round * 8 + other / 8) * N + rank * 8 + other % 8] = got; // taken
    }
}
"""
)
SENT_LINES = {
    mark: next(n for n, line in enumerate(SENT.splitlines(), 1) if line.endswith(f"// {mark}"))
    for mark in ("sent", "beside", "taken")
}
SENT_LINES["initialised"] = next(n for n, line in enumerate(SENT.splitlines(), 1) if "mbarrier.init" in line)


@cache
def found(ways: int) -> list[Finding]:
    recording = record(launch(parse(TEXT, Path("mine.cu")), Problem(16, 16, ways)), deadline_s=10)
    return find(recording)


def in_short(findings: list[Finding], lines: Mapping[str, int] = LINES) -> set[tuple[str, str]]:
    """Return the lines of findings."""
    name = {line: mark for mark, line in lines.items()} | {0: ""}
    return {(name[f.line], name[f.other_line]) for f in findings if f.kind == "race"}


@pytest.mark.parametrize(
    "ways",
    [BEGIN | AFTER | BETWEEN, BEGIN | AFTER | BETWEEN | LOADS, BEGIN | MBARRIER | BETWEEN],
    ids=["stores", "loads", "mbarrier"],
)
def test_blocks_in_order_have_no_finding(ways: int) -> None:
    assert found(ways) == []


@pytest.mark.parametrize(
    ("ways", "expected"),
    [
        (AFTER | BETWEEN, {("far", "")}),
        (BEGIN | BETWEEN, {("far", "take")}),
        (BEGIN | AFTER, {("far", "take")}),
        (BEGIN | MBARRIER, {("far", "take")}),
        (BEGIN | RELAXED | BETWEEN, {("far", "take")}),
        (BEGIN | AFTER | SPLIT, {("far", "take")}),
        (BEGIN | BETWEEN | LOADS, {("own", "get")}),
        (BEGIN | AFTER | LOADS, {("own", "get"), ("get", "")}),
        (BEGIN | AFTER | LOADS | SPLIT, {("own", "get"), ("get", "")}),
    ],
)
def test_each_missing_order_is_found_with_its_lines(ways: int, expected: set[tuple[str, str]]) -> None:
    assert in_short(found(ways)) == expected


def test_the_sentences_name_the_thread_where_it_runs_and_the_block_of_the_memory() -> None:
    (first,) = found(AFTER | BETWEEN)
    assert first.text == (
        "Thread 0 of block 1 uses s[0] of block 0, but that block may not have started yet: the blocks of the cluster "
        "must synchronise before"
    )
    (race,) = found(BEGIN | AFTER)
    assert race.text.startswith("Thread 0 of block 1 writes s[0] of block 0 (line ")
    assert "while thread 1 of block 0 reads it" in race.text
    assert any("of block 0, but that block may have left" in f.text for f in found(BEGIN | AFTER | LOADS))


@pytest.mark.parametrize(
    ("ways", "expected"),
    [
        (BEGIN | WAIT, set()),
        (BEGIN, {("sent", "taken"), ("sent", "")}),
        (WAIT, {("sent", "initialised"), ("sent", "")}),
        # Bytes that are counted order nothing else that the thread has stored.
        (BEGIN | WAIT | PLAIN, {("beside", "taken"), ("beside", "")}),
    ],
    ids=["waits", "waits for nothing", "may not have started", "a store beside"],
)
def test_sums_that_are_sent_are_there_after_the_wait_for_their_bytes(ways: int, expected: set[tuple[str, str]]) -> None:
    recording = record(launch(parse(SENT, Path("sent.cu")), Problem(16, 16, ways)), deadline_s=10)
    assert in_short(find(recording), SENT_LINES) == expected
    assert recording.wrong == 0
