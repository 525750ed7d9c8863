"""The documents' claims about recordings: judged without a GPU."""

import pytest

from gemmviz.bench import claims as judging
from gemmviz.bench import results
from gemmviz.bench.claims import Evidence
from gemmviz.bench.protocol import Protocol
from gemmviz.catalogue.errors import ConstraintError, GemmvizError
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.trace.cost import traffic
from gemmviz.trace.order import timeline
from gemmviz.trace.recording.record import record

KERNELS = ladder()
CLAIMS = {claim.id: claim for claim in judging.load()}


def test_a_recording_answers_only_the_view_that_a_case_asks_for():
    claim, evidence = CLAIMS["s0-cpu-traffic"], Evidence()
    (job,) = judging.plan([claim], KERNELS).record
    assert job.case.as_written
    shape = launch(find(job.case.kernel, KERNELS), Problem(*job.case.size), {})
    for as_written, state in ((False, "not run"), (True, "holds")):
        found = record(shape, as_written=as_written)
        evidence.add_counts(judging.counted(found, traffic.measure(found, None)))
        verdict = judging.judge(claim, evidence)
        assert verdict.state == state
        assert {finding.origin for finding in verdict.findings} == {"recorded as written"}
    compiled = {key: value for key, value in evidence.counts[0].items() if key != "as_written"}  # from an older file
    evidence.add_counts(compiled)
    assert judging.judge(claim, evidence).state == "holds" and len(evidence.counts) == 2
    s0 = judging.judge(CLAIMS["s0-gpu-naive"], evidence)
    assert {finding.origin for finding in s0.findings} == {"recorded"}


@pytest.mark.parametrize(
    ("name", "state"),
    [
        ("s0-cpu-traffic", "holds"),
        ("s0-gpu-naive", "holds"),
        ("s0-register-sum", "not run"),
        ("s0-restrict-register", "holds"),
        ("s1-uninitialised", "holds"),
        ("s1-bounds", "holds"),
        ("s1-store-in-loop", "holds"),
        ("s3-multiples", "does not hold"),
        ("s1-comma", "holds"),
        ("s2-walkthrough", "holds"),
    ],
)
def test_claims_about_recordings_are_judged_without_a_gpu(name, state):
    claim, evidence = CLAIMS[name], Evidence()
    for job in judging.plan([claim], KERNELS).record:
        kernel = find(job.case.kernel, KERNELS)
        try:
            shape = launch(kernel, Problem(*job.case.size), dict(job.case.params))
            found = record(shape, as_written=job.case.as_written)
        except GemmvizError as error:
            evidence.add_fault(job.case, str(error), "refused" if isinstance(error, ConstraintError) else "compile")
        else:
            evidence.add_counts(judging.counted(found, traffic.measure(found, timeline.build(found))))
    again = Evidence.of(results.document({}, None, Protocol()) | {"recordings": evidence.counts})
    assert judging.judge(claim, again).state == state
