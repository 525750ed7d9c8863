"""The boxes of tensor maps, read in the host's own call of cuTensorMapEncodeTiled."""

from pathlib import Path

import pytest

from gemmviz.catalogue.guessing.cxx import Surroundings
from gemmviz.catalogue.guessing.guess import guess

KERNEL = """#include <cuda.h>
#include <cuda_fp16.h>
template <int BM, int BN, int BK>
__global__ void gemm(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap tensorMapB,
                     float *C, int M, int N, int K)
{
    C[blockIdx.y * BM * N + blockIdx.x * BN + threadIdx.x] = 0;
}
"""
# Arrays beside the call.
PLAIN = """void run(half *A, half *B, float *C, int M, int N, int K)
{
    constexpr int BM = 64, BN = 32, BK = 16;
    CUtensorMap a, b;
    cuuint64_t sizes_a[2] = {(cuuint64_t)K, (cuuint64_t)M}, strides_a[1] = {K * sizeof(half)};
    cuuint32_t box_a[2] = {BK, BM}, steps[2] = {1, 1};
    cuTensorMapEncodeTiled(&a, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, A, sizes_a, strides_a, box_a, steps,
        CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_32B, CU_TENSOR_MAP_L2_PROMOTION_NONE,
        CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    cuuint64_t sizes_b[2] = {(cuuint64_t)N, (cuuint64_t)K}, strides_b[1] = {N * sizeof(half)};
    cuuint32_t box_b[2] = {BN, BK};
    cuTensorMapEncodeTiled(&b, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, B, sizes_b, strides_b, box_b, steps,
        CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_64B, CU_TENSOR_MAP_L2_PROMOTION_NONE,
        CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    gemm<BM, BN, BK><<<dim3(N / BN, M / BM), 128>>>(a, b, C, M, N, K);
}
"""
# A function for all maps, called through another one; B is stored by columns.
BY_FUNCTIONS = """template <int ROWS, int COLUMNS, bool mixed = true>
CUtensorMap made(half *from, int rows, int columns)
{
    CUtensorMap map;
    void *address = (void *)from;
    uint64_t sizes[5] = {SIZES};
    uint64_t strides[5] = {columns * sizeof(half), 128, 0, 0};
    uint32_t box[5] = {BOX};
    uint32_t steps[5] = {1, STEP, 1, 1, 1};
    encode(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, RANK, address, sizes, strides, box, steps,
        CU_TENSOR_MAP_INTERLEAVE_NONE, mixed ? CU_TENSOR_MAP_SWIZZLE_128B : CU_TENSOR_MAP_SWIZZLE_NONE,
        CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    return map;
}
template <int R, int C> CUtensorMap of_matrix(half *p, int rows, int columns)
{
    return made<R, C>(p, rows, columns);
}
void run(half *d_A, half *d_B, float *C, int M, int N, int K)
{
    constexpr int BM = 64, BN = 32, BK = 128;
    CUtensorMap a = of_matrix<BM, BK>(d_A, M, K);
    CUtensorMap b = made<BN, BK, false>(d_B, N, K);
    gemm<BM, BN, BK><<<dim3(N / BN, M / BM), 128>>>(a, b, C, M, N, K);
}
"""
TWO = {"SIZES": "(uint64_t)columns, (uint64_t)rows, 1, 1, 1", "BOX": "uint32_t(COLUMNS), uint32_t(ROWS), 1, 1, 1"}
PANELS = {
    "SIZES": "64, (uint64_t)rows, (uint64_t)columns / 64, 1, 1",
    "BOX": "64, uint32_t(ROWS), uint32_t(COLUMNS / 64), 1, 1",
}


def front_matter(host: str, **words: str) -> str:
    for word, text in words.items():
        host = host.replace(word, text)
    return guess(KERNEL + host, Path("mapped.cu")).front_matter()


def line(text: str, key: str) -> str:
    return next((one.partition("= ")[2] for one in text.splitlines() if one.startswith(f"// {key} ")), "")


def test_the_arrays_beside_the_call_say_the_box() -> None:
    text = front_matter(PLAIN)
    assert line(text, "maps") == (
        '{ A = { box = ["BM", "BK"], swizzle = 32 }, B = { box = ["BK", "BN"], swizzle = 64 } }'
    )
    assert line(text, "dtype") == '"float16"' and line(text, "layout") == ""
    assert line(text, "args") == '["A.map", "B.map", "C", "M", "N", "K"]'


def test_a_function_that_makes_all_maps_is_followed_to_its_callers() -> None:
    text = front_matter(BY_FUNCTIONS, RANK="2", STEP="1", **TWO)
    assert line(text, "maps") == (
        '{ A = { box = ["BM", "BK"], swizzle = 128 }, B = { box = ["BN", "BK"], swizzle = 0 } }'
    )
    assert line(text, "layout") == '{ B = "column" }'


def test_maps_that_are_made_in_another_file_are_found() -> None:
    cut = BY_FUNCTIONS.index("template <int R, int C>")
    helper = _with(
        BY_FUNCTIONS[:cut].replace("CUtensorMap made(half", "void made(CUtensorMap &map, half"),
        {"RANK": "2", "STEP": "1", "    CUtensorMap map;\n": "", "    return map;\n": "", **TWO},
    )
    host = PLAIN[: PLAIN.index("    cuuint64_t sizes_a")] + "    made<BM, BK>(map_a, A, M, K);\n" + PLAIN[-60:]
    around = Surroundings(headers=(helper,), others=(host,))
    made = guess(KERNEL, Path("mapped.cuh"), None, around)
    assert made.boxes["A"][2:] == (128, 2)


@pytest.mark.parametrize("rank", [3, 5])
def test_panels_are_told_by_their_rank(rank: int) -> None:
    text = front_matter(BY_FUNCTIONS, RANK=str(rank), STEP="1", **PANELS)
    assert f'A = {{ box = ["BM", "64 * floor(BK / 64)"], swizzle = 128, rank = {rank} }}' in line(text, "maps")


@pytest.mark.parametrize(
    "changed",
    [{"STEP": "2"}, {"RANK": "9"}, {"BOX": "unknown(), uint32_t(ROWS), 1, 1, 1"}],
    ids=lambda one: next(iter(one)),
)
def test_what_cannot_be_followed_stays_open(changed: dict[str, str]) -> None:
    words = {"RANK": "2", "STEP": "1", **TWO, **changed}
    made = guess(KERNEL + _with(BY_FUNCTIONS, words), Path("mapped.cu"))
    assert made.boxes == {} and any("the size of a box of A" in doubt for doubt in made.doubts)


def _with(host: str, words: dict[str, str]) -> str:
    for word, text in words.items():
        host = host.replace(word, text)
    return host


def test_maps_of_one_matrix_that_differ_stay_open() -> None:
    twice = BY_FUNCTIONS + BY_FUNCTIONS[BY_FUNCTIONS.index("void run") :].replace("run", "other").replace(
        "BM, BK>(d_A", "BM, 2 * BK>(d_A"
    )
    made = guess(KERNEL + _with(twice, {"RANK": "2", "STEP": "1", **TWO}), Path("mapped.cu"))
    assert "A" not in made.boxes and "B" in made.boxes


@pytest.mark.parametrize("cut", range(0, len(PLAIN), 97))
def test_a_host_that_is_cut_off_or_lacks_a_bracket_is_no_error(cut: int) -> None:
    guess(KERNEL + PLAIN[:cut], Path("mapped.cu"))
    guess(KERNEL + PLAIN[:cut] + PLAIN[cut + 1 :], Path("mapped.cu"))


def test_values_that_grow_without_end_are_left() -> None:
    many = "".join(f"long v{i} = v{i + 1} * v{i + 1} * v{i + 1} * v{i + 1};" for i in range(40))
    host = PLAIN.replace("CUtensorMap a, b;", "CUtensorMap a, b;" + many).replace("{BK, BM}", "{v0, BM}")
    assert "A" not in guess(KERNEL + host, Path("mapped.cu")).boxes


@pytest.mark.parametrize(("width", "bytes_"), [("BK", 32), ("K", None)])
def test_a_swizzle_that_depends_on_the_box_is_known_only_with_the_box(width: str, bytes_: int | None) -> None:
    chosen = f"""CUtensorMapSwizzle mixed = CU_TENSOR_MAP_SWIZZLE_NONE;
    const int width = {width};
    if (width == 16)
        mixed = CU_TENSOR_MAP_SWIZZLE_32B;
    else if (width == 32)
        mixed = CU_TENSOR_MAP_SWIZZLE_64B;
    cuTensorMapEncodeTiled(&a"""
    host = PLAIN.replace("cuTensorMapEncodeTiled(&a", chosen).replace("CU_TENSOR_MAP_SWIZZLE_32B, CU", "mixed, CU", 1)
    made = guess(KERNEL + host, Path("gemm.cu"))
    assert made.boxes.get("A") == (("BM", "BK", bytes_, 2) if bytes_ else None)
    assert made.boxes["B"][2] == 64


BY_TYPE = """template <class T> struct Of;
template <> struct Of<half> { static constexpr CUtensorMapDataType type = CU_TENSOR_MAP_DATA_TYPE_FLOAT16; };
template <> struct Of<int8_t> { static constexpr CUtensorMapDataType type = CU_TENSOR_MAP_DATA_TYPE_UINT8; };
template <typename T>
void fill(CUtensorMap *map, const T *from, uint64_t rows, uint64_t columns, uint32_t r, uint32_t c)
{
    uint64_t sizes[2] = {columns, rows}, strides[1] = {columns * sizeof(T)};
    uint32_t box[2] = {c, r}, steps[2] = {1, 1};
    const uint32_t bytes = c * sizeof(T);
    CUtensorMapSwizzle mixed = CU_TENSOR_MAP_SWIZZLE_NONE;
    if (bytes == 32) mixed = CU_TENSOR_MAP_SWIZZLE_32B;
    else if (bytes == 64) mixed = CU_TENSOR_MAP_SWIZZLE_64B;
    cuTensorMapEncodeTiled(map, Of<T>::type, 2, (void *)from, sizes, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
        mixed, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}
void run(const TYPE *A, const TYPE *B, float *C, int M, int N, int K)
{
    constexpr int BM = 64, BN = 32, BK = 32;
    CUtensorMap a, b;
    fill(&a, A, M, K, BM, BK);
    fill(&b, B, N, K, BN, BK);
    gemm<BM, BN, BK><<<dim3(N / BN, M / BM), 128>>>(a, b, C, M, N, K);
}
"""


@pytest.mark.parametrize(("element", "dtype", "bytes_"), [("half", "float16", 64), ("int8_t", "int8", 32)])
def test_the_type_of_a_template_says_what_the_elements_are(element: str, dtype: str, bytes_: int) -> None:
    made = guess(KERNEL + BY_TYPE.replace("TYPE", element), Path("gemm.cu"))
    assert made.boxes == {"A": ("BM", "BK", bytes_, 2), "B": ("BN", "BK", bytes_, 2)}
    assert made.dtype == dtype


def test_a_template_whose_type_no_file_gives_has_no_map() -> None:
    host = BY_TYPE.replace("const TYPE *A, const TYPE *B", "Tensor A, Tensor B")
    assert guess(KERNEL + host, Path("gemm.cu")).boxes == {}


def test_a_swizzle_that_the_width_of_a_row_decides() -> None:
    text = BY_FUNCTIONS.replace("bool mixed = true", "int BYTES = 64 * 4").replace("<BN, BK, false>", "<BN, BK, 64>")
    text = text.replace("mixed ?", "BYTES == 256 ?").replace("SWIZZLE_NONE,", "SWIZZLE_64B,").replace("RANK", "2")
    for name, value in (TWO | {"STEP": "1"}).items():
        text = text.replace(name, value)
    boxes = guess(KERNEL + text, Path("maps.cu")).boxes
    assert {name: box[2] for name, box in boxes.items()} == {"A": 128, "B": 64}


def test_a_kernel_with_maps_stands_beside_one_with_pointers() -> None:
    plain = "__global__ void gemm_plain(const half *A, const half *B, float *C, int M, int N, int K) { C[0] = 0; }\n"
    made = guess(KERNEL + plain + PLAIN, Path("maps.cu"), "gemm")
    assert {*made.entries} == {"gemm", "gemm_plain"} and made.entry.startswith("gemm<")
