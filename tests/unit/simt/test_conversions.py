"""CUDA's conversions and arithmetic with a rounding in their names: every bit is as exact numbers say."""

import conversion_kernels
import numpy as np
import pytest

from gemmviz.trace.recording.record import record


@pytest.mark.parametrize("name", conversion_kernels.CASES)
def test_a_result_is_the_exact_one_rounded_in_the_direction_of_the_name(name: str) -> None:
    recording = record(conversion_kernels.kernel(name).launch, deadline_s=30)
    wanted = conversion_kernels.wanted(name)
    wrong = sorted(set(np.argwhere(recording.c != wanted)[:, 0]))
    assert [conversion_kernels.CASES[name][row].call for row in wrong] == []
