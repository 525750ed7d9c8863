"""Two versions are compared in an engine of their own, after both may run, one request after the other."""

from pathlib import Path

import pytest
from recordings import rung

from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.ladder import find
from gemmviz.catalogue.problem import Problem
from gemmviz.checking.report import Report
from gemmviz.control.comparing import Comparing
from gemmviz.engine.messages import (
    AssembleRequest,
    BenchRequest,
    Checked,
    CheckRequest,
    Done,
    Failed,
    Progress,
    Recorded,
    RecordRequest,
)
from gemmviz.session.models.two_versions import Side
from gemmviz.session.rules.compared_edits import compare_edits
from gemmviz.trace.cost import traffic

SIZE = Problem.cube(4)


@pytest.fixture
def versions(session, engines):
    comparing = Comparing(session, engines)
    sides = [Side(name, find(name, session.choice.kernels)) for name in ("hostmult0", "hostmult1")]
    session.versions.choose(*sides)
    session.versions.want(SIZE, False)
    yield session.versions
    assert comparing.session is session  # signals do not keep it


def worked_out(engines):
    """Let the engine's thread do what was given to it."""
    worker = engines.versions
    while worker.computing:
        worker.computed.emit(worker.computing.pop(0)())


def answer(engines, *replies):
    for reply in replies:
        engines.versions.replied.emit(reply)
    worked_out(engines)


def recording_of(request):
    recording = rung(Path(request.path).stem.partition("_")[2], SIZE)
    counted = traffic.measure(recording, None)
    return Recorded(request.run, recording, None, counted)


def go_through(engines, versions):
    """Answer every request until there is none; return them."""
    worked_out(engines)
    requests = engines.versions.requests
    done = 0
    while done < len(requests):
        request = requests[done]
        done += 1
        if isinstance(request, RecordRequest):
            answer(engines, recording_of(request))
        elif isinstance(request, CheckRequest):
            answer(engines, Checked(request.run, Report("it", SIZE, {}, [], [])), Done(request.run))
        elif isinstance(request, AssembleRequest):
            answer(engines, Failed(request.run, "unsupported", "no NVRTC"))
        else:
            answer(engines, Failed(request.run, "crash", "no device"))
    return requests


def test_both_are_recorded_and_checked_and_the_result_has_their_figures(engines, versions):
    versions.compare()
    requests = go_through(engines, versions)
    assert [type(request) for request in requests] == [RecordRequest] * 2 + [CheckRequest] * 2
    assert {(r.m, r.n, r.k) for r in requests[:2]} == {(4, 4, 4)} and not versions.busy
    found = versions.result
    assert (found.before.name, found.after.name) == ("hostmult0", "hostmult1") and found.checked
    accesses = next(figure for figure in found.groups[0].figures if figure.id == "accesses")
    assert accesses.before > accesses.after
    assert not engines.recorder.requests and not engines.second.requests, "no recording waits for it"


def test_progress_is_shown_of_the_whole_and_a_cancelled_one_says_so(engines, versions):
    versions.compare()
    worked_out(engines)
    (request,) = engines.versions.requests
    engines.versions.replied.emit(Progress(request.run, "Recording hostmult0", 0.5))
    assert versions.busy == "Recording hostmult0" and 0 < versions.share < 0.5
    engines.cancelled.emit()
    assert versions.fault == "The comparison was cancelled." and not versions.busy and versions.result is None
    answer(engines, recording_of(request))
    assert len(engines.versions.requests) == 1, "the answer of a cancelled comparison starts nothing"
    versions.compare()
    assert not versions.fault and versions.busy


def test_a_recording_that_fails_is_a_line_of_the_page_and_a_refused_one_ends_it(engines, versions):
    versions.compare()
    worked_out(engines)
    answer(engines, Failed(engines.versions.requests[-1].run, "timeout", "still running"))
    assert len(engines.versions.requests) == 2, "the other version is recorded all the same"
    answer(engines, Failed(engines.versions.requests[-1].run, "compile", "a.c:3: expected ';'", 3))
    assert versions.fault == "a.c:3: expected ';'" and not versions.busy


def test_a_size_that_one_does_not_take_is_a_reason_with_a_remedy(session, engines, versions):
    sides = [Side(name, find(name, session.choice.kernels)) for name in ("vectorised", "conflict_free")]
    versions.choose(*sides)
    versions.want(Problem.cube(5), False)
    versions.compare()
    worked_out(engines)
    assert "requires" in versions.fault and versions.fault.endswith("Choose another size above.")
    assert not engines.versions.requests


def test_they_are_measured_only_if_it_is_wanted(engines, versions):
    versions.want(SIZE, True)
    versions.compare()
    requests = go_through(engines, versions)
    assert [type(request) for request in requests] == [RecordRequest] * 2 + [BenchRequest]
    assert versions.fault == "no device"


def test_other_versions_end_the_comparison_under_way(session, engines, versions):
    versions.compare()
    worked_out(engines)
    versions.choose(versions.before, Side("hostmult1_opt", find("hostmult1_opt", session.choice.kernels)))
    assert engines.versions.cancels == 1 and not versions.busy


STRANGER = """// ---gemmviz
// title = "Mine"
// entry = "mine"
// args  = ["A", "B", "C", "M", "N", "K"]
// ---
void mine(const float *A, const float *B, float *C, int M, int N, int K)
{
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            float sum = 0;
            for (int k = 0; k < K; k++) sum += A[i * K + k] * B[k * N + j];
            C[i * N + j] = sum;
        }
}
"""


def test_a_text_from_elsewhere_runs_only_after_the_answer(tmp_path, engines, versions):
    stranger = parse(STRANGER, tmp_path / "mine.c")
    (tmp_path / "mine.c").write_text(STRANGER)
    versions.choose(versions.before, Side("mine.c", stranger))
    versions.compare()
    worked_out(engines)
    assert [side.name for side in versions.asked] == ["mine.c"]
    assert not engines.versions.requests and not versions.busy
    versions.refuse()
    assert not versions.asked and not engines.versions.requests
    versions.compare()
    versions.allow()
    worked_out(engines)
    assert not versions.asked and len(engines.versions.requests) == 1


def test_an_edited_text_is_compared_with_the_text_as_it_was_opened(session, engines, versions):
    assert "nothing to compare" in compare_edits(session.choice, versions)
    choice = session.choice
    choice.choose_kernel(find("hostmult1", choice.kernels))
    edited = choice.text.replace("+=", "+= 1.0f *", 1)
    session.permission.trust.typed(choice.base.path, choice.text, edited)
    choice.edit(edited)
    assert compare_edits(session.choice, versions) == ""
    assert versions.before.kernel.text == choice.base.text and versions.after.kernel.text == edited
    assert versions.before.name.endswith("as opened") and versions.after.name.endswith("edited") and versions.busy
    choice.revert()
    choice.break_it((choice.base.breaks[0].id,) if choice.base.breaks else ())
    if choice.breaks:
        assert compare_edits(session.choice, versions) == "" and versions.before.kernel is choice.base


def test_a_library_call_has_no_source_to_compare(session, versions):
    session.choice.choose_kernel(find("numpy", session.choice.kernels))
    assert "library call" in compare_edits(session.choice, versions)
