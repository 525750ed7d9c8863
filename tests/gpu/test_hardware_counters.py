"""Predictions of recordings held against the counters of the GPU that is here."""

import threading

import pytest

from gemmviz.catalogue.errors import Unavailable
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.engine.consent import Named
from gemmviz.engine.messages import Counted, CountRequest
from gemmviz.engine.supervisor import Engine
from gemmviz.proving import ncu
from gemmviz.proving.jobs import Job
from gemmviz.proving.proofs import proofs_of
from gemmviz.proving.proving import counted, predicted

pytestmark = pytest.mark.gpu


def test_a_naive_and_a_tiled_kernel_make_the_requests_that_their_recordings_say() -> None:
    try:
        command = ncu.tool()
    except Unavailable as error:
        pytest.skip(str(error))
    rungs = ladder()
    launches = [launch(find(name, rungs), Problem(96, 64, 32)) for name in ("matmul_kernel_naive", "gputiled")]
    _, counts = counted(launches, command)
    for proof in predicted(counts, launches):
        assert proof.holds, proof
        verdicts = {row.what: row.verdict for row in proof.compared}
        assert verdicts["global load sectors"] == verdicts["global load requests"] == "equal"


def test_an_engine_reads_counters_for_a_cluster() -> None:
    try:
        ncu.tool()
    except Unavailable as error:
        pytest.skip(str(error))
    tiled = launch(find("gputiled", ladder()), Problem(96, 64, 32))
    engine = Engine(Named([tiled.kernel]))
    try:
        *_, last = engine.run(CountRequest(7, [Job.of(tiled).to_plain()]), threading.Event())
    finally:
        engine.close()
    assert isinstance(last, Counted), last
    file = proofs_of(last.document, "the engine")
    assert file.machine.gpu and file.machine.ncu
    (proof,) = predicted(file.proofs, [tiled])
    assert proof.holds, proof
