"""Sizes that a kernel gets in another way: as a template's letter, through a pointer, as a number of tiles."""

from pathlib import Path

from settled_files import settled

from gemmviz.backends.surroundings import surroundings
from gemmviz.catalogue.guessing.guess import guess

OF_TEMPLATE = """
template <int N, int M, int P> __global__ void product(const float *A, const float *B, float *C) {
    int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
    if (row >= M || column >= P) return;
    float sum = 0;
    for (int k = 0; k < N; k++) sum += A[row * N + k] * B[k * P + column];
    C[row * P + column] = sum;
}
template <int M, int N, int P> void run(const float *A, const float *B, float *C) {
    product<N, M, P><<<dim3((P + 15) / 16, (M + 15) / 16), dim3(16, 16)>>>(A, B, C);
}
"""
BY_POINTER = """
__global__ void product({kind} *A, {kind} *B, {kind} *C, {whole} *rows, {whole} *columns, {whole} *depth) {
    int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x, width = *columns;
    if (row >= *rows || column >= width) return;
    {kind} sum = 0;
    for (int k = 0; k < *depth; k++) sum += A[row * (*depth) + k] * B[k * width + column];
    C[row * width + column] = sum;
}
void run({kind} *A, {kind} *B, {kind} *C, {whole} *m, {whole} *n, {whole} *k) {
    product<<<dim3(4, 4), dim3(16, 16)>>>(A, B, C, m, n, k);
}
"""
OF_TILES = """
#define EXTENT 1024
#define SIDE 32
#define GRID_SIZE {count}
__global__ void product(int *a, int *b, int *c) {
    __shared__ int A[SIDE][SIDE], B[SIDE][SIDE];
    int row = blockIdx.y * SIDE + threadIdx.y, column = blockIdx.x * SIDE + threadIdx.x, sum = 0;
    for (int t = 0; t < GRID_SIZE; t++) {
        A[threadIdx.y][threadIdx.x] = a[row * EXTENT + t * SIDE + threadIdx.x];
        B[threadIdx.y][threadIdx.x] = b[(t * SIDE + threadIdx.y) * EXTENT + column];
        __syncthreads();
        for (int k = 0; k < SIDE; k++) sum += A[threadIdx.y][k] * B[k][threadIdx.x];
        __syncthreads();
    }
    c[row * EXTENT + column] = sum;
}
int main() { product<<<dim3(GRID_SIZE, GRID_SIZE), dim3(SIDE, SIDE)>>>(a, b, c); }
"""


def test_a_letter_beside_two_sizes_of_a_template_is_a_size(tmp_path: Path) -> None:
    made = settled(tmp_path, OF_TEMPLATE)
    assert made.right and made.entry == "product<K, M, N>"


def test_a_letter_alone_is_none() -> None:
    text = OF_TEMPLATE.replace("int N, int M, int P> __global__", "int T, int Q, int P> __global__")
    assert "P" not in {*guess(text, Path("mine.cu")).entry.partition("<")[2].replace(">", "").split(", ")} & {*"MNK"}


def test_sizes_behind_pointers_are_found(tmp_path: Path) -> None:
    made = settled(tmp_path, BY_POINTER.replace("{kind}", "float").replace("{whole}", "int"))
    assert made.right and made.roles[3:] == ("M", "N", "K")
    assert made.structs == ((3, 4, True), (4, 5, True), (5, 6, True))


def test_an_array_of_whole_numbers_is_no_size() -> None:
    text = BY_POINTER.replace("{kind}", "float").replace("{whole}", "int").replace("*columns", "columns[threadIdx.x]")
    assert guess(text, Path("mine.cu")).roles[4] != "N"


def test_types_come_from_the_file_that_includes_a_source_without_includes(tmp_path: Path) -> None:
    source = tmp_path / "product.cu"
    text = BY_POINTER.replace("{kind}", "f32").replace("{whole}", "u32")
    source.write_text(text)
    (tmp_path / "types.h").write_text("typedef unsigned int u32;\ntypedef float f32;\n")
    (tmp_path / "main.cu").write_text('#include "types.h"\n#include "product.cu"\n')
    made = guess(text, source, None, surroundings(source, text))
    assert made.roles == ("A", "B", "C", "M", "N", "K")


def test_a_number_of_tiles_grows_with_the_size(tmp_path: Path) -> None:
    made = settled(tmp_path, OF_TILES.replace("{count}", "32"))
    assert made.right and made.constants == {"EXTENT": "N", "GRID_SIZE": "N / 32"}


def test_another_number_is_none_of_tiles() -> None:
    assert "GRID_SIZE" not in guess(OF_TILES.replace("{count}", "24"), Path("mine.cu")).constants
