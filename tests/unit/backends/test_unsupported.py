"""Parts of CUDA that cannot be recorded are refused with name, line and a remedy."""

from pathlib import Path

import pytest

from gemmviz.backends import toolchain
from gemmviz.backends.unsupported import find
from gemmviz.catalogue.errors import BuildError, KernelFault
from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.trace.recording.record import record

FRONT = '// ---gemmviz\n// entry = "k"\n// args = ["A", "B", "C"]\n// block = [32]\n// grid = [1]\n// ---\n'
HEAD = "__global__ void k(const float *A, const float *B, float *C)\n{\n"


def refusal(text: str) -> BuildError:
    with pytest.raises(BuildError) as caught:
        record(launch(parse(FRONT + text, Path("mine.cu")), Problem.cube(8)), deadline_s=5)
    return caught.value


@pytest.mark.parametrize(
    ("statement", "named"),
    [
        (
            "__shared__ cuda::barrier<cuda::thread_scope_block> b;",
            "cuda::barrier cannot be recorded: include <cuda/barrier>",
        ),
        ("cuda::memcpy_async(C, A, 16, pipe);", "cuda::memcpy_async cannot be recorded"),
        ("cuda::device::memcpy_async_tx(C, A, 16, b);", "cuda::device::memcpy_async_tx cannot be recorded"),
        ("cuda::ptx::tcgen05_alloc(C, 32);", "cuda::ptx::tcgen05_alloc cannot be recorded"),
        ("cooperative_groups::coalesced_threads();", "cooperative_groups::coalesced_threads cannot be recorded"),
        (
            "cooperative_groups::this_thread_block().sync();",
            "cooperative_groups::this_thread_block cannot be recorded: include <cooperative_groups.h>",
        ),
        ("C[0] = tex2D<float>(t, 1, 2);", "tex2D (textures) cannot be recorded"),
        ("C = (float *)malloc(16);", "malloc (memory that a thread asks for) cannot be recorded: give the thread"),
        ("free(C);", "free (memory that a thread asks for) cannot be recorded"),
        ("C = (float *)alloca(16);", "alloca (memory that a thread asks for) cannot be recorded"),
        ("((float **)C)[1] = new float[threadIdx.x];", "new (memory that a thread asks for) cannot be recorded"),
        ("delete[] C;", "delete (memory that a thread asks for) cannot be recorded"),
        ("cudaMalloc(&C, 16);", "host code (cudaMalloc) cannot be recorded"),
        ("k<<<1, 32>>>(A, B, C);", "host code (<<<) cannot be recorded"),
        ("wgmma_fence();", "wgmma_fence (warp-group tensor cores) cannot be recorded"),
        ("cluster.sync(); cluster_group g;", "cluster_group (clusters) cannot be recorded"),
    ],
)
def test_it_is_refused_by_name_and_line(statement: str, named: str) -> None:
    error = refusal(HEAD + "    C[0] = 1;\n    " + statement + "\n}\n")
    assert error.line == 10
    assert str(error).startswith("mine.cu:10: ")
    assert named in str(error) and "\n" not in str(error)


def test_a_library_that_is_not_there_is_refused_by_name() -> None:
    header = "cutlass/gemm/device/gemm.h"
    error = refusal(f"#include <mma.h>\n#include <{header}>\n" + HEAD + "    cutlass::arch::fence();\n}\n")
    assert error.line == 8
    assert f"#include <{header}> cannot be recorded" in str(error)


@pytest.mark.parametrize(
    "header", ["curand_kernel.h", "cuda/barrier", "cuda/std/type_traits", "nowhere.h", "ablib/matrix.h"]
)
def test_a_header_of_which_a_kernel_uses_nothing_stops_no_recording(header: str) -> None:
    text = f"#include <{header}>\n" + HEAD + "    C[threadIdx.x] = A[0] * B[0];\n}\n"
    record(launch(parse(FRONT + text, Path("mine.cu")), Problem.cube(8)), deadline_s=5)


def test_a_fragment_that_no_tensor_core_has_names_the_line_that_declares_it() -> None:
    body = (
        HEAD + "    nvcuda::wmma::fragment<nvcuda::wmma::matrix_a, 16, 16, 16, float, nvcuda::wmma::row_major> a;\n}\n"
    )
    error = refusal("#include <mma.h>\n" + body)
    assert error.line == 10
    assert "no tensor core has fragments of this type and shape" in str(error)
    error = refusal("#include <mma.h>\n" + body.replace("16, 16, 16, float", "8, 8, 32, signed char"))
    assert error.line == 10 and "use 16x16x16, 32x8x16 or 8x32x16" in str(error)


def test_an_assertion_that_is_false_names_line_and_thread() -> None:
    text = HEAD + "    C[threadIdx.x] = A[0];\n    assert(threadIdx.x != 5);\n    assert(true);\n}\n"
    kernel = parse(FRONT + text, Path("mine.cu"))
    with pytest.raises(KernelFault, match=r"mine.cu:10: the assertion is false in thread \(5, 0, 0\)") as caught:
        record(launch(kernel, Problem.cube(8)), deadline_s=5)
    assert caught.value.line == 10


@pytest.mark.parametrize("trap", ["__trap();", 'asm volatile("trap;");'])
def test_a_trap_names_line_and_thread_and_is_the_kernels_own_end(trap: str) -> None:
    kernel = parse(FRONT + HEAD + f"    if (threadIdx.x == 5)\n        {trap}\n    C[0] = A[0];\n}}\n", Path("mine.cu"))
    with pytest.raises(KernelFault, match=r"mine.cu:10: thread \(5, 0, 0\) .*reaches a trap: there") as caught:
        record(launch(kernel, Problem.cube(8)), deadline_s=5)
    assert (caught.value.line, caught.value.defect) == (10, "false assertion")


def test_the_end_of_a_function_without_its_value_is_said_so() -> None:
    # A program may do anything there: at this instruction compilers often end it.
    text = "__device__ float last(float x) { __builtin_trap(); }\n"
    kernel = parse(FRONT + text + HEAD + "    C[threadIdx.x] = last(A[0]);\n}\n", Path("mine.cu"))
    with pytest.raises(KernelFault, match=r"Illegal instruction \(such as the end of a function"):
        record(launch(kernel, Problem.cube(8)), deadline_s=5)


def test_words_in_comments_and_texts_are_no_features() -> None:
    error = refusal(HEAD + '    // asm volatile("x");\n    const char *s = "asm"; C[0] = oops; /* wgmma */\n}\n')
    assert error.line == 10 and "oops" in str(error)


def test_words_in_our_own_header_are_no_features() -> None:
    names = ("wgmma_begin()", "wgmma_wait<0>()", "wgmma_m64n256k16_f32_bf16<ACROSS_K>(d, a, b, 1)", "cluster_rank()")
    for name in (*names, "cluster_meet()", "barrier_wait(b, 0)", "tma_load(s, A, 0, 0, b)"):
        assert find(f"{name};") == []
    assert [r.line for r in find("wgmma_begin();\nwgmma_fence();\ncluster_rank_of();")] == [2, 3]


def test_a_typing_error_elsewhere_is_not_blamed_on_an_unused_feature() -> None:
    error = refusal('__device__ void f() { asm volatile("exit;"); }\n' + HEAD + "    C[0] = oops;\n}\n")
    assert error.line == 10 and "oops" in str(error)


def test_an_error_in_a_template_names_the_line_that_asks_for_it() -> None:
    gcc = (
        "/x/mma.h: In instantiation of 'struct f<2>':\n"
        "mine.cu:7:9:   required from here\n"
        "/x/mma.h:3:5: error: static assertion failed: choose another\n"
    )
    clang = (
        "/x/mma.h:3:5: error: static assertion failed due to requirement '2 == 3': choose another\n"
        "mine.cu:7:9: note: in instantiation of template class 'f<2>' requested here\n"
    )
    for text in (gcc, clang):
        error = toolchain.first_error(text, Path("mine.cu"))
        assert (error.line, str(error)) == (7, "mine.cu:7: choose another")


@pytest.mark.parametrize(
    "said", ["use of undeclared identifier '__new'", "'__new' was not declared in this scope", "'own' was not declared"]
)
def test_a_function_of_cuda_that_is_not_known_is_called_so(said: str) -> None:
    error = toolchain.first_error(f"mine.cu:7:9: error: {said}\n", Path("mine.cu"))
    assert error.line == 7 and ("recorder does not know __new:" in str(error)) == ("__new" in said)
    assert "recorder" not in str(toolchain.first_error(f"mine.c:7:9: error: {said}\n", Path("mine.c")))


def test_a_function_of_the_text_itself_is_no_part_of_cuda() -> None:
    own = "__device__ void my_wgmma_m64(float x) { missing(x); }\n"
    assert not find(own) and find("__device__ void k() { wgmma_fence(); }\n")
    assert "missing" in str(refusal(own + HEAD + "    my_wgmma_m64(1); C[0] = 1;\n}\n"))
