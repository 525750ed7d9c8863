"""CUDA programs that launch one kernel once, for compute-sanitizer: A, B and C are allocations of their exact size."""

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from gemmviz.backends.tensor_maps import geometry
from gemmviz.catalogue.capability import architecture
from gemmviz.catalogue.given_constants import with_constants
from gemmviz.catalogue.launch import Launch, launch
from gemmviz.catalogue.matrices import MATRICES
from gemmviz.catalogue.tensor_map import SUFFIX
from gemmviz.checking.report import Report

_TYPES = {"float32": "float", "float64": "double", "int32": "int", "float16": "__half", "bfloat16": "__nv_bfloat16"}
_TYPES["float8_e4m3fn"] = "__nv_fp8_e4m3"
_MAIN = """
#line 1 "main.cu"
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <cuda_fp8.h>
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
    std::vector<@IN@> storedA(@SIZE_A@), storedB(@SIZE_B@);
    for (int i = 0; i < M; i++)
        for (int k = 0; k < K; k++) storedA[@AT_A@] = (@IN@)a[i * K + k];
    for (int k = 0; k < K; k++)
        for (int j = 0; j < N; j++) storedB[@AT_B@] = (@IN@)b[k * N + j];
    @IN@ *A, *B;
    @OUT@ *C;
    must(cudaMalloc((void **)&A, sizeof(@IN@) * storedA.size()));
    must(cudaMalloc((void **)&B, sizeof(@IN@) * storedB.size()));
    must(cudaMalloc((void **)&C, sizeof(@OUT@) * M * N));
    must(cudaMemcpy(A, storedA.data(), sizeof(@IN@) * storedA.size(), cudaMemcpyHostToDevice));
    must(cudaMemcpy(B, storedB.data(), sizeof(@IN@) * storedB.size(), cudaMemcpyHostToDevice));
    auto kernel = @ENTRY@;
    must(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, @SHARED@));
    kernel<<<dim3(@GRID@), dim3(@BLOCK@), @SHARED@>>>(@ARGUMENTS@);
    must(cudaGetLastError());
    must(cudaDeviceSynchronize());
    std::vector<@OUT@> c(M * N);
    must(cudaMemcpy(c.data(), C, sizeof(@OUT@) * M * N, cudaMemcpyDeviceToHost));
    int wrong = 0;
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            float sum = 0;
            for (int k = 0; k < K; k++) sum += a[i * K + k] * b[k * N + j];
            wrong += !((float)c[@AT_C@] == (float)(@OUT@)sum);
        }
    printf("C: %d of %d elements wrong\\n", wrong, M * N);
    return 0;
}
"""


_MAPS = """
#line 1 "maps.cu"
#include <cuda.h>
#include <dlfcn.h>

static gemmviz::ptx::tensor_map map_of(void *matrix, int element, cuuint64_t columns, cuuint64_t rows,
                                       cuuint64_t row_bytes, unsigned box_columns, unsigned box_rows, int swizzle)
{
    auto encode = (decltype(&cuTensorMapEncodeTiled))dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuTensorMapEncodeTiled");
    cuuint64_t sizes[] = {columns, rows};
    cuuint32_t box[] = {box_columns, box_rows}, steps[] = {1, 1};
    gemmviz::ptx::tensor_map map;
    CUresult error = encode((CUtensorMap *)&map, (CUtensorMapDataType)element, 2, matrix, sizes, &row_bytes, box, steps,
                            CU_TENSOR_MAP_INTERLEAVE_NONE, (CUtensorMapSwizzle)swizzle,
                            CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (error) {
        printf("CUDA: the tensor map is refused: %d\\n", (int)error);
        exit(2);
    }
    return map;
}
"""


def _argument(job: Launch, name: str) -> str:
    """Return the argument that the program passes for a parameter."""
    if name in MATRICES:
        return name
    matrix = name.removesuffix(SUFFIX)
    if matrix not in job.maps:
        return str(job.scalar(name))
    known = geometry(job, matrix)
    numbers = (known.element, *known.sizes, known.strides[0], *known.box, known.swizzle)
    return f"map_of({matrix}, {', '.join(map(str, numbers))})"


def program(job: Launch) -> str:
    """Return a program that launches `job` once on a GPU and says whether C is right."""
    kernel, problem = job.kernel, job.problem
    at, sizes = {}, {}
    for name, (row, column) in {"A": ("i", "k"), "B": ("k", "j"), "C": ("i", "j")}.items():
        lines, length = problem.shape(name)
        if name in kernel.column_major:
            (row, column), (lines, length) = (column, row), (length, lines)
        # The copy engine wants rows of multiples of 16 bytes.
        if name in kernel.padded:
            length = geometry(job, name).strides[0] // np.dtype(kernel.dtype).itemsize
        at[name], sizes[name] = f"{row} * {length} + {column}", lines * length
    arguments = [_argument(job, name) for name in kernel.args]
    fields = {
        **{"M": problem.m, "N": problem.n, "K": problem.k, "ENTRY": job.entry, "SHARED": job.shared_bytes},
        **{f"AT_{name}": text for name, text in at.items()},
        **{f"SIZE_{name}": size for name, size in sizes.items()},
        **{"IN": _TYPES[kernel.dtype], "OUT": _TYPES[kernel.dtype_out], "ARGUMENTS": ", ".join(arguments)},
        **{key: ", ".join(map(str, shape)) for key, shape in (("GRID", job.grid), ("BLOCK", job.block))},
    }
    main = _MAIN.replace("int main()", f'{_MAPS}#line 1 "main.cu"\nint main()') if job.maps else _MAIN
    for key, value in fields.items():
        main = main.replace(f"@{key}@", str(value))
    macros = "".join(f"#define {name} {value}\n" for name, value in job.macros.items())
    # Plain calls of CUDA's own functions need no header under NVRTC and one here.
    head = f"{macros}#include <cuda_fp16.h>\n"
    text = with_constants(kernel.text, job.constants, kernel.path.name)
    return f'{head}#line 1 "{kernel.path.name}"\n{text}\n{main}'


def write(found: Iterable[dict[str, Any]], folder: Path) -> None:
    """Write a program for each mutant that compiles and for the ladder's kernels, and the findings."""
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
                **{"line": mutant.line, "size": str(report.problem), "launch": job.label, "arch": _exactly(job)},
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
                **{"size": str(report.problem), "launch": job.label, "arch": _exactly(job), "reported": False},
                **{"right_class": True, "right_line": True, "here": []},
            }
        )
    (folder / "mutants.json").write_text(json.dumps(listed, indent=1) + "\n", encoding="utf-8")
    print(f"{len(listed)} programs in {folder}", file=sys.stderr)


def _exactly(job: Launch) -> str:
    return architecture(job.kernel.capability)


def telling(reports: list[Report]) -> Report:
    """Return the first report that finds something at a size that tiles do not divide, else any, else the second."""
    found = [r for r in reports if r.findings]
    uneven = [r for r in found if len({r.problem.m, r.problem.n, r.problem.k}) == 3]
    return (uneven or found or reports[1:] or reports)[0]
