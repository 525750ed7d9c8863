# ruff: noqa: E402  (modules that need Qt are imported after `need_qt`)
"""Other launches are tried in the window where a guessed one makes C wrong, or crashes."""

import pytest
from window_driving import (
    RECORDING_MS,
    bare,
    check_guess,
    need_qt,
    open_trusted,
    wait_shown,
)

need_qt()


from gemmviz.catalogue.problem import Problem
from gemmviz.ui.stage.caption import provenance

pytestmark = pytest.mark.new_window  # nearly all of these tests change what cannot be put back


def test_a_guess_that_makes_c_wrong_is_replaced_by_one_that_was_tried(window, qtbot, tmp_path):
    path = bare(window, tmp_path)
    # B by columns: the guess does not see it in an index that is computed in two steps.
    index = "        int at = t + ty;\n        at += Ax * col;\n        As[ty][tx] ="
    code = path.read_text().replace("        As[ty][tx] =", index).replace("B[(t + ty) * Bx + col]", "B[at]")
    path.write_text(code)
    open_trusted(window, path)
    wait_shown(window, qtbot)
    assert window.session.cursor.playable.recording.wrong
    assert "other launches are tried now" in window.message_bar.text.text()
    # The title of the picture said that C is WRONG, in red, and the file is right.
    moment = window.stage.moment()
    shown = provenance(window.session.cursor.playable, moment.outdated, moment.in_doubt)
    assert not moment.judged and not any("WRONG" in text for text in shown) and "being tried" in shown[0]
    qtbot.waitUntil(lambda: window.session.choice.kernel.column_major == {"B"}, timeout=RECORDING_MS)
    assert "and another one is" in window.message_bar.text.text()
    wait_shown(window, qtbot)
    assert window.session.cursor.playable.recording.wrong == 0 and window.stage.moment().judged
    assert "and another one is" in window.message_bar.text.text()
    # It is a guess still, and no edit.
    assert path.read_text() == code and window.session.choice.all_unsaved() == []
    form = check_guess(window)
    assert form.columns["B"].isChecked()
    form.reject()


WIDE = """
__global__ void wide(const float *A, const float *B, float *C, int M, int N, int K, int lda, int ldb, int ldc)
{
    int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 64 + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < K; k++) {
        long long at = k;
        at += ldb * col;
        sum += A[row * lda + k] * B[at + (at / (K * N) << 32)];
    }
    C[row * ldc + col] = sum;
}

void run(const float *A, const float *B, float *C, int M, int N, int K)
{
    wide<<<dim3(N / 64, M / 16), dim3(64, 16)>>>(A, B, C, M, N, K, K, N, N);
}
"""


def open_crashing(window, qtbot, tmp_path):
    """Open a file that reads far outside of B with the guessed launch: it has B by columns, and N is larger than K."""
    path = tmp_path / "wide.cu"
    path.write_text(WIDE)
    window.session.choice.choose(problem=Problem(64, 128, 64))
    open_trusted(window, path)
    qtbot.waitUntil(lambda: window.session.cursor.failure is not None, timeout=RECORDING_MS)


def test_a_guess_that_crashes_is_replaced_by_one_that_was_tried(window, qtbot, tmp_path):
    """Other launches were tried only where a recording had come to its end."""
    open_crashing(window, qtbot, tmp_path)
    assert window.session.cursor.failure[1] == "crash"
    assert window.session.choice.problem == Problem(64, 128, 64)
    text = window.message_bar.text.text()
    assert "Segmentation fault" in text and "other launches are tried now" in text
    qtbot.waitUntil(lambda: window.session.choice.kernel.column_major == {"B"}, timeout=RECORDING_MS)
    assert "and another one is" in window.message_bar.text.text()
    qtbot.waitUntil(lambda: window.session.cursor.failure is None, timeout=RECORDING_MS)
    assert window.session.cursor.playable.recording.wrong == 0


def test_a_guess_that_is_right_elsewhere_stays_and_the_message_says_so(window, qtbot, tmp_path):
    """The same launch was called another one."""
    path = tmp_path / "small.cu"
    code = WIDE.replace("at += ldb * col;", "at = k * N + col;").replace("(K * N)", "64000")
    path.write_text(code)
    window.session.choice.choose(problem=Problem(64, 1024, 64))
    open_trusted(window, path)
    qtbot.waitUntil(lambda: window.session.cursor.failure is not None, timeout=RECORDING_MS)
    assert window.session.cursor.in_doubt
    qtbot.waitUntil(lambda: not window.session.cursor.in_doubt, timeout=RECORDING_MS)
    assert "is right at other sizes" in window.message_bar.text.text()
    assert window.session.guesses.file(window.session.choice.kernel) is not None


def test_of_a_launch_of_the_file_itself_it_is_said_that_the_kernel_is_at_fault(window, qtbot, tmp_path):
    """A student who had forgotten a barrier was told that no other launch is right."""
    path = tmp_path / "no_barrier.cu"
    path.write_text(
        "__global__ void mul(float *M, float *N, float *P, int width)\n{\n"
        "    __shared__ float a[16][16], b[16][16];\n    int tx = threadIdx.x, ty = threadIdx.y;\n"
        "    int row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;\n    float sum = 0;\n"
        "    for (int t = 0; t < width / 16; t++) {\n"
        "        a[ty][tx] = M[row * width + t * 16 + tx];\n        b[ty][tx] = N[(t * 16 + ty) * width + col];\n"
        "        for (int k = 0; k < 16; k++)\n            sum += a[ty][k] * b[k][tx];\n"
        "        __syncthreads();\n    }\n    P[row * width + col] = sum;\n}\n\n"
        "void run(float *M, float *N, float *P, int width)\n{\n"
        "    mul<<<dim3(width / 16, width / 16), dim3(16, 16)>>>(M, N, P, width);\n}\n"
    )
    open_trusted(window, path)
    wait_shown(window, qtbot)
    qtbot.waitUntil(lambda: "the fault is in the kernel" in window.message_bar.text.text(), timeout=RECORDING_MS)
    assert window.session.messages.current.answers[1].title == "Show the findings"


def test_a_guess_that_takes_larger_sizes_only_is_shown_at_one_of_them(window, qtbot, tmp_path):
    """The size of the first guess stayed, and a message asked for another one."""
    path = tmp_path / "wide.cu"
    path.write_text(
        "__global__ void wide(const float *A, const float *B, float *C, int M, int N, int K)\n{\n"
        "    for (int part = 0; part < 4; part++) {\n"
        "        int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 64 + part * 16 + threadIdx.x;\n"
        "        float sum = 0;\n"
        "        for (int k = 0; k < K; k++)\n            sum += A[row * K + k] * B[k * N + col];\n"
        "        C[row * N + col] = sum;\n    }\n}\n\n"
        "void run(const float *A, const float *B, float *C, int M, int N, int K)\n{\n"
        "    wide<<<dim3(N / 64, M / 16), dim3(16, 16)>>>(A, B, C, M, N, K);\n}\n"
    )
    open_trusted(window, path)
    wait_shown(window, qtbot)
    qtbot.waitUntil(lambda: not window.session.cursor.playable.recording.wrong, timeout=RECORDING_MS)
    assert window.session.choice.problem.n % 64 == 0


def test_a_kernel_that_multiplies_no_matrices_is_told_from_one_that_computes_a_wrong_c(window, qtbot, tmp_path):
    path = tmp_path / "sums.cu"
    path.write_text(
        "__global__ void sums(const float *A, const float *B, float *C, int N)\n{\n"
        "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < N)\n        C[i] = A[i] + B[i];\n}\n\n"
        "void run(const float *A, const float *B, float *C, int N)\n{\n"
        "    sums<<<(N + 31) / 32, 32>>>(A, B, C, N);\n}\n"
    )
    open_trusted(window, path)
    wait_shown(window, qtbot)
    assert window.session.cursor.playable.recording.wrong
    qtbot.waitUntil(lambda: "vectors are added" in window.message_bar.text.text(), timeout=RECORDING_MS)
    assert "no other one that was tried is right" in window.message_bar.text.text()
    assert window.session.choice.base.path == path
    form = check_guess(window)
    form.reject()


TURNED = """
__global__ void turned(const float *A, const float *B, float *C, int M, int N, int K)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < M && col < N) {
        float sum = 0;
        for (int k = 0; k < K; k++)
            sum += A[row * K + k] * B[k * N + col];
        C[row * N + col] = sum;
    }
}

void run(const float *A, const float *B, float *C, int M, int N, int K)
{
    dim3 block(8, 8), grid((M + 7) / 8, (N + 7) / 8);
    turned<<<grid, block>>>(A, B, C, M, N, K);
}
"""


def open_square(window, qtbot, path, text):
    """Open a file at a size whose M, N and K are equal, and wait until its launch is no longer in doubt."""
    path.write_text(text)
    open_trusted(window, path)
    wait_shown(window, qtbot)
    recording = window.session.cursor.playable.recording
    assert recording.wrong == 0 and recording.m == recording.n == recording.k
    doubted = window.session.cursor.in_doubt, window.stage.moment().judged, window.source_side.findings.summary
    qtbot.waitUntil(lambda: not window.session.cursor.in_doubt, timeout=RECORDING_MS)
    return doubted


def test_a_grid_with_exchanged_sides_is_not_called_correct_where_the_size_is_square(window, qtbot, tmp_path):
    doubted, judged, summary = open_square(window, qtbot, tmp_path / "turned.cu", TURNED)
    assert doubted and not judged and summary.startswith("Correct at 16³")
    assert "the sides of the grid are exchanged: as the file itself has them, it is wrong" in (
        window.message_bar.text.text()
    )
    assert window.session.choice.kernel.grid[0].names() == {"N"}
    wait_shown(window, qtbot)
    assert window.source_side.findings.summary.partition(";")[0] == "Correct" and window.stage.moment().judged


def test_a_launch_that_is_right_where_m_n_and_k_differ_is_called_correct(window, qtbot, tmp_path):
    right = TURNED.replace("(M + 7) / 8, (N + 7) / 8", "(N + 7) / 8, (M + 7) / 8")
    doubted, _, _ = open_square(window, qtbot, tmp_path / "right.cu", right)
    assert doubted
    assert window.source_side.findings.summary.partition(";")[0] == "Correct" and window.stage.moment().judged
    assert "guessed" in window.message_bar.text.text() and "not right" not in window.message_bar.text.text()
    # It is tried once for a text, not for each recording.
    window.session.choice.choose(problem=Problem.cube(24))
    wait_shown(window, qtbot)
    assert not window.session.cursor.in_doubt


def test_a_kernel_for_square_matrices_is_not_tried_at_others(window, qtbot, tmp_path):
    square = TURNED.replace(", int M, int N, int K", ", int N").replace("B, C, M, N, K", "B, C, N")
    square = square.replace("M", "N").replace("K", "N")
    doubted, judged, _ = open_square(window, qtbot, tmp_path / "square.cu", square)
    assert not doubted and judged and window.source_side.findings.summary.partition(";")[0] == "Correct"


def test_an_own_launch_is_called_correct_at_the_square_size_until_others_were_checked(window, qtbot, tmp_path):
    path = tmp_path / "own.cu"
    front = (
        '// ---gemmviz\n// entry = "turned"\n// args = ["A", "B", "C", "M", "N", "K"]\n// block = [8, 8]\n'
        '// grid = ["ceil(M / 8)", "ceil(N / 8)"]\n// ---\n'
    )
    path.write_text(front + TURNED)
    open_trusted(window, path)
    wait_shown(window, qtbot)
    findings = window.source_side.findings
    assert findings.summary.startswith("Correct at 16³")
    window.session.choice.choose(problem=Problem(16, 24, 32))
    wait_shown(window, qtbot)
    assert "defect" in findings.summary
