"""C kernels: compiled, called with converted scalars, cached."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from gemmviz import data
from gemmviz.backends import toolchain
from gemmviz.backends.blas import NumpyBackend, blas_facts
from gemmviz.backends.native import NativeBackend, compile_kernel
from gemmviz.catalogue.errors import BuildError, Unavailable
from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.ladder import ladder
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem, small_integer_inputs

HEAD = """// ---gemmviz
// entry  = "mine"
// args   = ["B", "alpha", "K", "A", "beta", "C", "N", "M", "ldb"]
// params = { UNROLL = [2, 4] }
// layout = { B = "column", C = "column" }
// ---
"""
BODY = """#include <stddef.h>
#if UNROLL != 4
#error "the macro must arrive"
#endif
void mine(const float *b, float alpha, short k, float *a, double beta, float *c, size_t n, unsigned m, int ldb)
{
    for (unsigned i = 0; i < m; i++)
        for (size_t j = 0; j < n; j++) {
            float sum = 0;
            for (short l = 0; l < k; l++)
                sum += a[i * k + l] * b[l + j * ldb];
            c[i + j * m] = alpha * sum + beta * c[i + j * m];
        }
}
"""


def product(backend, concrete):
    a, b = small_integer_inputs(concrete.problem, "float32")
    prepared = backend.prepare(concrete)
    prepared.load(a, b)
    prepared.poison()
    prepared.run()
    c, intact = prepared.fetch(), prepared.intact()
    prepared.close()
    return c, a @ b, intact


@pytest.mark.sweep("size*-loop_order", "size*-simd", "size*-hostmult_threads", "size*-numpy")
@pytest.mark.parametrize("kernel", [k for k in ladder() if k.backend in ("c", "numpy")], ids=lambda k: k.name)
@pytest.mark.parametrize("size", [(1, 1, 1), (17, 5, 31), (64, 64, 64)])
def test_every_cpu_rung_multiplies(kernel, size):
    backend = NativeBackend() if kernel.backend == "c" else NumpyBackend()
    c, wanted, intact = product(backend, launch(kernel, Problem(*size)))
    assert np.array_equal(c, wanted)
    assert intact


def test_foreign_argument_orders_types_and_layouts_need_no_change_of_the_code():
    kernel = parse(HEAD + BODY, Path("foreign.c"))
    c, wanted, intact = product(NativeBackend(), launch(kernel, Problem(6, 9, 4), {"UNROLL": 4}))
    assert np.array_equal(c, wanted)
    assert intact


def test_an_error_has_the_line_of_the_users_file():
    text = HEAD + BODY.replace("float sum = 0;", "flout sum = 0;")
    line = text.splitlines().index("            flout sum = 0;") + 1
    with pytest.raises(BuildError, match=f"foreign.c:{line}: ") as caught:
        compile_kernel(launch(parse(text, Path("foreign.c")), Problem.cube(4), {"UNROLL": 4}))
    assert caught.value.line == line


def test_a_call_that_does_not_fit_the_prototype_is_explained():
    text = HEAD + BODY.replace(", int ldb)", ", int ldb, int more)")
    with pytest.raises(BuildError, match=r"cannot be called with args \[B, alpha, K"):
        compile_kernel(launch(parse(text, Path("foreign.c")), Problem.cube(4), {"UNROLL": 4}))


def test_the_second_build_comes_from_the_cache_and_another_text_does_not(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))  # an empty one: the tests' own is kept from run to run
    first = parse(HEAD + BODY + "// one\n", Path("foreign.c"))
    second = parse(HEAD + BODY + "// two\n", Path("foreign.c"))
    library, build = compile_kernel(launch(first, Problem.cube(4), {"UNROLL": 4}))
    again, cached = compile_kernel(launch(first, Problem.cube(8), {"UNROLL": 4}))
    other, _ = compile_kernel(launch(second, Problem.cube(4), {"UNROLL": 4}))
    assert build.compile_ms is not None and cached.compile_ms is None
    assert library == again != other
    assert "-ffast-math" not in build.flags and "-O3" in build.flags


def test_a_cache_folder_that_cannot_be_written_is_replaced_and_said_so(monkeypatch, tmp_path):
    def refuse() -> Path:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(data, "cache_dir", refuse)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    library, build = compile_kernel(launch(parse(HEAD + BODY, Path("foreign.c")), Problem.cube(4), {"UNROLL": 4}))
    assert library.exists() and tmp_path in library.parents
    assert any("cache folder cannot be written" in note for note in build.notes)


def test_a_full_cache_folder_is_replaced_and_said_so(monkeypatch, tmp_path):
    cache = tmp_path / "cache"
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    usage = shutil.disk_usage(tmp_path)
    full = usage._replace(free=0)
    monkeypatch.setattr("shutil.disk_usage", lambda path: full if cache in [path, *path.parents] else usage)
    folder, note = data.cache_folder("native")
    assert cache not in folder.parents and tmp_path in folder.parents
    assert "No space left on device" in note


@pytest.mark.parametrize("text", ["fatal error: error writing to x.o: No space left on device", "error: NoSpaceLeft"])
def test_a_compiler_without_room_is_no_fault_of_the_kernel(monkeypatch, tmp_path, text):
    fake = tmp_path / "cc"
    fake.write_text(
        f'#!/bin/sh\n[ "$1" = --version ] && echo fake gcc && exit 0\necho "foreign.c:3: {text}" >&2\nexit 1\n'
    )
    fake.chmod(0o755)
    monkeypatch.setenv("GEMMVIZ_CC", str(fake))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    toolchain.compiler.cache_clear()
    try:
        with pytest.raises(Unavailable, match=r"there is no room left to compile in .*XDG_CACHE_HOME"):
            compile_kernel(launch(parse(HEAD + BODY, Path("foreign.c")), Problem.cube(4), {"UNROLL": 4}))
    finally:
        toolchain.compiler.cache_clear()


def test_an_undefined_function_is_no_crash():
    text = HEAD + BODY.replace("void mine", "float elsewhere(int n);\nvoid mine").replace(
        "float sum = 0", "float sum = elsewhere(1)"
    )
    with pytest.raises(BuildError, match=r"foreign\.c:\d+: elsewhere is used and defined nowhere") as caught:
        NativeBackend().prepare(launch(parse(text, Path("foreign.c")), Problem.cube(4), {"UNROLL": 4}))
    assert "elsewhere(1)" in text.split("\n")[caught.value.line - 1]


def test_every_launch_of_a_batch_really_runs():
    text = HEAD + BODY.replace("void mine", "static int calls;\nvoid mine").replace(
        "    for (unsigned i", "    calls++;\n    for (unsigned i"
    ).replace("alpha * sum + beta * c[i + j * m]", "calls")
    concrete = launch(parse(text, Path("foreign.c")), Problem.cube(4), {"UNROLL": 4})
    prepared = NativeBackend().prepare(concrete)
    prepared.load(*small_integer_inputs(concrete.problem, "float32"))
    prepared.run()
    first = prepared.fetch()[0, 0]
    prepared.sample(10, cold=True)
    assert prepared.fetch()[0, 0] == first + 10
    prepared.close()


def test_the_blas_says_its_name():
    assert blas_facts()["name"] != "unknown"
