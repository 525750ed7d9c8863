"""Findings that are new, gone, or in both: lines move between two versions of a text."""

from dataclasses import replace

import pytest
from small_kernel import kernel

from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.checking.report import Report
from gemmviz.trace.cost.sites import SiteTraffic
from gemmviz.trace.hazards import Finding
from gemmviz.versions.changes import Thing, changes
from gemmviz.versions.comparison import compared
from gemmviz.versions.line_match import places
from gemmviz.versions.version import Version

CODE = "template <int TS> __global__ void k(float *A, float *B, float *C, int N)\n{\n    one();\n    two();\n}\n"


def version(code: str, *things: Thing) -> Version:
    made = launch(kernel(code), Problem.cube(32))
    report = Report(made.label, made.problem, made.params)
    report.findings = [thing for thing in things if isinstance(thing, Finding)]
    report.costs = [thing for thing in things if isinstance(thing, SiteTraffic)]
    return Version("mine.cu", made, report=report)


def line_of(code: str, words: str) -> int:
    lines = kernel(code).text.splitlines()
    return next(number for number, line in enumerate(lines, 1) if words in line)


def race(code: str, words: str) -> Finding:
    return Finding("race", line_of(code, words), "a race", array="As", other_line=line_of(code, words))


def states(before: Version, after: Version) -> list[str]:
    return [change.state for change in changes(before, after)]


def test_a_finding_keeps_its_line_when_lines_are_put_above_it():
    longer = CODE.replace("    one();", "    // a comment\n    int more;\n    one();")
    (change,) = changes(version(CODE, race(CODE, "two")), version(longer, race(longer, "two")))
    assert (change.state, change.defect) == ("both", True)
    assert change.before is not None and change.after is not None
    assert change.after.line == change.before.line + 2


def test_a_finding_of_another_line_is_another_one():
    assert states(version(CODE, race(CODE, "one")), version(CODE, race(CODE, "two"))) == ["new", "gone"]
    assert states(version(CODE, race(CODE, "one")), version(CODE)) == ["gone"]
    assert states(version(CODE), version(CODE, race(CODE, "one"))) == ["new"]


def test_a_line_that_changed_keeps_its_finding():
    changed = CODE.replace("one()", "one(1)")
    assert states(version(CODE, race(CODE, "one")), version(changed, race(changed, "one"))) == ["both"]
    split = CODE.replace("    one();", "    first();\n    second();")
    assert states(version(CODE, race(CODE, "one")), version(split, race(split, "second"))) == ["both"]


def test_a_finding_of_a_line_that_was_deleted_is_gone():
    shorter = CODE.replace("    one();\n", "")
    assert states(version(CODE, race(CODE, "one")), version(shorter, race(shorter, "two"))) == ["new", "gone"]


@pytest.mark.parametrize("field", [{"kind": "out of bounds"}, {"array": "Bs"}])
def test_class_and_array_tell_findings_apart(field):
    found = race(CODE, "one")
    assert states(version(CODE, found), version(CODE, replace(found, **field))) == ["new", "gone"]


def test_two_findings_of_one_line_are_counted_one_by_one():
    found = race(CODE, "one")
    assert states(version(CODE, found), version(CODE, found, found)) == ["new", "both"]


def test_what_a_crash_hides_is_neither_new_nor_gone():
    crash = Finding("crash", line_of(CODE, "one"), "Segmentation fault")
    raced, crashed = version(CODE, race(CODE, "two")), version(CODE, crash)
    assert [(c.state, c.defect) for c in changes(raced, crashed)] == [("new", True), ("unclear", True)]
    found = compared(crashed, raced)
    assert [change.state for change in found.changes] == ["gone", "unclear"]
    assert not found.worse


def test_wasted_traffic_comes_after_defects_and_makes_nothing_worse():
    line = line_of(CODE, "one")
    cost = SiteTraffic(line, "A", "global", False, 32, 1, 32, 128, 4)
    before, after = version(CODE, race(CODE, "two")), version(CODE, race(CODE, "two"), cost)
    assert [(change.defect, change.state) for change in changes(before, after)] == [(True, "both"), (False, "new")]
    assert not compared(before, after).worse
    assert compared(version(CODE), before).worse and not compared(before, version(CODE)).worse


def test_without_a_report_nothing_is_said():
    found = compared(version(CODE, race(CODE, "one")), replace(version(CODE), report=None, no_report="too large"))
    assert (found.checked, found.changes) == (False, ())
    assert found.to_plain()["after"]["missing"]["findings"] == "too large"


def test_every_line_has_a_place():
    before, after = places("a\nb\nc", "a\n  c\nd\n")
    assert [len(before), len(after)] == [4, 4]
    assert before[0] == after[0] and before[1] == after[1] and before[3] == after[2]
    assert before[2] not in after and after[3] not in before
