"""Kernels without front matter: rungs that lost it, and a product whose names a test chooses."""

import re

from gemmviz.catalogue.guessing.guess import guess
from gemmviz.catalogue.guessing.guessed_matter import Guess
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.ladder import ladder
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.trace.recording.record import record

# How large the boxes of a tensor map are, no source says.
RUNGS = [kernel for kernel in ladder() if kernel.recordable and len(kernel.path.stem) < 60 and not kernel.maps]
FRONT = re.compile(r"^// ---gemmviz\n(//(?! ---).*\n)*// ---\n", re.MULTILINE)


def bare(kernel: Kernel) -> Guess:
    return guess(FRONT.sub("", kernel.text), kernel.path)


def wrong(kernel: Kernel, size: Problem) -> str:
    recording = record(launch(kernel, size), deadline_s=10)
    return "wrong" if recording.wrong or recording.notes else ""


GEMM = """
__global__ void gemm(SIGNATURE)
{
    int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
    if (row >= ROWS || col >= COLS) return;
    float s = 0;
    for (int i = 0; i < SUM; i++) s += LEFT[row * SUM + i] * RIGHT[i * COLS + col];
    OUT[row * COLS + col] = s;
}
"""


def written(signature: str, rows: str, cols: str, inner: str, left: str, right: str, out: str) -> str:
    text = GEMM.replace("SIGNATURE", signature).replace("ROWS", rows).replace("COLS", cols).replace("SUM", inner)
    return text.replace("LEFT", left).replace("RIGHT", right).replace("OUT", out)


FILE = written("float *A, float *B, float *C, int M, int N, int K", "M", "N", "K", "A", "B", "C")
