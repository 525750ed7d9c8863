"""A recording with too many accesses is refused with the part that would fit, and the engine goes on."""

import threading
from pathlib import Path

from gemmviz.engine.consent import Described
from gemmviz.engine.messages import Failed, Recorded, RecordRequest
from gemmviz.engine.supervisor import Engine

TEXT = """// ---gemmviz
// title = "many"
// entry = "many"
// args = ["A", "B", "C", "M", "N", "K"]
// block = ["16", "16"]
// grid = ["ceil(N / 16)", "ceil(M / 16)"]
// ---
__global__ void many(const float *A, const float *B, float *C, int M, int N, int K) {
    int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
    float sum = 0, other = 0;
    for (int k = 0; k < K; ++k) {
        for (int again = 0; again < 30; ++again) other += A[row * K + (k + again) % K];
        sum += A[row * K + k] * B[k * N + column];
    }
    C[row * N + column] = other == 0.25f ? other : sum;
}
"""


def test_the_engine_says_what_would_fit(tmp_path: Path) -> None:
    path = tmp_path / "many.cu"
    path.write_text(TEXT)
    engine = Engine(Described(path, TEXT))
    try:

        def ask(run: int, size: int) -> Failed | Recorded:
            request = RecordRequest(run, str(path), TEXT, size, size, size)
            *_, last = engine.run(request, threading.Event())
            assert isinstance(last, Failed | Recorded)
            return last

        refused = ask(1, 128)
        assert isinstance(refused, Failed) and refused.kind == "refused", refused
        assert "more than the" in refused.message and "should fit" in refused.message
        assert isinstance(ask(2, 16), Recorded)
    finally:
        engine.close()
