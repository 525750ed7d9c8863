"""The wavefronts of a GPU's shared memory for 4-, 8- and 16-byte requests, beside the rule of the recordings.

One warp makes one request per launch, at places that are regular or drawn at random; Nsight Compute counts the
wavefronts of each. Prints the requests that the rule does not explain, and ends with code 1 when there are any.
Needs ncu, CuPy and a GPU: ``python benchmarks/wavefronts.py``.
"""

import argparse
import csv
import io
import json
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np
import numpy.typing as npt

from gemmviz.catalogue.errors import Unavailable
from gemmviz.proving import ncu
from gemmviz.trace.cost.wavefronts import of_request

Places = npt.NDArray[np.int32]
METRICS = {
    "ld": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "st": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
}
_SHARED_BYTES = 32 * 1024
_SOURCE = r"""
extern "C" __global__ void request(const int *places, float *out, int width, int store)
{
    extern __shared__ __align__(16) char shared[];
    int place = places[threadIdx.x];
    unsigned at = (unsigned)__cvta_generic_to_shared(shared) + place * width;
    float a = place, b = 0, c = 0, d = 0;
    if (place >= 0) {
        if (store && width == 4) asm volatile("st.shared.f32 [%0], %1;" :: "r"(at), "f"(a));
        if (store && width == 8) asm volatile("st.shared.v2.f32 [%0], {%1, %2};" :: "r"(at), "f"(a), "f"(b));
        if (store && width == 16)
            asm volatile("st.shared.v4.f32 [%0], {%1, %2, %3, %4};" :: "r"(at), "f"(a), "f"(b), "f"(c), "f"(d));
        if (!store && width == 4) asm volatile("ld.shared.f32 %0, [%1];" : "=f"(a) : "r"(at));
        if (!store && width == 8) asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];" : "=f"(a), "=f"(b) : "r"(at));
        if (!store && width == 16)
            asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(a), "=f"(b), "=f"(c), "=f"(d) : "r"(at));
    }
    out[threadIdx.x] = a + b + c + d;
}
"""


def patterns(width: int, count: int) -> list[tuple[str, Places]]:
    """Return named places of 32 lanes, in units of `width` bytes; -1: the lane does not take part."""
    lanes = np.arange(32)
    slots = _SHARED_BYTES // width
    rng = np.random.default_rng(width)
    made: list[tuple[str, npt.NDArray[np.int64]]] = [
        ("in a row", lanes),
        ("all the same", lanes * 0),
        ("reversed", lanes[::-1]),
        *((f"stride {s}", lanes * s) for s in (2, 3, 4, 5, 8, 16, 32)),
        *((f"pairs {s}", lanes // s) for s in (2, 4, 8, 16)),
        *((f"repeating {s}", lanes % s) for s in (2, 4, 8, 16)),
        *((f"lane xor {s}", lanes ^ s) for s in (1, 4, 8, 16)),
        ("two far halves", lanes % 16 + lanes // 16 * 512),
        ("two far quarters", lanes % 8 + lanes // 8 * 256),
    ]
    for number in range(count):
        reach = int(rng.choice([4, 8, 16, 24, 32, 64, 128, 512]))
        places = rng.integers(0, reach, 32)
        if number % 4 in (1, 3):  # neighbours in small groups, as tiles make them
            group = int(rng.choice([2, 4, 8, 16]))
            places = np.repeat(rng.integers(0, reach, 32 // group), group) + lanes % group * int(rng.integers(0, 2))
        if number % 4 >= 2:
            places = np.where(rng.random(32) < 0.4, -1, places)
        made.append((f"random {number}", places))
    return [(name, np.where(p < 0, -1, p % slots).astype(np.int32)) for name, p in made]


def launch_all(count: int) -> None:
    """Make every request, one launch each (this is what runs under ncu)."""
    import cupy as cp

    kernel = cp.RawKernel(_SOURCE, "request")
    out = cp.zeros(32, cp.float32)
    work = [(width, store, p) for width in (4, 8, 16) for store in (0, 1) for _, p in patterns(width, count)]
    places = [cp.asarray(p) for _, _, p in work]
    for (width, store, _), at in zip(work, places, strict=True):
        kernel((1,), (32,), (at, out, np.int32(width), np.int32(store)), shared_mem=_SHARED_BYTES)
    cp.cuda.Device().synchronize()


def measured(count: int) -> list[tuple[int, str, str, Places, int]]:
    """Return, per request, width, direction, pattern, places and the wavefronts that Nsight Compute counted."""
    command = [
        ncu.tool(),
        "--csv",
        "--clock-control",
        "none",
        "--kernel-name",
        "request",
        "--metrics",
        ",".join(METRICS.values()),
    ]
    command += [sys.executable, __file__, "--launch", "--count", str(count)]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    table = text[text.index('"ID"') :]
    counted: dict[int, dict[str, int]] = defaultdict(dict)
    for row in csv.DictReader(io.StringIO(table)):
        counted[int(row["ID"])][row["Metric Name"]] = int(float(row["Metric Value"].replace(",", "")))
    work = [(width, way, name, p) for width in (4, 8, 16) for way in ("ld", "st") for name, p in patterns(width, count)]
    return [(*item, counted[number][METRICS[item[1]]]) for number, item in enumerate(work)]


def main() -> int:
    """Compare the rule with the counters."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=80, help="random patterns per width and direction")
    parser.add_argument("--json", type=Path, help="write every request and its count here")
    parser.add_argument("--launch", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.launch:
        launch_all(args.count)
        return 0
    try:
        rows = measured(args.count)
    except Unavailable as error:
        print(error, file=sys.stderr)
        return 2
    if args.json:
        document = [[w, way, name, p.tolist(), n] for w, way, name, p, n in rows]
        args.json.write_text(json.dumps(document), encoding="utf-8")
    wrong = 0
    for width, way, name, places, wavefronts in rows:
        predicted = of_request(np.where(places < 0, -1, places.astype(np.int64) * width), width, way == "st")
        if predicted != wavefronts:
            wrong += 1
            print(f"{width} bytes, {way}, {name}: {wavefronts} wavefronts, and the rule predicts {predicted}: {places}")
    print(f"{len(rows) - wrong} of {len(rows)} requests take as many wavefronts as the rule predicts")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
