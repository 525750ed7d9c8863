"""The result file: written whole, read back, and refused clearly when it is not ours."""

import json
from pathlib import Path

import jsonschema
import pytest

from gemmviz import data
from gemmviz.bench import results, rows, schema
from gemmviz.bench.model.occupancy import Use, compiled_use
from gemmviz.bench.protocol import Protocol
from gemmviz.bench.stats import summarise
from gemmviz.catalogue.errors import GemmvizError
from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem

KERNEL = parse(
    '// ---gemmviz\n// entry = "f"\n// args = ["C", "A", "B", "N"]\n// ---\nvoid f(float *c) {}\n', Path("f.c")
)


def a_document():
    document = results.document({"python": "3"}, None, Protocol())
    document["results"].append(results.new_row(KERNEL, Problem.cube(8), {}))
    return document


def test_a_written_file_is_read_unchanged(tmp_path):
    path = tmp_path / "r.json"
    document = a_document()
    results.write_results(document, path)
    assert results.read_results(path) == document
    assert [p.name for p in tmp_path.iterdir()] == ["r.json"]


def test_each_row_has_one_line_for_a_comparison_of_two_files():
    before = a_document() | {"profiles": [{"kernel": "f"}], "recordings": []}
    before["results"].append(results.new_row(KERNEL, Problem.cube(16), {}))
    after = json.loads(json.dumps(before))
    after["results"][1]["flags"] = ["noisy", "two\nlines"]
    one, other = results.to_json(before).splitlines(), results.to_json(after).splitlines()
    differing = [(old, new) for old, new in zip(one, other, strict=True) if old != new]
    assert [(json.loads(old), json.loads(new)) for old, new in differing] == [
        (before["results"][1], after["results"][1])
    ]
    assert json.loads("\n".join(other)) == after


def test_a_row_of_an_older_file_has_an_unknown_number_of_barriers(tmp_path):
    path = tmp_path / "r.json"
    document = a_document()
    del document["results"][0]["barriers"]
    results.write_results(document, path)
    (row,) = results.read_results(path)["results"]
    assert row["barriers"] is None
    known = row | {"block": [64, 2, 1], "regs": 40, "smem": 1024}
    assert compiled_use(known, None) == Use(128, 40, 1024)
    del known["barriers"]
    assert compiled_use(known, None).barriers == 0 and compiled_use(known | {"barriers": 16}, None).barriers == 16


def test_a_failed_write_leaves_the_old_file_alone(tmp_path):
    path = tmp_path / "r.json"
    results.write_results(a_document(), path)
    before = path.read_text()
    with pytest.raises(ValueError, match="JSON"):
        results.write_results(a_document() | {"env": {"x": float("nan")}}, path)
    assert path.read_text() == before
    assert [p.name for p in tmp_path.iterdir()] == ["r.json"]


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(GemmvizError, match=r"cannot write .*no/r\.json"):
        results.write_results(a_document(), tmp_path / "no" / "r.json")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{"schema_version": 1, "results": [', "truncated or not JSON"),
        ("", "truncated or not JSON"),
        ("[1, 2]", "not a result file"),
        ('{"benchmarks": []}', "not a result file"),
        ('{"schema_version": 99, "results": []}', "schema version 99.*a newer gemmviz wrote it"),
        ('{"schema_version": "2", "results": []}', 'schema version "2"'),
        ('{"schema_version": true, "results": []}', "schema version true"),
        ('{"schema_version": 1}', "results is not a list"),
        ('{"schema_version": 2, "results": [], "device": "GPU"}', 'device cannot be "GPU"'),
        ('{"schema_version": 1, "results": [{"kernel": "x"}]}', "row 0 lacks"),
        ('{"schema_version": 1, "results": ["x"]}', "row 0 lacks"),
    ],
)
def test_a_foreign_file_is_refused_with_a_reason(tmp_path, text, says):
    path = tmp_path / "r.json"
    path.write_text(text)
    with pytest.raises(GemmvizError, match=says):
        results.read_results(path)
    assert path.read_text() == text


def test_bytes_that_are_no_text_are_refused(tmp_path):
    path = tmp_path / "r.json"
    path.write_bytes(b"\xff\xfe\x00\x80")
    with pytest.raises(GemmvizError, match="not a text file"):
        results.read_results(path)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"status": "splendid"}, "splendid"),
        ({"gflops": "fast"}, 'a gflops that cannot be: "fast"'),
        ({"M": 8.5}, "a M that cannot be"),
        ({"samples_s": None}, "a samples_s that cannot be"),
        ({"status": "ok"}, "is ok and has no median"),
    ],
)
def test_a_row_with_an_impossible_value_is_named(tmp_path, change, says):
    document = a_document()
    document["results"][0] |= change
    path = tmp_path / "r.json"
    path.write_text(json.dumps(document))
    with pytest.raises(GemmvizError, match=f"row 0 has .*{says}|row 0 {says}"):
        results.read_results(path)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"M": 0}, "row 0 has a M that cannot be: 0"),
        ({"K": 2**31}, "row 0 has a K that cannot be: 2147483648"),
        ({"params": {"TS": [1]}}, r"row 0 has a params.TS that cannot be: \[1\]"),
        ({"rounds": [{"round": 1, "n": 2, "median_s": 1.0}]}, r"row 0 lacks rounds\[0\].gflops"),
        ({"stats": {"median": 0.1}}, "row 0 lacks stats.n"),
        ({"grid": [1, 2]}, "row 0 has a grid that cannot be"),
        ({"telemetry": {"throttle": "none"}}, 'row 0 has a telemetry.throttle that cannot be: "none"'),
        ({"transfer": {"to_host_s": 1.0}}, "row 0 lacks transfer.to_device_s"),
        ({"samples_s": [1.0, float("inf")]}, r"row 0 has a samples_s\[1\] that cannot be: Infinity"),
        ({"hot": {"batch": 1, "samples_s": [], "stats": {}, "gflops": 1.0}}, "row 0 lacks hot.stats.n"),
    ],
)
def test_values_deeper_in_a_row_are_checked_too(tmp_path, change, says):
    document = a_document()
    document["results"][0] |= change
    path = tmp_path / "r.json"
    path.write_text(json.dumps(document))
    with pytest.raises(GemmvizError, match=says):
        results.read_results(path)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"recordings": 3}, "recordings is not a list"),
        ({"profiles": [3]}, "profiles 0 lacks everything"),
        ({"recordings": [{"kernel": "x", "M": 8, "N": 8, "K": 8, "params": {}, "fault": None}]}, "lacks figures"),
        ({"env": {"cpu": "Xeon"}}, 'env has a cpu that cannot be: "Xeon"'),
        ({"device": {"name": 3}}, "device has a name that cannot be: 3"),
        ({"device": {"sms": 3}}, "device lacks (name|cc)"),
        ({"started_utc": None, "run_id": []}, r"run_id cannot be \[\]"),
    ],
)
def test_the_head_of_a_file_is_checked_too(tmp_path, change, says):
    path = tmp_path / "r.json"
    path.write_text(json.dumps(a_document() | change))
    with pytest.raises(GemmvizError, match=says):
        results.read_results(path)


def test_a_key_of_a_later_version_is_let_through(tmp_path):
    path = tmp_path / "r.json"
    document = a_document()
    document["results"][0]["of_tomorrow"] = {"x": 1}
    path.write_text(json.dumps(document))
    assert results.read_results(path)["results"][0]["of_tomorrow"] == {"x": 1}


def test_a_file_of_the_first_version_is_read_with_its_fields(tmp_path):
    document = a_document() | {"schema_version": 1}
    since = ("exhibit", "hot", "rounds", "first_launch_s", "host_launch_s", "peak_fraction", "telemetry", "transfer")
    for key in since:
        del document["results"][0][key]
    path = tmp_path / "r.json"
    path.write_text(json.dumps(document))
    old = results.read_results(path)
    assert old["schema_version"] == schema.VERSION
    assert [old["results"][0][key] for key in since] == [False, None, [], None, None, None, None, None]
    assert json.loads(path.read_text())["schema_version"] == 1


def ok(row):
    stats = summarise([1.0, 1.1])
    results.describe_samples(row, [1.0, 1.1], stats, "steady", 1000)
    hot = {"batch": 4, "samples_s": [0.9], "stats": summarise([0.9]), "gflops": 1.0}
    rounds = [{"round": 1, "n": 2, "median_s": 1.05, "gflops": 1.0}]
    watched = {"sm_mhz": [1980.0], "power_w": [500.0], "temp_c": [50.0], "energy_j": None, "throttle": ["sw_power_cap"]}
    row |= {"hot": hot, "rounds": rounds, "telemetry": watched, "first_launch_s": 2.0, "host_launch_s": 1e-6}


@pytest.mark.sweep("ok", "wrong", "crash", "skipped")
@pytest.mark.parametrize("status", schema.STATUSES)
def test_written_files_fit_the_published_schema(status):
    published = json.loads((data.root("resources") / "schema" / f"result-{schema.VERSION}.json").read_text())
    jsonschema.Draft202012Validator.check_schema(published)
    document = a_document()
    (row,) = document["results"]
    ok(row)
    if status != "ok":
        results.fail(row, status, "because", 3)
    validator = jsonschema.Draft202012Validator(published)
    assert [error.message for error in validator.iter_errors(json.loads(results.to_json(document)))] == []
    row["gflops"] = "fast"
    assert not validator.is_valid(document)


def test_failing_takes_every_figure_away():
    row = results.new_row(KERNEL, Problem.cube(8), {})
    row |= {"status": "ok", "gflops": 9.0, "gbps": 1.0, "samples_s": [1.0], "stats": {}}
    results.fail(row, "wrong", "it is wrong", 3)
    assert (row["gflops"], row["gbps"], row["samples_s"], row["stats"], row["line"]) == (None, None, [], None, 3)


def test_which_statuses_blame_the_kernel():
    assert results.failed([{"status": "ok"}, {"status": "wrong"}])
    assert not results.failed([{"status": "ok"}, {"status": "skipped"}, {"status": "unsupported"}])
    assert not results.failed([{"status": "wrong", "exhibit": True}])


def test_a_text_that_differs_from_its_file_is_marked_as_edited(tmp_path):
    path = tmp_path / "f.c"
    path.write_text(KERNEL.text)
    assert not results.new_row(parse(KERNEL.text, path), Problem.cube(8), {})["edited"]
    assert results.new_row(parse(KERNEL.text + "\n", path), Problem.cube(8), {})["edited"]


def test_a_merged_file_has_the_machine_facts_of_all_files():
    first, second = a_document(), a_document()
    first["env"], second["env"] = {"python": "3.12", "nvrtc": None}, {"python": "3.13", "nvrtc": "13.0"}
    whole = results.merged([first, second])
    assert whole["env"] == {"python": "3.12", "nvrtc": "13.0"} and len(whole["results"]) == 2
    assert first["env"]["nvrtc"] is None


def test_a_merged_file_of_several_machines_keeps_them_apart():
    documents = []
    for host, uuid in (("a", "GPU-1"), ("a", "GPU-2"), ("b", "GPU-3"), ("a", "GPU-1")):
        one = a_document()
        one["env"] = {"python": None if uuid == "GPU-1" else "3.13"}
        one["device"] = {"name": "GPU", "cc": "9.0", "sms": 1, "uuid": uuid}
        one["machines"] = [{"host": host, "env": one["env"], "device": one["device"]}]
        documents.append(one)
    whole = results.merged(documents)
    assert [(m["host"], m["device"]["uuid"]) for m in whole["machines"]] == [
        ("a", "GPU-1"),
        ("a", "GPU-2"),
        ("b", "GPU-3"),
    ]
    assert whole["env"] == {"python": None}  # the others' facts are not this machine's
    assert results.machine(whole) == "3 x GPU"


@pytest.mark.parametrize(("name", "times"), [("whole_a", 0), ("gather", 3), ("panels", 3), ("peer_tiles", None)])
def test_a_row_of_several_gpus_has_their_number_the_bytes_that_cross_and_the_peak_of_all(name, times):
    kernel = find(name, ladder())
    row = results.new_row(kernel, Problem(512, 1024, 256), {"GPUS": 4})
    results.describe_launch(row, launch(kernel, Problem(512, 1024, 256), {"GPUS": 4}))
    # What a kernel reads over the link is not known before it is recorded.
    crossing = None if times is None else times * 512 * 256 * 2
    assert (row["devices"], row.get("link_bytes")) == (4, crossing) and ("link_bytes" in row) == (times is not None)
    row["gflops"] = 2000.0
    rows.describe_peak(row, (1000.0, "a peak"), row["devices"])
    assert (row["peak_gflops"], row["peak_fraction"]) == (4000.0, 0.5)
