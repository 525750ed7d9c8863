"""CUDA programs that launch one kernel once, for compute-sanitizer: A, B and C are allocations of their exact size."""

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from gemmviz.catalogue.kernel import MATRICES
from gemmviz.catalogue.launch import Launch, launch
from gemmviz.checking.report import Report

_TYPES = {"float32": "float", "float64": "double", "int32": "int", "float16": "__half", "bfloat16": "__nv_bfloat16"}
_MAIN = """
#line 1 "main.cu"
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <vector>

static void must(cudaError_t error)
{
    if (error != cudaSuccess) {
        printf("CUDA: %s\\n", cudaGetErrorString(error));
        exit(2);
    }
}

int main()
{
    const int M = @M@, N = @N@, K = @K@;
    std::vector<float> a(M * K), b(K * N);
    unsigned state = 1;
    for (auto *matrix : {&a, &b})
        for (auto &value : *matrix) {
            state = state * 1664525u + 1013904223u;
            const int six[] = {-3, -2, -1, 1, 2, 3};
            value = (float)six[(state >> 16) % 6];
        }
    std::vector<@IN@> storedA(M * K), storedB(K * N);
    for (int i = 0; i < M; i++)
        for (int k = 0; k < K; k++) storedA[@AT_A@] = (@IN@)a[i * K + k];
    for (int k = 0; k < K; k++)
        for (int j = 0; j < N; j++) storedB[@AT_B@] = (@IN@)b[k * N + j];
    @IN@ *A, *B;
    @OUT@ *C;
    must(cudaMalloc((void **)&A, sizeof(@IN@) * M * K));
    must(cudaMalloc((void **)&B, sizeof(@IN@) * K * N));
    must(cudaMalloc((void **)&C, sizeof(@OUT@) * M * N));
    must(cudaMemcpy(A, storedA.data(), sizeof(@IN@) * M * K, cudaMemcpyHostToDevice));
    must(cudaMemcpy(B, storedB.data(), sizeof(@IN@) * K * N, cudaMemcpyHostToDevice));
    @ENTRY@<<<dim3(@GRID@), dim3(@BLOCK@), @SHARED@>>>(@ARGUMENTS@);
    must(cudaGetLastError());
    must(cudaDeviceSynchronize());
    std::vector<@OUT@> c(M * N);
    must(cudaMemcpy(c.data(), C, sizeof(@OUT@) * M * N, cudaMemcpyDeviceToHost));
    int wrong = 0;
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            float sum = 0;
            for (int k = 0; k < K; k++) sum += a[i * K + k] * b[k * N + j];
            wrong += !((float)c[@AT_C@] == sum);
        }
    printf("C: %d of %d elements wrong\\n", wrong, M * N);
    return 0;
}
"""


def program(job: Launch) -> str:
    """Return a program that launches `job` once on a GPU and says whether C is right."""
    kernel, problem = job.kernel, job.problem
    places = {"A": ("i", "k", "M", "K"), "B": ("k", "j", "K", "N"), "C": ("i", "j", "M", "N")}
    at = {
        name: f"{column} * {rows} + {row}" if name in kernel.column_major else f"{row} * {columns} + {column}"
        for name, (row, column, rows, columns) in places.items()
    }
    arguments = [name if name in MATRICES else str(job.scalar(name)) for name in kernel.args]
    fields = {
        **{"M": problem.m, "N": problem.n, "K": problem.k, "ENTRY": job.entry, "SHARED": job.shared_bytes},
        **{f"AT_{name}": text for name, text in at.items()},
        **{"IN": _TYPES[kernel.dtype], "OUT": _TYPES[kernel.accumulate], "ARGUMENTS": ", ".join(arguments)},
        **{key: ", ".join(map(str, shape)) for key, shape in (("GRID", job.grid), ("BLOCK", job.block))},
    }
    main = _MAIN
    for key, value in fields.items():
        main = main.replace(f"@{key}@", str(value))
    macros = "".join(f"#define {name} {value}\n" for name, value in job.macros.items())
    # Plain calls of CUDA's own functions need no header under NVRTC and one here.
    head = f"{macros}#include <cuda_fp16.h>\n"
    return f'{head}#line 1 "{kernel.path.name}"\n{kernel.text}\n{main}'


def write(found: Iterable[dict[str, Any]], folder: Path) -> None:
    """Write a program for each mutant that compiles and for the ladder's kernels themselves, and what was found."""
    folder.mkdir(parents=True, exist_ok=True)
    cuda = [row for row in found if row["compiles"] and row["mutant"].original.backend == "cuda"]
    listed = []
    for row in cuda:
        mutant = row["mutant"]
        report = telling(row["reports"])
        job = launch(mutant.kernel, report.problem, report.params)
        file = f"{mutant.kernel.name}.cu"
        (folder / file).write_text(program(job), encoding="utf-8")
        listed.append(
            {
                **{"file": file, "name": mutant.name, "kernel": mutant.original.name, "operator": mutant.operator},
                **{"line": mutant.line, "size": str(report.problem), "launch": job.label},
                **{"reported": bool(row["findings"]), "right_class": row["class"], "right_line": row["line"]},
                "here": sorted({(f.kind, f.line) for f in report.findings}),
            }
        )
    originals = {row["mutant"].original.name: row for row in cuda}
    for name, row in originals.items():
        report = row["reports"][min(1, len(row["reports"]) - 1)]
        job = launch(row["mutant"].original, report.problem, report.params)
        (folder / f"{name}.cu").write_text(program(job), encoding="utf-8")
        listed.append(
            {
                **{"file": f"{name}.cu", "name": name, "kernel": name, "operator": "(none)", "line": 0},
                **{"size": str(report.problem), "launch": job.label, "reported": False},
                **{"right_class": True, "right_line": True, "here": []},
            }
        )
    (folder / "mutants.json").write_text(json.dumps(listed, indent=1) + "\n", encoding="utf-8")
    print(f"{len(listed)} programs in {folder}", file=sys.stderr)


def telling(reports: list[Report]) -> Report:
    """Return the first report that finds something at a size that tiles do not divide, else any, else the second."""
    found = [r for r in reports if r.findings]
    uneven = [r for r in found if len({r.problem.m, r.problem.n, r.problem.k}) == 3]
    return (uneven or found or reports[1:] or reports)[0]
