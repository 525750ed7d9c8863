"""A kernel without arguments for its sizes is tried at those of the arrays that the host code allocates."""

from pathlib import Path

import pytest
from settled_files import settled

from gemmviz.catalogue.guessing.guess import guess
from gemmviz.catalogue.guessing.own_size import RIGHT_AT_ITS_SIZE

TEXT = """#define ROWS 3
#define DEPTH 4
#define COLUMNS 5
__global__ void product(const float *a, const float *b, float *c) {
    __shared__ float terms[DEPTH];
    int row = blockIdx.x, column = blockIdx.y, k = threadIdx.x;
    terms[k] = a[row * DEPTH + k] * b[k * COLUMNS + column];
    __syncthreads();
    if (k == 0) {
        float sum = 0;
        for (int i = 0; i < DEPTH; ++i) sum += terms[i];
        c[row * COLUMNS + column] = sum;
    }
}
int main() {
    float *left, *right, *out;
    const size_t bytes = ROWS * COLUMNS * sizeof(float);
    cudaMalloc((void **)&left, ROWS * DEPTH * sizeof(float));
    cudaMalloc(&right, sizeof(float) * DEPTH * COLUMNS);
    CHECK(cudaMallocManaged(&out, bytes));
    product<<<dim3(ROWS, COLUMNS), DEPTH>>>(left, right, out);
}
"""


def sizes(text: str) -> set[tuple[int, int, int] | None]:
    made = guess(text, Path("mine.cu"))
    return {one.size for one in (made, *made.others)}


def test_the_arrays_show_the_sizes() -> None:
    assert (3, 5, 4) in sizes(TEXT)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("sizeof(float) * DEPTH * COLUMNS", "from_a_file"),
        ("sizeof(float) * DEPTH * COLUMNS", "sizeof(float) * 7"),
        ("cudaMalloc(&right", "cudaMalloc(&other"),
        ("(left, right, out)", "(left + 1, right, out)"),
        ("(left, right, out)", "(left, left, out)"),
        ("CHECK(cudaMallocManaged(&out, bytes));", "cudaMalloc(&out, bytes); cudaMalloc(&out, 64);"),
    ],
    ids=["not known", "no product", "another array", "a part", "one array twice", "two allocations"],
)
def test_they_do_not_where_one_is_not_known(old: str, new: str) -> None:
    assert sizes(TEXT.replace(old, new)) == {None}


def test_it_is_right_there(tmp_path: Path) -> None:
    made = settled(tmp_path, TEXT)
    assert made.right and made.settled.startswith(RIGHT_AT_ITS_SIZE.format(size="3 x 5 x 4"))
    assert {"M == 3", "N == 5", "K == 4"} <= {*made.requires}


def test_a_race_there_is_said(tmp_path: Path) -> None:
    made = settled(tmp_path, TEXT.replace("if (k == 0)", "if (k < 2)").replace("= sum;", "= sum + k;"))
    assert not made.right and not made.wrong_itself
    (flaw,) = made.flaws
    assert flaw.kind == "race" and flaw.line == 12 and "3 x 5 x 4" in flaw.text


def test_it_is_tried_there_with_zeros_in_c_too(tmp_path: Path) -> None:
    text = TEXT.replace("c[row * COLUMNS + column] = sum;", "c[row * COLUMNS + column] += sum;")
    made = settled(tmp_path, text)
    assert made.right and made.adds and {"M == 3", "N == 5", "K == 4"} <= {*made.requires}


# Three constants with the letters of the alphabet's end: none says which size it is.
LETTERS = """#define X 6
#define Y 4
#define Z 4
__global__ void product(const float *a, const float *b, float *c) {
    int row = blockIdx.y * 2 + threadIdx.y, column = blockIdx.x * 2 + threadIdx.x;
    for (int at = 0; at < (Y + 1) / 2; ++at) {
        float sum = 0;
        for (int k = 2 * at; k < 2 * at + 2; ++k) sum += a[row * Y + k] * b[k * Z + column];
        if (row < X && column < Z) c[row * Z + column] += sum;
    }
}
int main() {
    float *left, *right, *out;
    cudaMalloc(&left, X * Y * sizeof(float));
    cudaMalloc(&right, Y * Z * sizeof(float));
    cudaMalloc(&out, X * Z * sizeof(float));
    dim3 block(2, 2), grid((Z + block.x - 1) / block.x, (X + block.y - 1) / block.y);
    product<<<grid, block>>>(left, right, out);
}
"""


def test_the_grid_there_is_the_file_s(tmp_path: Path) -> None:
    assert guess(LETTERS, Path("mine.cu")).own_grid == ("2", "3")
    made = settled(tmp_path, LETTERS)
    assert made.right and made.grid == ("2", "3") and {"M == 6", "N == 4", "K == 4"} <= {*made.requires}
