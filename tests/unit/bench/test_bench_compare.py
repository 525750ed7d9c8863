import json
from pathlib import Path

import pytest

from gemmviz.bench import results
from gemmviz.bench.compare import compare
from gemmviz.bench.document import Document
from gemmviz.bench.protocol import Protocol
from gemmviz.bench.row import Row
from gemmviz.bench.stats import summarise
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.problem import Problem
from gemmviz.cli import run

KERNEL = find("hostmult0", ladder())


def row(seconds: list[float] | None, size: int = 64, status: str = "wrong") -> Row:
    made = results.new_row(KERNEL, Problem.cube(size), {})
    if seconds is None:
        results.fail(made, status, "because")
    else:
        results.describe_samples(made, seconds, summarise(seconds), "steady", 2 * size**3)
    return made


def document(*rows: Row) -> Document:
    return results.document({"cpu": {"model": "abacus"}}, None, Protocol()) | {"results": [*rows]}


def around(middle: float, spread: float) -> list[float]:
    return [middle * (1 + spread * (i - 10) / 10) for i in range(21)]


@pytest.mark.parametrize(
    ("before", "after", "verdict"),
    [
        (around(1.0, 0.01), around(1.01, 0.01), "SAME"),
        (around(1.0, 0.01), around(0.9, 0.01), "FASTER"),
        (around(1.0, 0.01), around(1.1, 0.01), "SLOWER"),
        (around(1.0, 0.4), around(1.1, 0.4), "UNCLEAR"),
    ],
)
def test_a_difference_counts_when_the_samples_are_apart(before, after, verdict):
    (found,) = compare(document(row(before)), document(row(after)))
    assert found.verdict == verdict
    assert found.ratio == pytest.approx(sorted(before)[10] / sorted(after)[10])


def test_a_kernel_that_broke_is_a_regression_and_a_skipped_one_is_not():
    (broken,) = compare(document(row(around(1, 0))), document(row(None, status="wrong")))
    assert (broken.verdict, broken.after) == ("SLOWER", None)
    assert "wrong: because" in broken.reason
    (skipped,) = compare(document(row(around(1, 0))), document(row(None, status="skipped")))
    assert skipped.verdict == "UNCLEAR"


def test_rows_of_one_file_only_are_named():
    first, second = compare(document(row(around(1, 0), 32)), document(row(around(1, 0), 64)))
    assert (first.size[0], first.reason) == (64, "only in the second file")
    assert (second.size[0], second.reason) == (32, "only in the first file")


def shaken(middle: float, rounds: tuple[float, ...], *flags: str) -> Row:
    medians = [{"round": i, "n": 7, "median_s": s, "gflops": 1.0} for i, s in enumerate(rounds)]
    return row(around(middle, 0.001)) | {"rounds": medians, "flags": [*flags]}


@pytest.mark.parametrize("flag", ["noisy", "contended", "rounds-disagree"])
@pytest.mark.parametrize(
    ("seconds", "rounds", "verdict"),
    [(1.1, (0.95, 1.1, 1.2), "UNCLEAR"), (0.9, (0.8, 0.9, 1.0), "UNCLEAR"), (1.1, (1.08, 1.12), "SLOWER")],
)
def test_a_flagged_row_is_no_regression_within_its_range(
    seconds: float, rounds: tuple[float, ...], verdict: str, flag: str
) -> None:
    steady, flagged = document(shaken(1.0, (1.0, 1.0))), document(shaken(seconds, rounds, flag))
    (found,) = compare(steady, flagged)
    assert found.verdict == verdict
    assert flag in found.reason
    (back,) = compare(flagged, steady)
    assert back.verdict == {"SLOWER": "FASTER"}.get(verdict, verdict)


def test_one_flagged_sample_proves_nothing():
    (found,) = compare(document(row([1.0])), document(row([1.5]) | {"flags": ["noisy"]}))
    assert (found.verdict, found.reason) == ("UNCLEAR", "flagged noisy: a single sample proves nothing")


def test_the_command_says_it_with_its_exit_code(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = [tmp_path / name for name in ("a.json", "b.json")]
    for path, seconds in zip(paths, (1.0, 2.0), strict=True):
        results.write_results(document(row(around(seconds, 0.01))), path)
    slow, same, fast = ([*map(str, pair)] for pair in (paths, paths[:1] * 2, paths[::-1]))
    assert run(["compare", *slow]) == 1
    assert "SLOWER" in capsys.readouterr().out
    assert run(["compare", *same]) == 0
    assert run(["compare", *fast, "--json"]) == 0
    capsys.readouterr()
    run(["compare", *fast, "--json"])
    (listed,) = json.loads(capsys.readouterr().out)["rows"]
    assert (listed["verdict"], listed["ratio"]) == ("FASTER", pytest.approx(2))


def test_runs_of_different_machines_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("abacus", "loom"):
        there = document(row(around(1.0, 0.01))) | {"env": {"cpu": {"model": name}}}
        results.write_results(there, tmp_path / f"{name}.json")
    assert run(["compare", *(str(tmp_path / f"{name}.json") for name in ("abacus", "loom"))]) == 2
    assert "different machines, abacus and loom" in capsys.readouterr().err


def test_runs_by_different_rules_say_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    full, quick = tmp_path / "full.json", tmp_path / "quick.json"
    results.write_results(document(row(around(1.0, 0.01))), full)
    results.write_results(document(row(around(1.0, 0.01))) | {"protocol": Protocol.quick().describe()}, quick)
    assert run(["compare", str(full), str(quick)]) == 0
    assert "not measured by the same rules" in capsys.readouterr().out
    assert run(["compare", str(full), str(full)]) == 0
    assert "rules" not in capsys.readouterr().out


def test_a_run_that_is_not_there_is_no_regression(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    missing = tmp_path / "missing.json"
    assert run(["compare", str(missing), str(missing)]) == 2
    assert f"cannot read {missing}" in capsys.readouterr().err
    assert run(["compare", "no-such-run", "no-such-run"]) == 2


@pytest.mark.parametrize("text", ["", "{", "[]", '{"schema_version": 99, "results": []}', '{"schema_version": 1}'])
def test_a_file_that_is_no_result_file_is_refused_and_not_changed(text: str, tmp_path: Path) -> None:
    strange = tmp_path / "strange.json"
    strange.write_text(text)
    assert run(["compare", str(strange), str(strange)]) == 2
    assert strange.read_text() == text


def test_rows_that_ran_in_neither_run_are_left_out():
    gone = row(None, status="skipped")
    assert list(compare(document(gone), document(gone))) == []
    assert list(compare(document(gone), document())) == []
    (found,) = compare(document(row(around(1, 0))), document(gone))
    assert found.verdict == "UNCLEAR"


def placed(made: Row, host: str, uuid: str | None) -> Row:
    device = None if uuid is None else "GPU"
    return made | {
        "backend": "cuda" if uuid else "c",
        "measured_on": {
            "host": host,
            "device": device,
            "uuid": uuid,
            "cpu": "abacus",
            "run_utc": "2026-01-01T00:00:00Z",
        },
    }


@pytest.mark.parametrize(
    ("first", "second", "says"),
    [
        (("desk", "GPU-1"), ("desk", "GPU-2"), "different devices: GPU of desk before, GPU of desk now"),
        (("desk", "GPU-1"), ("lab", "GPU-1"), ""),
        (("desk", None), ("lab", None), "different devices: abacus of desk before, abacus of lab now"),
    ],
)
def test_rows_that_a_cluster_measured_on_different_devices_are_not_compared(first, second, says):
    before, after = (placed(row(around(seconds, 0.01)), *at) for seconds, at in ((1.0, first), (0.5, second)))
    (found,) = compare(document(before), document(after))
    assert found.verdict == ("UNCLEAR" if says else "FASTER")
    assert says in found.reason


def test_a_row_of_a_cluster_is_compared_with_a_run_of_the_same_gpu_alone():
    alone = row(around(1.0, 0.01)) | {"backend": "cuda"}
    for uuid, verdict in (("GPU-1", "FASTER"), ("GPU-2", "UNCLEAR")):
        before = document(alone) | {"device": {"name": "GPU", "cc": "9.0", "sms": 1, "uuid": "GPU-1"}}
        (found,) = compare(before, document(placed(row(around(0.5, 0.01)), "lab", uuid)))
        assert found.verdict == verdict
