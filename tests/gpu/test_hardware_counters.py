"""Predictions of recordings held against the counters of the GPU that is here."""

import pytest

from gemmviz.catalogue.errors import Unavailable
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.proving import ncu
from gemmviz.proving.proving import prove

pytestmark = pytest.mark.gpu


def test_a_naive_and_a_tiled_kernel_make_the_requests_that_their_recordings_say() -> None:
    try:
        command = ncu.tool()
    except Unavailable as error:
        pytest.skip(str(error))
    rungs = ladder()
    launches = [launch(find(name, rungs), Problem(96, 64, 32)) for name in ("matmul_kernel_naive", "gputiled")]
    found, _ = prove(launches, command)
    for proof in found:
        assert proof.holds, proof
        verdicts = {row.what: row.verdict for row in proof.compared}
        assert verdicts["global load sectors"] == verdicts["global load requests"] == "equal"
