"""Accesses through a null pointer and far outside of a local array: the fault names them and their line."""

import mmap
from pathlib import Path
from typing import Any

import pytest

from gemmviz.catalogue.errors import KernelFault
from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.simt import arguments
from gemmviz.simt.arguments import FAR_BYTES
from gemmviz.trace.recording.record import record

MATTER = """// ---gemmviz
// entry = "gemm"
// args = ["A", "B", "C", "N"]
// block = ["16"]
// grid = ["1"]
// ---
"""
HEAD = "__global__ void gemm(const float *A, const float *B, float *C, int N)\n{\n    int i = threadIdx.x;\n"
FAR = """__noinline__ __device__ float far_away(long n)
{
    float local[8];
    for (int i = 0; i < 8; i++) local[i] = i;
    STATEMENT
    float sum = 0;
    for (int i = 0; i < 8; i++) sum += local[i];
    return sum;
}
"""


def fault(text: str) -> KernelFault:
    kernel = parse(MATTER + text, Path("mine.cu"))
    with pytest.raises(KernelFault) as caught:
        record(launch(kernel, Problem(16, 16, 16)), deadline_s=10)
    lines = kernel.text.splitlines()
    assert caught.value.line and "// here" in lines[caught.value.line - 1]
    return caught.value


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("    float *p = nullptr;\n    p[i] = A[i]; // here\n    C[i] = B[i];\n", "writes through a null pointer"),
        ("    float *p = NULL;\n    C[i] = p[i]; // here\n", "reads through a null pointer (address 0x0)"),
        ("    C[i] = B[i];\n    *(int *)0 = 5; // here\n", "writes through a null pointer (address 0x0)"),
        (
            "    float *p = (float *)((unsigned long)N << 58);\n    p[i] = 1; // here\n    C[i] = B[i];\n",
            "a pointer without a valid address",
        ),
    ],
    ids=["write", "read", "constant", "no address"],
)
def test_an_access_through_a_null_pointer_is_named(body: str, said: str) -> None:
    found = str(fault(f"{HEAD}{body}}}\n"))
    assert said in found and ("null" in found) == ("null" in said)


def test_after_a_local_array_the_pointer_may_have_been_overwritten() -> None:
    body = "    float *p = nullptr;\n    float held[4];\n    for (int k = 0; k < 4; k++) held[(i + k) % 4] = k;\n"
    found = str(fault(f"{HEAD}{body}    p[i] = held[i % 4]; // here\n    C[i] = B[i];\n}}\n"))
    assert "null pointer (address 0x0). The pointer may have been overwritten: by a local array (held)" in found


@pytest.mark.parametrize("distance", [100_000_000, -100_000_000, 400_000_000, 250_000])
@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("local[n * {d}] = 1; // here", "writes far outside of the local array local"),
        ("local[n & 7] = local[n * {d}]; // here", "reads far outside of the local array local"),
        ("float *at = local + n * {d}; *at += 1; // here", "address 0x"),
    ],
    ids=["write", "read", "pointer"],
)
def test_an_access_far_outside_of_a_local_array_is_named(statement: str, said: str, distance: int) -> None:
    far = FAR.replace("STATEMENT", statement.format(d=distance))
    assert said in str(fault(f"{far}{HEAD}    C[i] = A[i] + far_away((long)N / 16);\n}}\n"))


@pytest.mark.parametrize("distance", [1 << 20, 1 << 24, 1 << 28, 1 << 29, 1 << 30, -(1 << 20), -(1 << 29), -(1 << 30)])
@pytest.mark.parametrize(
    ("statement", "matrix"),
    [
        ("C[i + D] = A[i] + B[i]; // here", "C"),
        ("C[i] = A[i + D] + B[i]; // here", "A"),
        ("const float *at = B + D;\n    C[i] = A[i];\n    C[i] = at[i]; // here", "B"),
        ("C[i] = B[i];\n    *reinterpret_cast<float4 *>(C + D) = make_float4(A[i], 0, 0, 0); // here", "C"),
    ],
    ids=["write", "read", "pointer", "vector"],
)
def test_no_memory_is_far_outside_of_a_matrix(statement: str, matrix: str, distance: int) -> None:
    # Its recording's own memory is somewhere: a write there would be found by nobody.
    found = str(fault(f"{HEAD}    {statement.replace('D', str(distance))}\n}}\n"))
    assert f"{matrix}[{distance}], out of bounds (it has 256 elements)" in found


def test_without_the_addresses_around_a_matrix_it_is_recorded_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    refused = []

    class Narrow(mmap.mmap):
        def __new__(cls, *args: Any, **kwargs: Any) -> "Narrow":
            if args[1] > FAR_BYTES:
                refused.append(args[1])
                raise OSError
            return super().__new__(cls, *args, **kwargs)

    monkeypatch.setattr(arguments.mmap, "mmap", Narrow)
    kernel = parse(f"{MATTER}{HEAD}    C[i] = A[i] + B[i];\n}}\n", Path("mine.cu"))
    assert record(launch(kernel, Problem(16, 16, 16)), deadline_s=10).accesses.element.size == 48
    assert len(refused) >= 3
