"""Cooperation of threads is recorded: words in comments and texts of a kernel decide nothing."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.proving.movers import PRODUCT, THREAD, movers
from gemmviz.proving.predicting import of
from gemmviz.trace import hazards
from gemmviz.trace.hopper.warpgroups import warpgroups
from gemmviz.trace.order.timeline import build
from gemmviz.trace.origin.fragments import shape_of
from gemmviz.trace.origin.provenance import together
from gemmviz.trace.recording.record import record
from gemmviz.trace.recording.recording import WARP, WARPGROUP, Recording

STYLES = Path(__file__).parents[1] / "styles"
WORDS = " /* fragment<matrix_a, 16, 16, 16, half> */ // wgmma_m64n64k16_f32, mma_sync, __shfl_sync, __device__ float z;"
ONE = """// ---gemmviz
// entry = "k"
// args = ["A", "B", "C", "M", "N", "K"]
// block = [32]
// grid = [1]
// ---
__global__ void k(const float *A, const float *B, float *C, int M, int N, int K)
{
    int column = threadIdx.x;
    for (int row = 0; row < M; row++) {
        float s = 0;
        for (int i = 0; i < K; i++) s += A[row * K + i] * B[i * N + column];
        STATEMENT
        C[row * N + column] = s;
    }
}
"""


def with_words(text: str) -> str:
    """Return a kernel with words of tensor cores in a comment behind each line of its code."""
    return re.sub(r"^(?!//)(.*;)$", rf"\1{WORDS}", text, flags=re.MULTILINE)


SMALL = Problem(8, 32, 8)


def recorded(text: str, problem: Problem = SMALL) -> Recording:
    return record(launch(parse(text, Path("k.cu")), problem), deadline_s=20)


@pytest.mark.parametrize(
    ("statement", "threads"),
    [
        ("", 1),
        ("__syncwarp();", 1),
        ("if (__any_sync(~0u, s < -9999)) s = 0;", 1),
        ("s = __shfl_sync(~0u, s, column);", WARP),
    ],
)
def test_lanes_work_together_where_an_instruction_hands_values_on(statement: str, threads: int) -> None:
    plain = recorded(ONE.replace("STATEMENT", statement))
    assert (plain.together, plain.wrong) == (threads, 0)
    assert recorded(with_words(ONE.replace("STATEMENT", statement))).together == threads


@pytest.mark.parametrize(
    ("name", "threads"), [("RR", 1), ("matmul_tc", WARP), ("mma_pipeline", WARP), ("wgmma", WARPGROUP)]
)
def test_the_rungs_say_how_many_threads_work_on_a_product(name: str, threads: int) -> None:
    kernel = find(name, ladder())
    one_block = record(launch(kernel, Problem(128, 128, 64)), deadline_s=20, blocks=(0, 1))
    assert one_block.together == threads
    assert any(site.product for site in one_block.sites) == (threads == WARPGROUP)


def test_words_in_comments_change_no_fact_about_a_recording() -> None:
    text = find("gputiled", ladder()).text.partition("// ---gemmviz breaks")[0]
    plain, wordy = (recorded(text, Problem.cube(32)) for text in (text, with_words(text)))
    assert "wgmma" in wordy.text
    timelines = [build(recording) for recording in (plain, wordy)]
    assert together(wordy) == together(plain) == WARP
    assert [warpgroups(r, t).count for r, t in zip((plain, wordy), timelines, strict=True)] == [0, 0]
    assert (movers(wordy) == THREAD).all()
    assert of(wordy).own == of(plain).own == ()
    assert shape_of(wordy.text) is None


def test_a_wrong_c_is_explained_alike_with_words_in_comments() -> None:
    text = ONE.replace("STATEMENT", "").replace("i < K", "i < K - 1")
    found = [hazards.find(recorded(one)) for one in (text, with_words(text))]
    assert found[0] and [(f.kind, f.line, f.text) for f in found[0]] == [(f.kind, f.line, f.text) for f in found[1]]


def test_a_thread_s_read_on_the_line_of_a_product_is_a_thread_s() -> None:
    text = (STYLES / "wgmma_ring.cu").read_text(encoding="utf-8")
    kernel = parse(text, Path("wgmma_ring.cu"))
    recording = record(launch(kernel, Problem(128, 128, 64), {"BLOCKS": 1, "CLUSTER": 1}), deadline_s=20)
    line = next(site.line for site in recording.sites if site.product)
    same_line = tuple(replace(site, line=line) for site in recording.sites)
    assert np.array_equal(movers(replace(recording, sites=same_line)), movers(recording))
    assert (movers(recording) == PRODUCT).any()
