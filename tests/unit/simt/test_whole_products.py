"""Products of whole numbers in floats: only where they are the same as in doubles."""

import ctypes
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from gemmviz.backends.compiler import compiler
from gemmviz.backends.toolchain import compile_object, compile_shared
from gemmviz.simt import build

RUNTIME = Path(build.__file__).parent / "runtime"
ROWS, DEPTH, COLUMNS = 64, 16, 48
# 64 x 48 products of halves. The rows of each operand lie in groups of 8, with 16 bytes of each side by side.
TEXT = """
#include "processor.h"
#include "products.h"
#include "wgmma_products.h"
#include <string.h>
gv_running gv_now;
int whole_products(const uint16_t *a, const uint16_t *b, float *sums, double *exact)
{
    static float few[2][64 * 32 + 32 * 256];
    static double all[2][64 * 32 + 32 * 256];
    gv_wgmma_product p = {.a = {(uintptr_t)a, 128, 16, 256}, .b = {(uintptr_t)b, 128, 16, 256}, .n = 48,
        .type_d = GV_FLOAT, .type_a = GV_HALF, .type_b = GV_HALF};
    const gv_wgmma_product *of[GV_WARPGROUP];
    for (int t = 0; t < GV_WARPGROUP; t++) of[t] = &p;
    gv_read_operands(all[0], all[1], of);
    gv_add_products(exact, all[0], all[1], 64, 48, 16);
    double most = gv_read_whole_operands(few[0], few[1], of);
    return most >= 0 && most <= 0x1p24 && gv_add_whole_products(sums, few[0], few[1], 64, 48, 16);
}
enum { PRODUCTS = 4, EACH = 24 };
static void several(const uint16_t *a, const uint16_t *b, const float *before, int add, float *after, int at_once)
{
    static gv_run run;
    static sums of[GV_WARPGROUP];
    static gv_wgmma_work works[PRODUCTS][GV_WARPGROUP];
    static const gv_wgmma_work *all[PRODUCTS][GV_WARPGROUP];
    gv_wgmma_product p[PRODUCTS];
    gv_now.run = &run;
    gv_wgmma_products_begin();
    for (int i = 0; i < PRODUCTS; i++)
        p[i] = (gv_wgmma_product){.a = {(uintptr_t)a, 128, 16, 256}, .b = {(uintptr_t)b, 128, 16, 256}, .n = 48,
            .type_d = GV_FLOAT, .type_a = GV_HALF, .type_b = GV_HALF, .add = i || add};
    for (int t = 0; t < GV_WARPGROUP; t++) {
        memcpy(of[t].value.real, before + t * EACH, EACH * sizeof(float));
        for (int i = 0; i < PRODUCTS; i++) {
            works[i][t] = (gv_wgmma_work){&of[t], &p[i]};
            all[i][t] = &works[i][t];
        }
    }
    if (at_once) gv_multiply(all, PRODUCTS);
    else for (int i = 0; i < PRODUCTS; i++) gv_multiply(all + i, 1);
    for (int t = 0; t < GV_WARPGROUP; t++) memcpy(after + t * EACH, of[t].value.real, EACH * sizeof(float));
}
void four_at_once(const uint16_t *a, const uint16_t *b, const float *before, int add, float *after)
{
    several(a, b, before, add, after, 1);
}
void four_apart(const uint16_t *a, const uint16_t *b, const float *before, int add, float *after)
{
    several(a, b, before, add, after, 0);
}
int has_avx512(void) { return gv_has_avx512(); }
int is_fast(void) { float none[48] = {0}; return gv_add_whole_products(none, none, none, 0, 48, 0); }
"""
# The same products on a lesser processor: its header is read first, and then no longer asked.
LESSER = """
#include "processor.h"
#define gv_has_vnni() 0
#define gv_has_avx512() {avx512}
#define gv_has_avx2() {avx2}
#define gv_add_products {name}
#define gv_add_whole_products {name}_whole
#include "{products}"
"""
WAYS = {"gv_add_products": None, "by_avx512": (1, 1), "by_avx2": (0, 1), "in_doubles": (0, 0)}


@pytest.fixture(scope="module")
def code(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    folder = tmp_path_factory.mktemp("whole")
    (folder / "caller.c").write_text(TEXT)
    for name, has in WAYS.items():
        if has:
            text = LESSER.replace("{name}", name).replace("{products}", str(RUNTIME / "products.c"))
            (folder / f"{name}.c").write_text(text.replace("{avx512}", str(has[0])).replace("{avx2}", str(has[1])))
    flags = [flag for flag in build.runtime_flags(compiler()) if flag != "-fvisibility=hidden"]
    names = ("block_memory", "elements", "products", "wgmma_operands", "wgmma_products")
    lesser = [folder / f"{name}.c" for name, has in WAYS.items() if has]
    sources = [folder / "caller.c", *lesser, *(RUNTIME / f"{name}.c" for name in names)]
    for source in sources:
        compile_object(source, folder / f"{source.stem}.o", [*flags, f"-I{RUNTIME}"], source)
    objects = [folder / f"{source.stem}.o" for source in sources]
    compile_shared(objects, folder / "whole.so", build._link_flags(compiler()), folder)
    found = ctypes.CDLL(str(folder / "whole.so"))
    if not found.is_fast():
        pytest.skip("this processor multiplies doubles only")
    return found


def multiplied(code: ctypes.CDLL, a: npt.NDArray[np.float16], b: npt.NDArray[np.float16]) -> bool:
    sums, exact = np.zeros(ROWS * COLUMNS, np.float32), np.zeros(ROWS * COLUMNS)
    done = bool(code.whole_products(*(ctypes.c_void_p(array.ctypes.data) for array in (a, b, sums, exact))))
    if done:
        assert (sums == exact).all() and (np.signbit(sums) == np.signbit(exact)).all()
    return done


def operands(largest: int) -> tuple[npt.NDArray[np.float16], npt.NDArray[np.float16]]:
    numbers = np.random.default_rng(largest)
    a, b = (numbers.integers(-largest, largest + 1, (n, DEPTH)).astype(np.float16) for n in (ROWS, COLUMNS))
    a[0], b[0] = largest, largest
    return a, b


@pytest.mark.parametrize("largest", [1, 8, 1024])
def test_small_whole_numbers_are_multiplied_in_floats(code: ctypes.CDLL, largest: int) -> None:
    assert multiplied(code, *operands(largest))


@pytest.mark.parametrize("other", [0.5, np.nan, np.inf, -np.inf, 1025.0, -2048.0])
@pytest.mark.parametrize("which", [0, 1])
def test_others_are_not(code: ctypes.CDLL, other: float, which: int) -> None:
    # 16 products of 1024 by 1024 are 2^24, and a float has no 2^24 + 1.
    both = operands(1024)
    both[which].reshape(-1)[37] = other
    assert not multiplied(code, *both)


@pytest.mark.parametrize("columns", [8, 24, 40, 64, 96, 200, 256])
@pytest.mark.parametrize("depth", [8, 16, 32])
@pytest.mark.parametrize(
    "limits", [(1, 1), (700, 700), (32767, 16), (-32768, 16), (40000, 13), (13, 40000), (0, 2**22)]
)
def test_products_are_exact_for_numbers_of_any_width(
    code: ctypes.CDLL, columns: int, depth: int, limits: tuple[int, int]
) -> None:
    """Numbers of up to 16 bits are multiplied in pairs, others are not."""
    random = np.random.default_rng(columns + depth)
    a, b = (
        random.integers(-abs(most), abs(most) + 1, shape).astype(np.float32)
        for most, shape in zip(limits, ((ROWS, depth), (depth, columns)), strict=True)
    )
    a[3, depth - 1], b[depth - 1, columns - 1] = limits
    before = random.integers(-5, 5, (ROWS, columns)).astype(np.float32)
    after = before.copy()
    sizes = [ctypes.c_uint32(size) for size in (ROWS, columns, depth)]
    assert code.gv_add_whole_products(*(ctypes.c_void_p(array.ctypes.data) for array in (after, a, b)), *sizes)
    exact = before + a.astype(np.int64) @ b.astype(np.int64)
    assert (after == exact).all() and abs(exact).max() <= 2**24


@pytest.mark.parametrize("add", [0, 1])
@pytest.mark.parametrize("largest", [1, 8, 512, 1024])
@pytest.mark.parametrize("before", [0.0, -3.0, 0.5, 2.0**23 - 0.5, 2.0**24 - 1, 3 - 2.0**24, 2.0**30, np.nan, np.inf])
def test_products_to_the_same_sums_may_be_added_at_once(
    code: ctypes.CDLL, before: float, largest: int, add: int
) -> None:
    both = operands(largest)
    old = np.full((128, 24), before, np.float32) - np.arange(24, dtype=np.float32) % 2
    found = []
    for function in (code.four_at_once, code.four_apart):
        after = np.zeros_like(old)
        inputs = [ctypes.c_void_p(array.ctypes.data) for array in (*both, old)]
        function(*inputs, add, ctypes.c_void_p(after.ctypes.data))
        found.append(after.view(np.uint32))
    assert (found[0] == found[1]).all()
    assert (found[0] != old.view(np.uint32)).any() or not abs(before) < 2**24


@pytest.mark.parametrize("columns", [8, 16, 24, 40, 64, 72, 120, 200, 256])
@pytest.mark.parametrize("way", WAYS)
def test_the_products_are_the_same_on_each_processor(code: ctypes.CDLL, way: str, columns: int) -> None:
    """Also for numbers of columns that are no multiple of a vector, as turned tiles have."""
    if way == "by_avx512" and not code.has_avx512():
        pytest.skip("this processor has no AVX-512")
    random = np.random.default_rng(columns)
    whole = way if way == "gv_add_products" else f"{way}_whole"
    for function, number in ((way, np.float64), (whole.replace("products", "whole_products"), np.float32)):
        a, b, before = (
            random.integers(-9, 10, n).astype(number) for n in ((ROWS, DEPTH), (DEPTH, columns), (ROWS, columns))
        )
        after = np.concatenate([before.ravel(), np.full(columns, 77, number)])
        sizes = [ctypes.c_uint32(size) for size in (ROWS, columns, DEPTH)]
        done = code[function](*(ctypes.c_void_p(array.ctypes.data) for array in (after, a, b)), *sizes)
        assert done == (way != "in_doubles") or number == np.float64
        expected = before if way == "in_doubles" and number == np.float32 else before + a @ b
        assert (after[: ROWS * columns].reshape(ROWS, columns) == expected).all() and (after[-columns:] == 77).all()
