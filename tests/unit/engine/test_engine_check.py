"""A check answers for every launch, whatever one of them does to the process; a recording brings its defects along."""

import threading

import hostile
import pytest

from gemmviz.catalogue.ladder import find, ladder
from gemmviz.engine.messages import Checked, CheckRequest, Done, Failed, Progress, Recorded, RecordRequest

SIZES = ((4, 4, 4), (5, 5, 5), (6, 5, 4))
TILED = find("gputiled", ladder())


def check(engine, text, path="/nowhere/mine.c", **more):
    launches = [{"m": m, "n": n, "k": k, "params": {}} for m, n, k in SIZES]
    return list(engine.run(CheckRequest(3, path, text, launches, **more), threading.Event()))


def reports(replies):
    assert isinstance(replies[-1], Done)
    checked = [r for r in replies if isinstance(r, Checked)]
    assert [r.job for r in checked] == [0, 1, 2]
    return [r.report for r in checked]


def test_a_right_kernel_has_a_clean_report_per_size(engine):
    replies = check(engine, hostile.RIGHT)
    assert [(str(r), r.things, r.refused) for r in reports(replies)] == [
        (f"mine at {m} x {n} x {k}", [], "") for m, n, k in SIZES
    ]
    shares = [r.share for r in replies if isinstance(r, Progress)]
    assert shares == sorted(shares) and 0 <= shares[0] <= shares[-1] <= 1


@pytest.mark.parametrize(
    ("line", "top", "says"),
    [
        ("if (m == 5) *(volatile int *)8 = 1;", "", "Segmentation fault in the loop"),
        ("if (m == 5) exit(3);", "#include <stdlib.h>", "exit code 3"),
    ],
)
def test_a_crash_is_its_own_report_and_the_next_size_is_checked(engine, line, top, says):
    before, bad, after = reports(check(engine, hostile.source(f"    {line}", top=top)))
    assert before.findings == after.findings == []
    assert [f.kind for f in bad.findings] == ["crash"]
    assert says in bad.findings[0].text


def test_an_index_far_out_of_a_matrix_is_out_of_bounds_and_not_just_a_crash(engine):
    loops = hostile.LOOPS.replace("c[i * n + j] = sum", "c[i * n + j + (m == 5 ? 1 << 29 : 0)] = sum")
    before, bad, after = reports(check(engine, hostile.source(loops=loops)))
    assert before.findings == after.findings == []
    assert [f.kind for f in bad.findings] == ["out of bounds"]
    assert "C[536870912], out of bounds (it has 25 elements)" in bad.findings[0].text


def test_after_an_endless_run_the_rest_is_named_and_not_tried(engine):
    before, endless, skipped = reports(
        check(engine, hostile.source("    for (volatile int f = m == 5; f;) ;"), deadline_s=0.3)
    )
    assert before.findings == []
    assert [f.kind for f in endless.findings] == ["crash"]
    assert "does it end" in endless.findings[0].text
    assert skipped.refused == "not checked, as mine at 5 x 5 x 5 did not end"


def test_a_size_that_is_refused_says_why(engine):
    text = hostile.RIGHT.replace("// ---\n", '// requires = ["M % 2 == 0"]\n// ---\n')
    found = reports(check(engine, text))
    assert [bool(r.refused) for r in found] == [False, True, False]
    assert "requires M % 2 == 0" in found[1].refused


def test_a_file_without_front_matter_is_refused_as_a_whole(engine):
    (failed,) = [r for r in check(engine, hostile.NO_FRONT_MATTER) if not isinstance(r, Progress)]
    assert isinstance(failed, Failed)
    assert "no front matter" in failed.message


def test_a_race_is_reported(engine):
    text = TILED.text.replace("        __syncthreads();\n", "\n", 1)
    checked = next(r for r in check(engine, text, str(TILED.path)) if isinstance(r, Checked))
    report = checked.report
    assert {f.kind for f in report.findings} == {"race"}


def test_a_recording_brings_its_defects(engine):
    def record(text):
        (*_, reply) = engine.run(RecordRequest(4, "/nowhere/mine.c", text, 4, 4, 4), threading.Event())
        assert isinstance(reply, Recorded)
        return reply.findings

    assert record(hostile.RIGHT) == []
    (wrong,) = record(hostile.WRONG)
    assert wrong.kind == "wrong result"
