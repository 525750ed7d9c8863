"""Tiles of boxes in memory of bytes are found after the first block: the recording is as if they were known before."""

from typing import Any

import numpy as np
import pytest
from hopper_recordings import FFMA, RING, launched

from gemmviz.catalogue.errors import KernelFault
from gemmviz.catalogue.launch import Launch
from gemmviz.catalogue.problem import Problem, small_integer_inputs, stored
from gemmviz.simt import job, recorder
from gemmviz.simt.build import build
from gemmviz.simt.layout import BoxKind

LAST = "    for (int j = 0; j < 8; j++)\n        if (row"
# Numbers behind the tiles, which an instruction reads before it reads some in a tile; the same with bytes.
NUMBERS = FFMA.replace('shared   = "2 * 2 * 2048"', 'shared   = "2 * 2 * 2048 + 64"').replace(
    LAST,
    """    if (t < 64) raw[8192 + t] = t;
    int seen = 0;
    for (int x = 0; x < 64; x++) seen += raw[8192 + 63 - 2 * x];
    if (seen == 12345) sum[0] = 0;
"""
    + LAST,
)
BYTES = NUMBERS.replace("int seen = 0;", "int seen = *(const int *)(raw + 8192);")
OUTSIDE = FFMA.replace(LAST, "    if (t == 5) sum[0] += raw[8192 + 3];\n" + LAST)
FAULT = FFMA.replace(LAST, "    if (t == 5) sum[0] += *(const float *)(raw + 2);\n" + LAST)
LATE_FAULT = FAULT.replace("t == 5", "t == 5 && blockIdx.x == 1")


def run(ring: Launch, workers: int) -> recorder.RawTrace:
    a, b = small_integer_inputs(ring.problem, ring.kernel.dtype)
    inputs = stored(ring.kernel, "A", a), stored(ring.kernel, "B", b)
    return recorder.run(build(ring), ring, *inputs, deadline_s=20, capacity=10**7, workers=workers)


def known_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no run find its tiles after its first block: then they are found by another run before."""
    monkeypatch.setattr(job.Job, "_first_ended", lambda self: 0)


def told(raw: recorder.RawTrace) -> list[Any]:
    rows = [column.tolist() for column in raw.columns.values()]
    # NaNs are equal if their bits are.
    rows[list(raw.columns).index("value")] = raw.columns["value"].view(np.uint32).tolist()
    shared = [(one.name, one.offset, one.shape, one.dtype) for one in raw.shared]
    boxes = raw.tma.boxes.copy()
    # A store has no barrier: counted from the anchor, its 0 depends on where this run's shared memory was.
    boxes["barrier"][boxes["store"] != BoxKind.LOAD] = 0
    tma = boxes.tobytes(), raw.tma.events.tobytes()
    return [rows, raw.more.tolist(), shared, raw.diagnostics, raw.kinds, raw.places, raw.c.tolist(), tma]


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize(
    ("text", "params"),
    [(FFMA, {}), (NUMBERS, {}), (BYTES, {}), (OUTSIDE, {}), (RING, {"BLOCKS": 2}), (RING, {"CLUSTER": 2, "BLOCKS": 2})],
    ids=["ffma", "numbers", "bytes", "outside", "ring", "cluster"],
)
def test_the_recording_is_the_same(
    text: str, params: dict[str, int], workers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    ring = launched(text, Problem(200, 136, 72), **params)
    found = run(ring, workers)
    assert len(found.shared) > 1 and len(found.columns["site"])
    known_before(monkeypatch)
    assert told(found) == told(run(ring, workers))


def test_an_instruction_tells_the_bytes_from_the_tile() -> None:
    raw = run(launched(BYTES, Problem(64, 64, 32)), 1)
    bytes_of = [array.dtype in ("int8", "uint8") for array in raw.shared].index(True) + 3
    line = next(n for n, text in enumerate(BYTES.splitlines(), 1) if "seen += raw" in text)
    sites = [number for number, place in enumerate(raw.places) if place[0] == line]
    arrays = raw.columns["which"][np.isin(raw.columns["site"], sites)]
    # Of 64 bytes, from the last one on, each second is read: half of them are in the tile before.
    assert np.count_nonzero(arrays == bytes_of) == np.count_nonzero(arrays != bytes_of) == 4 * 128 * 32


@pytest.mark.parametrize("text", [FAULT, LATE_FAULT], ids=["first", "later"])
def test_a_fault_is_told_in_the_same_words(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    words = []
    for _ in range(2):
        with pytest.raises(KernelFault) as error:
            run(launched(text, Problem(64, 64, 32)), 1)
        words.append(str(error.value))
        known_before(monkeypatch)
    assert words[0] == words[1] and "misaligned" in words[0]


def test_the_first_block_runs_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def again(self: job.Job, dtypes: list[str]) -> None:
        raise AssertionError

    monkeypatch.setattr(job.Job, "_find_tiles", again)
    assert run(launched(FFMA, Problem(32, 32, 32)), 1).columns["site"].size
