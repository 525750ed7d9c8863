"""Damaged files beside a kernel without front matter: a notebook, build files, a header, a script."""

import json
from random import Random

from damaging.data import changed_bytes, changed_tree, json_text
from damaging.source import changed_source

BARE = """#include "sides.h"
#if SIDE > 4
template <int WIDE> __global__ void gemm(const float *A, const float *B, float *C, int M, int N, int K)
{
    int row = blockIdx.y * SIDE + threadIdx.y, col = blockIdx.x * WIDE + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < K; k++) sum += A[row * K + k] * B[k * N + col];
    C[row * N + col] = sum;
}
#endif
"""
_LAUNCH = "dim3 block(WIDTH, SIDE);\ngemm<WIDTH><<<dim3(N / WIDTH, M / SIDE), block>>>(A, B, C, M, N, K);\n"
_HEADER = "#pragma once\n#ifndef SIDE\n#define SIDE 8\n#endif\nconstexpr int WIDTH = 2 * SIDE;\n"
_CELL = {"cell_type": "code", "metadata": {}, "outputs": []}
_NOTEBOOK = {"nbformat": 4, "cells": [{**_CELL, "source": ["%%cu\n", _LAUNCH]}, {**_CELL, "source": "!nvcc -DSIDE=8"}]}
_TEXTS = {
    "Makefile": "SIDE ?= 8\nall:\n\tnvcc -DSIDE=$(SIDE) -D WIDTH=16 mine.cu\n",
    "CMakeLists.txt": "set(SIDE 8)\ntarget_compile_definitions(mine PRIVATE SIDE=${SIDE} WIDTH=16)\n",
    "sides.h": _HEADER,
    "run.py": f'CODE = """\n{_LAUNCH}"""\nsides = ["-DSIDE=8"]\n',
    "main.cu": f'#include "sides.h"\nvoid run(float *A, float *B, float *C, int M, int N, int K) {{\n{_LAUNCH}}}\n',
}
_LONG = ("9" * 5000, "8" * 25, "0x" + "f" * 5000, "-8", "0", "8.5e999")


def damaged_neighbours(random: Random) -> dict[str, bytes]:
    """Return the files beside `BARE`, by name: at least one of them is damaged."""
    sound = {name: text.encode() for name, text in _TEXTS.items()} | {"run.ipynb": json.dumps(_NOTEBOOK).encode()}
    kept = random.sample(sorted(sound), random.randint(1, len(sound)))
    damaged = random.sample(kept, random.randint(1, len(kept)))
    return {name: _damaged(name, random) if name in damaged else sound[name] for name in kept}


def _damaged(name: str, random: Random) -> bytes:
    if name == "run.ipynb":
        raw = json_text(changed_tree(_NOTEBOOK, random), random).encode("utf-8", "surrogatepass")
        return raw if random.random() < 0.7 else changed_bytes(raw, random)
    text, way = _TEXTS[name], random.random()
    if way < 0.3:
        return text.replace("8", random.choice(_LONG), random.choice((1, -1))).encode()
    if way < 0.6:
        return changed_source(text, (0, len(text)), random).encode("utf-8", "surrogatepass")
    return changed_bytes(text.encode(), random)
