"""Results on the terminal: every figure in its column, copies and exhibits apart."""

import pytest

from gemmviz.bench import results
from gemmviz.bench.protocol import Protocol
from gemmviz.bench.row import Row
from gemmviz.bench.stats import summarise
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.problem import Problem
from gemmviz.cli.tables import print_results

KERNELS = ladder()


def row(name: str, seconds: float = 1e-3) -> Row:
    problem = Problem.cube(100)
    made = results.new_row(find(name, KERNELS), problem, {})
    results.describe_samples(made, [seconds] * 3, summarise([seconds] * 3), "steady", problem.flops)
    return made


def printed(capsys: pytest.CaptureFixture[str], *rows: Row) -> str:
    print_results(results.document({}, None, Protocol()) | {"results": [*rows]})
    return capsys.readouterr().out


def cells(text: str, name: str) -> list[str]:
    return [cell.strip() for cell in next(li for li in text.splitlines() if name in li).strip("│").split("│")]


def test_each_figure_is_in_its_column(capsys):
    hot = {"batch": 2, "samples_s": [5e-4], "stats": summarise([5e-4]), "gflops": 4.0}
    mine = row("gputiled") | {"hot": hot, "host_launch_s": 2.5e-6, "peak_fraction": 0.125, "flags": ["throttled"]}
    text = printed(capsys, mine, row("cublas", 5e-4), row("numpy", 1e-6), row("cublas_fp16", 1e-6))
    assert cells(text, "│ gputiled")[1:] == [
        *("100", "ok (throttled)", "2.000", "4.000", "1.000", "2.5", "0.0%", "50.0%", "12.5%"),
    ]


@pytest.mark.parametrize(("bound", "says"), [("probabilistic", "within a probabilistic bound"), ("none", "no bound")])
def test_a_row_that_no_certain_bound_judged_says_so(capsys, bound, says):
    judged = row("gputiled") | {"verify": {"before": "ok", "after": "ok", "bound": bound}}
    text = printed(capsys, judged, row("cublas"))
    assert sum(says in line for line in text.splitlines()) == 1
    assert f"{judged['label']}: checked exactly on whole numbers; " in text
    assert says not in printed(capsys, row("gputiled"))


def test_copies_stand_in_a_table_of_their_own(capsys):
    copy = row("gputiled") | {"kernel": "transfer", "backend": "transfer", "label": "host to device and back"}
    copy |= {"gflops": None, "gbps": 10.0, "transfer": {"to_device_s": 2e-3, "to_host_s": 1e-3}}
    failed = copy | {"status": "oom", "message": "does not fit", "stats": None, "transfer": None, "gbps": None}
    text = printed(capsys, copy, failed)
    assert cells(text, "│ host to device")[2:] == ["float32", "ok", "2.000", "1.000", "1.000", "10.00"]
    assert "oom: does not fit" in text
    assert "of library" not in text


def test_an_exhibit_is_marked_with_its_fault(capsys):
    exhibit = row("mm_printed")
    results.fail(exhibit, "wrong", "C[0, 0] is wrong. Exhibit: C was never set")
    text = printed(capsys, row("gputiled"), exhibit)
    assert "│ mm_printed" not in text
    assert text.index("Exhibits (") < text.index("wrong: C[0, 0] is wrong. Exhibit: C was never set")


def test_a_common_reason_for_skipping_is_given_once(capsys):
    skipped = []
    for name in ("gputiled", "RR", "CC", "mm_printed"):
        skipped.append(results.new_row(find(name, KERNELS), Problem.cube(100), {}))
        results.fail(skipped[-1], "skipped", "no CUDA device")
    text = printed(capsys, row("hostmult1"), *skipped)
    assert "4 kernels: skipped: no CUDA device" in text and "gputiled" not in text
    text = printed(capsys, row("hostmult1"), *skipped[:2])
    assert "│ gputiled" in text
