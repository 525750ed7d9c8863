"""Kernels whose template takes a structure with the tile sizes."""

from pathlib import Path

from gemmviz.catalogue.guessing.guess import guess
from gemmviz.catalogue.guessing.struct_types import aliases, structs, with_members
from gemmviz.catalogue.guessing.tokens import tokens_of

KERNEL = """
template <int ROWS, int COLUMNS> struct Piece {
    static constexpr int rows = ROWS, columns = COLUMNS;
    static constexpr int all = rows * columns;
};
template <class Tile, class Part>
__global__ void product(const float *A, const float *B, float *C, int M, int N, int K) {
    constexpr int across = Tile::columns / Part::columns;
    int row = blockIdx.y * Tile::rows + threadIdx.x / across;
    int column = blockIdx.x * Tile::columns + threadIdx.x % across;
    float sum = 0;
    for (int k = 0; k < K; k++) sum += A[row * K + k] * B[k * N + column];
    C[row * N + column] = sum;
}
void run(float *a, float *b, float *c, int m, int n, int k) {
    using tile = Piece<32, 16>;
    using part = Piece<1, 1>;
    dim3 grid(n / tile::columns, m / tile::rows);
    product<tile, part><<<grid, tile::all / part::all>>>(a, b, c, m, n, k);
}
"""


def test_the_launch_of_a_template_of_structures_is_read():
    made = guess(KERNEL, Path("product.cu"))
    assert made.entry == "product<Piece<32, 16>, Piece<1, 1>>"
    assert made.block == ("512",)
    assert made.grid == ("floor(N / 16)", "floor(M / 32)")
    assert {"M % 32 == 0", "N % 16 == 0"} <= set(made.requires)


def test_a_structure_without_a_template_holds_constants_too():
    code = tokens_of("struct Config { static const int BM = 64; enum { BN = BM * 2, }; float *data; };")
    known = structs(code)
    assert known["Config"].members == {"BM": ("64",), "BN": ("BM", "*", "2")}
    assert with_members(tokens_of("x = Config::BN;"), known, {}) == ["x", "=", "(", "(", "64", ")", "*", "2", ")", ";"]


def test_names_of_types_are_followed():
    named = aliases(tokens_of("using Small = Piece<8, 4>; typedef Small Tiny; using std::swap;"))
    assert named == {"Small": tokens_of("Piece<8, 4>"), "Tiny": ("Small",)}
    known = structs(tokens_of("template <int R, int C = 2> struct Piece { static constexpr int all = R * C; };"))
    assert with_members(("Tiny", "::", "all"), known, named) == ["(", "(", "8", ")", "*", "(", "4", ")", ")"]
    # A member that is no constant, and a type that nobody knows, stay as they are.
    assert with_members(tokens_of("Tiny::more + other::all"), known, named) == list(
        tokens_of("Tiny::more + other::all")
    )
