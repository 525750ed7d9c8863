"""Stored runs: found again by name, and never harmed."""

import json
import os
from pathlib import Path

import pytest

from gemmviz.bench import results, store
from gemmviz.bench.document import Document
from gemmviz.bench.protocol import Protocol
from gemmviz.catalogue.errors import GemmvizError
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.problem import Problem
from gemmviz.cli import run

KERNEL = find("hostmult0", ladder())


@pytest.fixture(autouse=True)
def own_store(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))


def a_run(second: int = 0, run_id: str = "") -> Document:
    document = results.document({"cpu": {"model": "abacus"}}, {"name": "GPU", "cc": "9.0", "sms": 1}, Protocol())
    document |= {"started_utc": f"2026-11-21T09:00:{second:02}+00:00", "run_id": run_id or document["run_id"]}
    return document | {"results": [results.new_row(KERNEL, Problem.cube(8), {})]}


def test_a_run_is_found_by_its_place_and_by_its_id():
    first, second = a_run(1, "ab" * 16), a_run(2, "ac" * 16)
    paths = [store.save(second), store.save(first)]
    assert [store.find(name) for name in ("last", "last~1", "ac", "AB")] == [paths[0], paths[1], paths[0], paths[1]]
    assert results.read_results(store.find("last")) == second
    for name, says in (
        ("a", "2 stored runs begin with 'a'"),
        ("ff", "no stored run is called"),
        ("last~2", "not that many"),
    ):
        with pytest.raises(GemmvizError, match=says):
            store.find(name)


def test_an_empty_store_names_the_command_that_fills_it(capsys):
    with pytest.raises(GemmvizError, match="gemmviz bench"):
        store.find("last")
    assert run(["runs"]) == 0
    assert "No run is stored yet" in capsys.readouterr().out


def test_a_damaged_file_is_named_skipped_and_left_alone(capsys):
    kept = store.save(a_run())
    broken = store.folder() / "20990101T000000-ff.json"
    broken.write_text('{"schema_version": 2, "results": [')
    assert store.find("last") == kept
    assert run(["runs", "--json"]) == 0
    output = capsys.readouterr()
    (listed,) = json.loads(output.out)
    assert (listed["path"], listed["device"], listed["rows"]) == (str(kept), "GPU / abacus", 1)
    assert f"{broken} is truncated" in output.err
    assert broken.exists()


def test_a_store_that_cannot_be_written_is_reported():
    Path(os.environ["XDG_DATA_HOME"], "gemmviz").write_text("in the way")
    with pytest.raises(GemmvizError, match="cannot keep this run"):
        store.save(a_run())


def test_runs_exports_and_deletes(capsys, tmp_path):
    path = store.save(a_run())
    target = tmp_path / "run.csv"
    assert run(["runs", "--csv", "last", "-o", str(target)]) == 0
    assert target.read_text().splitlines()[1].split(",")[2:8] == ["", "GPU", "", "abacus", "hostmult0", "hostmult0"]
    assert run(["runs", "--show", "last"]) == 0
    assert "as measured on GPU / abacus, 2026-11-21" in capsys.readouterr().out
    assert run(["runs", "--delete", "last"]) == 0
    assert not path.exists()
    assert run(["runs", "--delete", "last"]) == 2


def test_compare_takes_stored_runs(capsys):
    store.save(a_run(1))
    store.save(a_run(2))
    assert run(["compare", "last~1", "last"]) == 0
    assert "hostmult0" in capsys.readouterr().out
    assert run(["compare", "last", "nothing"]) == 2
    assert "no stored run is called 'nothing'" in capsys.readouterr().err
