"""Measuring on request: refusals, the check before, messages, and kept results."""

from dataclasses import replace

import pytest

from gemmviz.bench import results
from gemmviz.bench.figures import Turn
from gemmviz.bench.protocol import Protocol
from gemmviz.catalogue.errors import GemmvizError
from gemmviz.catalogue.ladder import find
from gemmviz.catalogue.problem import Problem
from gemmviz.checking.report import Report
from gemmviz.control.checks import Checks
from gemmviz.control.measuring import Measuring
from gemmviz.engine.messages import (
    BenchDone,
    BenchRequest,
    Checked,
    Done,
    Failed,
    Header,
    Probed,
    ProbeRequest,
    Progress,
    Result,
    Sample,
)
from gemmviz.trace.hazards import Finding

RACE = Finding("race", 12, "two threads write As[0][0] with no barrier between")
FACTS = {"device": None, "cpu": {"model": "Some CPU", "cores": 2}}


@pytest.fixture
def measuring(session, engines):
    session.choice.choose_kernel(find("hostmult1", session.choice.kernels))
    return Measuring(session, engines, Checks(session, engines))


def edit(session):
    """Replace the chosen kernel's text as typing does."""
    text = session.choice.text
    session.permission.trust.typed(session.choice.base.path, text, text + "// mine\n")
    session.choice.edit(text + "// mine\n")


def check(engines, *findings):
    """Make the checker report these findings for its last launch."""
    request = engines.recorder.requests[-1]
    entry = request.launches[0]
    report = Report("hostmult1", Problem(entry["m"], entry["n"], entry["k"]), entry["params"], list(findings))
    engines.recorder.replied.emit(Checked(request.run, report))
    engines.recorder.replied.emit(Done(request.run))


def done(engines, rows):
    request = engines.bench.requests[-1]
    document = results.document({}, None, Protocol()) | {"results": rows}
    engines.bench.replied.emit(BenchDone(request.run, document))


def failed_row(session):
    made = results.new_row(session.choice.kernel, Problem.cube(64), {})
    return made | {"status": "wrong", "message": "C[0][0] is 3 instead of 4"}


def test_a_shipped_rung_is_measured_at_once(session, engines, measuring):
    session.choice.protocol = {"timeout_s": 1.0}
    session.choice.choose_bench(problem=Problem.cube(64))
    measuring.measure_this()
    (request,) = engines.bench.requests
    assert session.progress["bench"] == ("Starting", None) and not engines.recorder.requests
    assert (request.sizes, request.protocol) == ([(64, 64, 64)], {"timeout_s": 1.0})
    assert [entry["text"] for entry in request.kernels] == [session.choice.kernel.text]


def test_over_n_one_rung_or_every_one_is_measured_at_each_size(session, engines, measuring):
    for every, count in ((False, 1), (True, len(session.choice.kernels))):
        measuring.measure_over_n([8, 16], every)
        request = engines.bench.requests[-1]
        assert request.sizes == [(8, 8, 8), (16, 16, 16)] and len(request.kernels) == count


def test_a_launch_that_is_impossible_has_a_message_and_is_not_sent(session, engines, measuring):
    session.choice.choose_kernel(find("matmul_tc", session.choice.kernels))
    session.choice.choose_bench(problem=Problem(17, 17, 17))
    measuring.measure_this()
    assert not engines.bench.requests and session.messages.current.kind == "warning"


def test_a_gpu_s_kernel_is_not_sent_to_a_machine_that_is_known_to_have_no_gpu(session, engines, measuring):
    session.choice.choose_kernel(find("gputiled", session.choice.kernels))
    measuring.measure_this()
    measuring.measure_over_n([8], False)
    assert len(engines.bench.requests) == 2  # not known yet: the engine answers
    session.results.set_device("Some CPU", None, 2)
    for measure in (measuring.measure_this, lambda: measuring.measure_over_n([8], False)):
        session.messages.tell(None)
        measure()
        assert "This machine has no GPU" in session.messages.current.text
        assert "another machine can measure it" in session.messages.current.text
    assert len(engines.bench.requests) == 2
    measuring.measure_over_n([8], True)
    session.choice.choose_kernel(find("hostmult1", session.choice.kernels))
    measuring.measure_this()
    assert len(engines.bench.requests) == 4


def test_all_rungs_are_measured_without_the_one_that_may_not_run(session, engines, measuring, tmp_path):
    strange = replace(session.choice.kernel, name="strange", path=tmp_path / "strange.c", text="// not allowed")
    session.choice.add_kernel(strange)
    measuring.measure_all()
    (request,) = engines.bench.requests
    assert len(request.kernels) == len(session.choice.kernels) - 1
    assert str(strange.path) not in [entry["path"] for entry in request.kernels]
    assert "it is not allowed to run: " in session.messages.current.text
    assert "strange.c" in session.messages.current.text
    measuring.measure_this()
    assert engines.bench.requests == [request] and session.permission.asks


def test_an_edited_kernel_is_checked_and_a_clean_one_measured_and_not_checked_again(session, engines, measuring):
    edit(session)
    measuring.measure_this()
    assert not engines.bench.requests and "Checking" in session.progress["record"][0]
    check(engines)
    assert len(engines.bench.requests) == 1 and session.progress["record"] is None
    measuring.measure_this()
    assert len(engines.bench.requests) == 2 and len(engines.recorder.requests) == 1


def test_a_defective_kernel_is_measured_only_on_request(session, engines, measuring):
    edit(session)
    measuring.measure_this()
    check(engines, RACE)
    assert not engines.bench.requests
    assert session.messages.current.text.startswith(f"{session.choice.base.path.name}, edited is not measured: at ")
    assert "line 12: race: " in session.messages.current.text
    (anyway,) = session.messages.current.answers
    anyway.act()
    (request,) = engines.bench.requests
    assert [entry["text"] for entry in request.kernels] == [session.choice.kernel.text]
    assert session.messages.current is None


def test_replies_become_figures_and_the_run_is_kept(session, engines, measuring, kept):
    measuring.measure_this()
    run = engines.bench.requests[-1].run
    engines.bench.replied.emit(Progress(run, "timing", 0.5))
    assert session.progress["bench"] == ("timing", 0.5)
    engines.bench.replied.emit(Sample(run, "hostmult1", "hostmult1", 10, 10, 10, [2e-6, 0.0], 1.0))
    assert session.results.samples.gflops == [1.0]
    row = results.new_row(session.choice.kernel, Problem.cube(64), {}) | {"status": "ok", "gflops": 5.0}
    engines.bench.replied.emit(Result(run, row))
    assert session.results.rows["hostmult1"]["gflops"] == 5.0
    engines.bench.replied.emit(Result(run + 100, row | {"gflops": 9.0}))
    assert session.results.rows["hostmult1"]["gflops"] == 5.0
    done(engines, [row])
    assert session.progress["bench"] is None and [document["results"] for document in kept] == [[row]]
    assert session.results.document is kept[0]


def test_every_batch_of_samples_is_there_at_once_and_the_run_s_end_is_noted(session, engines, measuring, kept):
    seen = []
    session.results.sampled.connect(lambda: seen.append(session.results.live and len(session.results.live.gflops)))
    measuring.measure_this()
    run = engines.bench.requests[-1].run
    for number, seconds in ((1, [2e-6]), (1, [4e-6, 2e-6]), (2, [2e-6])):
        sample = Sample(run, "hostmult1", "hostmult1", 10, 10, 10, seconds, 0.75, number, 3, True)
        engines.bench.replied.emit(sample)
    assert seen == [None, 1, 3, 4]
    live = session.results.live
    assert live.turn == Turn("hostmult1", (10, 10, 10), 2, 3, True)
    assert live.by_round() == [[1.0, 0.5, 1.0], [1.0]] and live.median == 0.75
    assert live.spread == pytest.approx(0.125 / 0.75)
    done(engines, [])
    assert session.results.live is None and len(session.results.samples.gflops) == 4


def test_samples_end_with_a_run_that_fails(session, engines, measuring):
    measuring.measure_this()
    run = engines.bench.requests[-1].run
    engines.bench.replied.emit(Sample(run, "hostmult1", "hostmult1", 10, 10, 10, [2e-6], 1.0))
    assert session.results.live is not None
    engines.bench.replied.emit(Failed(run, "crash", "it fell"))
    assert session.results.live is None


def test_the_reason_why_the_only_kernel_has_no_figure_is_shown(session, engines, measuring, kept):
    measuring.measure_this()
    done(engines, [failed_row(session)])
    assert session.messages.current.text.endswith("has no GFLOPS. wrong: C[0][0] is 3 instead of 4")


def test_results_that_cannot_be_kept_are_said_so(session, engines, measuring, monkeypatch):
    def full(document):
        raise GemmvizError("the disk is full")

    monkeypatch.setattr("gemmviz.bench.store.save", full)
    measuring.measure_this()
    done(engines, [failed_row(session)])
    assert session.messages.current.text == "The results are not kept: the disk is full"


def test_the_machine_is_asked_about_again_where_a_run_took_the_place_of_the_question(session, engines, measuring, kept):
    measuring.probe_once()
    measuring.probe_once()
    (probe,) = engines.bench.requests
    measuring.measure_this()
    engines.bench.replied.emit(Failed(probe.run, "cancelled", "cancelled"))
    assert session.progress["bench"] is not None
    done(engines, [failed_row(session)])
    again = engines.bench.requests[-1]
    assert isinstance(again, ProbeRequest) and isinstance(engines.bench.requests[-2], BenchRequest)
    engines.bench.replied.emit(Probed(again.run, FACTS))
    assert session.results.device == "Some CPU (2 cores)"


def test_a_run_that_took_the_place_of_the_question_names_the_machine_itself(session, engines, measuring, kept):
    measuring.probe_once()
    measuring.measure_this()
    gpu = {"name": "NVIDIA H200", "sms": 132}
    document = results.document({"cpu": {"model": "Xeon", "cores": 8}}, gpu, Protocol())
    engines.bench.replied.emit(Header(engines.bench.requests[-1].run, document))
    assert session.results.device == "NVIDIA H200 / Xeon (8 cores)" and session.results.device_facts == gpu
    done(engines, [failed_row(session)])
    assert isinstance(engines.bench.requests[-1], BenchRequest)  # nobody asks again


def test_a_run_that_fails_is_over_and_says_why(session, engines, measuring):
    measuring.measure_this()
    engines.bench.replied.emit(Failed(engines.bench.requests[-1].run, "internal", "the engine does not start"))
    assert session.progress["bench"] is None and session.messages.current.text == "the engine does not start"


def test_a_kernel_that_cannot_run_here_says_why(session, engines, measuring, kept):
    session.choice.choose_bench(problem=Problem.cube(64))
    measuring.measure_this()
    row = results.new_row(session.choice.kernel, Problem.cube(64), {})
    done(engines, [row | {"status": "skipped", "message": "no CUDA device: the NVIDIA driver finds no GPU"}])
    text = session.messages.current.text
    assert "cannot be measured here" in text and "finds no GPU" in text
