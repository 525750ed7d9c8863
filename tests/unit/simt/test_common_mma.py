"""The common mma (16 x 8 sums of 16 products each), by the instructions of each processor that has AVX2."""

import ctypes
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from gemmviz.backends.compiler import compiler
from gemmviz.backends.toolchain import compile_object, compile_shared
from gemmviz.simt import build

RUNTIME = Path(build.__file__).parent / "runtime"
ROWS, COLUMNS, DEPTH, WARP = 16, 8, 16, 32
TEXT = """
#include "mma_tiles.h"
#include "processor.h"
int has_avx2(void) { return gv_has_avx2(); }
static void products(void (*multiply)(const gv_lane_mma *, const gv_lane_a *, uint32_t, int, uint64_t),
    const uint32_t *a, const uint32_t *b, float *sums, int type)
{
    gv_lane_mma lanes[GV_WARP];
    gv_lane_a of_a[GV_WARP];
    for (int lane = 0; lane < GV_WARP; lane++) {
        for (int r = 0; r < 4; r++) of_a[lane].a[r] = a[4 * lane + r];
        for (int r = 0; r < 2; r++) lanes[lane].b[r] = b[2 * lane + r];
        lanes[lane].sums = (uintptr_t)(sums + 4 * lane);
    }
    multiply(lanes, of_a, 1, type, 0);
}
void chosen(const uint32_t *a, const uint32_t *b, float *s, int t) { products(gv_multiply_common, a, b, s, t); }
void by_avx2(const uint32_t *a, const uint32_t *b, float *s, int t) { products(gv_multiply_by_avx2, a, b, s, t); }
"""
HALF, BFLOAT16 = 0, 2  # kernel_calls/wmma.h


@pytest.fixture(scope="module")
def code(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    folder = tmp_path_factory.mktemp("mma")
    (folder / "caller.c").write_text(TEXT)
    flags = [flag for flag in build.runtime_flags(compiler()) if flag != "-fvisibility=hidden"]
    sources = [folder / "caller.c", *(RUNTIME / f"{name}.c" for name in ("mma_avx2", "mma_tiles"))]
    for source in sources:
        compile_object(source, folder / f"{source.stem}.o", [*flags, f"-I{RUNTIME}"], source)
    objects = [folder / f"{source.stem}.o" for source in sources]
    compile_shared(objects, folder / "mma.so", build._link_flags(compiler()), folder)
    found = ctypes.CDLL(str(folder / "mma.so"))
    if not found.has_avx2():
        pytest.skip("this processor has no AVX2")
    return found


def numbers(kind: str, shape: tuple[int, int]) -> npt.NDArray[np.float32]:
    """Return numbers whose products are whole, whole but not exact in a float, or fractions with some that are none."""
    random = np.random.default_rng(len(kind) + shape[0] * shape[1])
    if kind == "whole":
        return random.integers(-8, 9, shape).astype(np.float32)
    if kind == "large":
        return (random.integers(-30, 31, shape) * 1024).astype(np.float32)
    found = random.standard_normal(shape).astype(np.float32)
    if kind == "no numbers":
        found[3, 2], found[5, 5], found[1, 1] = np.inf, np.nan, -0.0
    return found


def in_registers(rows: npt.NDArray[np.uint16]) -> npt.NDArray[np.uint32]:
    """Return the registers of each lane of A (16 rows), or of B, whose columns are the rows here."""
    found = np.zeros((WARP, len(rows) // 4), np.uint32)
    for lane in range(WARP):
        for register in range(len(rows) // 4):
            row = lane // 4 + (8 * (register % 2) if len(rows) == ROWS else 0)
            k = 2 * (lane % 4) + 8 * (register // 2 if len(rows) == ROWS else register)
            found[lane, register] = int(rows[row, k]) | int(rows[row, k + 1]) << 16
    return found


def in_lanes(sums: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    lane = np.arange(WARP)[:, None]
    e = np.arange(4)[None, :]
    return np.ascontiguousarray(sums[lane // 4 + 8 * (e // 2), 2 * (lane % 4) + e % 2])


@pytest.mark.parametrize("name", ["chosen", "by_avx2"])
@pytest.mark.parametrize("kind", ["whole", "large", "fractions", "no numbers"])
@pytest.mark.parametrize("type_of", [HALF, BFLOAT16])
def test_each_sum_is_that_of_doubles(code: ctypes.CDLL, name: str, kind: str, type_of: int) -> None:
    def bits(values: npt.NDArray[np.float32]) -> npt.NDArray[np.uint16]:
        if type_of == HALF:
            return values.astype(np.float16).view(np.uint16)
        return (values.view(np.uint32) >> 16).astype(np.uint16)

    def as_doubles(of: npt.NDArray[np.uint16]) -> npt.NDArray[np.float64]:
        if type_of == HALF:
            return of.view(np.float16).astype(np.float64)
        return (of.astype(np.uint32) << 16).view(np.float32).astype(np.float64)

    a, b = bits(numbers(kind, (ROWS, DEPTH))), bits(numbers(kind, (COLUMNS, DEPTH)))  # B by columns
    before = numbers(kind, (ROWS, COLUMNS))
    exact = before.astype(np.float64)
    with np.errstate(invalid="ignore"):
        for k in range(DEPTH):
            exact += as_doubles(a)[:, k, None] * as_doubles(b)[None, :, k]
    of_a, of_b, sums = in_registers(a), in_registers(b), in_lanes(before)
    pointer = ctypes.c_void_p
    for again in range(2):  # the second time their numbers are known
        if again:
            sums = in_lanes(before)
        getattr(code, name)(pointer(of_a.ctypes.data), pointer(of_b.ctypes.data), pointer(sums.ctypes.data), type_of)
        np.testing.assert_array_equal(sums, in_lanes(exact.astype(np.float32)))
