"""map_shared_rank: plain C++ reads and writes the shared memory of another block of the cluster."""

from pathlib import Path

import nvrtc_alone
import pytest
from ptx_texts import MAPPED

from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.launch import Launch, launch
from gemmviz.catalogue.problem import Problem
from gemmviz.checking.examine import examine
from gemmviz.trace.recording.record import record


def job(text: str = MAPPED) -> Launch:
    return launch(parse(text, Path("mine.cu")), Problem(4, 32, 16))


def test_a_read_and_a_write_reach_the_other_block() -> None:
    recording = record(job(), deadline_s=10)
    assert recording.wrong == 0 and not recording.notes
    log, names = recording.accesses, [array.name for array in recording.arrays]
    text = recording.text.splitlines()

    def count(array: str, write: bool, words: str) -> int:
        lines = {number for number, line in enumerate(text, 1) if words in line}
        return sum(
            recording.sites[site].line in lines
            for site in log.site[(log.array == names.index(array)) & (log.write == write)]
        )

    assert count("row", False, "far[k] *") == 4 * 32 * 16
    assert count("sums", True, "results[t] = sum") == count("sums", True, "results[t] += 1") == 4 * 32
    assert count("done", True, "atomicAdd") == 4 * 32


def test_the_checker_knows_who_has_to_wait() -> None:
    assert examine(parse(MAPPED, Path("mine.cu")), Problem(4, 32, 16), {}).findings == []
    hasty = MAPPED.replace("if (t == 0) done = 0;\n    cluster.sync();", "if (t == 0) done = 0;\n    __syncthreads();")
    found = examine(parse(hasty, Path("mine.cu")), Problem(4, 32, 16), {}).findings
    assert found and {one.kind for one in found} <= {"race", "wrong result", "read of memory nobody wrote"}


@pytest.mark.skipif(nvrtc_alone.library() is None, reason="there is no NVRTC")
def test_nvrtc_takes_the_same_text() -> None:
    assert nvrtc_alone.errors(job(), "sm_90") == ""
