"""The result file: written whole, read back, and refused clearly when it is not ours."""

import json
from pathlib import Path

import pytest

from gemmviz.bench import results
from gemmviz.bench.protocol import Protocol
from gemmviz.catalogue.errors import GemmvizError
from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.problem import Problem

KERNEL = parse(
    '// ---gemmviz\n// entry = "f"\n// args = ["C", "A", "B", "N"]\n// ---\nvoid f(float *c) {}\n', Path("f.c")
)


def a_document():
    document = results.document({"python": "3"}, None, Protocol())
    document["results"].append(results.new_row(KERNEL, Problem.cube(8), {}))
    return document


def test_it_comes_back_as_it_was_written(tmp_path):
    path = tmp_path / "r.json"
    document = a_document()
    results.write(document, path)
    assert results.read(path) == document
    assert [p.name for p in tmp_path.iterdir()] == ["r.json"]


def test_a_failed_write_leaves_the_old_file_alone(tmp_path):
    path = tmp_path / "r.json"
    results.write(a_document(), path)
    before = path.read_text()
    with pytest.raises(ValueError, match="JSON"):
        results.write(a_document() | {"env": {"x": float("nan")}}, path)
    assert path.read_text() == before
    assert [p.name for p in tmp_path.iterdir()] == ["r.json"]


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(GemmvizError, match=r"cannot write .*no/r\.json"):
        results.write(a_document(), tmp_path / "no" / "r.json")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{"schema_version": 1, "results": [', "truncated or not JSON"),
        ("", "truncated or not JSON"),
        ("[1, 2]", "not a result file"),
        ('{"benchmarks": []}', "not a result file"),
        ('{"schema_version": 99, "results": []}', "schema version 99"),
        ('{"schema_version": 1}', "results is not a list"),
        ('{"schema_version": 1, "results": [{"kernel": "x"}]}', "row 0 lacks"),
        ('{"schema_version": 1, "results": ["x"]}', "row 0 lacks"),
    ],
)
def test_what_is_not_ours_is_refused_with_a_reason(tmp_path, text, says):
    path = tmp_path / "r.json"
    path.write_text(text)
    with pytest.raises(GemmvizError, match=says):
        results.read(path)


def test_bytes_that_are_no_text_are_refused(tmp_path):
    path = tmp_path / "r.json"
    path.write_bytes(b"\xff\xfe\x00\x80")
    with pytest.raises(GemmvizError, match="not text"):
        results.read(path)


def test_an_unknown_status_is_refused(tmp_path):
    document = a_document()
    document["results"][0]["status"] = "splendid"
    path = tmp_path / "r.json"
    path.write_text(json.dumps(document))
    with pytest.raises(GemmvizError, match="splendid"):
        results.read(path)


def test_failing_takes_every_figure_away():
    row = results.new_row(KERNEL, Problem.cube(8), {})
    row |= {"status": "ok", "gflops": 9.0, "gbps": 1.0, "samples_s": [1.0], "stats": {}}
    results.fail(row, "wrong", "it is wrong", 3)
    assert (row["gflops"], row["gbps"], row["samples_s"], row["stats"], row["line"]) == (None, None, [], None, 3)


def test_which_statuses_blame_the_kernel():
    assert results.failed([{"status": "ok"}, {"status": "wrong"}])
    assert not results.failed([{"status": "ok"}, {"status": "skipped"}, {"status": "unsupported"}])


def test_a_text_that_differs_from_its_file_is_marked_as_edited(tmp_path):
    path = tmp_path / "f.c"
    path.write_text(KERNEL.text)
    assert not results.new_row(parse(KERNEL.text, path), Problem.cube(8), {})["edited"]
    assert results.new_row(parse(KERNEL.text + "\n", path), Problem.cube(8), {})["edited"]
