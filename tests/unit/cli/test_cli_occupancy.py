"""``gemmviz occupancy`` as typed."""

import json

import pytest

from gemmviz import cli
from gemmviz.bench import results
from gemmviz.bench.protocol import Protocol
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.problem import Problem

H200 = {"name": "NVIDIA H200", "cc": "9.0", "sms": 132}


def file_with(tmp_path, device, **known):
    row = results.new_row(find("gputiled", ladder()), Problem.cube(64), {"TS": 32})
    document = results.document({}, device, Protocol())
    document["results"] = [row | {"label": "gputiled<32>"} | known]
    path = tmp_path / "run.json"
    results.write_results(document, path)
    return str(path)


def test_other_launches_on_a_chosen_device(capsys):
    assert cli.run(["occupancy", "--threads", "1024", "--shared", "8192", "--device", "RTX 3080"]) == 0
    output = capsys.readouterr().out
    assert "66.7%" in output and "at most 768" in output and "modelled" in output


def test_the_kernels_of_a_run_with_the_compiler_s_results(tmp_path, capsys):
    path = file_with(tmp_path, H200, block=[32, 32, 1], regs=40, smem=8192)
    assert cli.run(["occupancy", path, "--json"]) == 0
    output = json.loads(capsys.readouterr().out)
    assert output["device"] == "NVIDIA H200"
    (row,) = output["rows"]
    assert (row["kernel"], row["blocks"], row["fraction"], row["limiters"]) == ("gputiled<32>", 1, 0.5, ["registers"])


def test_a_kernel_of_clusters_is_recognised_by_its_text(tmp_path, capsys):
    kernel = find("cluster", ladder())
    row = results.new_row(kernel, Problem.cube(4096), {"CLUSTER": 2})
    document = results.document({}, H200, Protocol())
    document["results"] = [row | {"label": "cluster", "block": [384, 1, 1], "regs": 168, "smem": 229_376}]
    results.write_results(document, tmp_path / "run.json")
    assert cli.run(["occupancy", str(tmp_path / "run.json"), "--json"]) == 0
    (output,) = json.loads(capsys.readouterr().out)["rows"]
    assert (output["cluster"], output["blocks"]) == (2, 1) and "Each cluster of 2 blocks" in output["advice"]


def test_named_barriers_of_a_run_limit_its_blocks(tmp_path, capsys):
    known = {"block": [256, 1, 1], "regs": 34, "smem": 39_936}
    for barriers, blocks, limiters in ((16, 4, ["barriers"]), (1, 5, ["shared"]), (None, 5, ["shared"])):
        path = file_with(tmp_path, H200, **known, barriers=barriers)
        assert cli.run(["occupancy", path, "--json"]) == 0
        output = json.loads(capsys.readouterr().out)
        (row,) = output["rows"]
        assert (row["barriers"], row["blocks"], row["limiters"]) == (barriers or 0, blocks, limiters)
        assert output["limits"]["barriers_per_sm"] == 64


def test_named_barriers_have_a_column_where_they_limit(capsys):
    asked = ["occupancy", "--threads", "256", "--registers", "34", "--shared", "39936", "--barriers", "16"]
    for device, shown in (("H200 SXM", True), ("A100 SXM 80 GB", False)):
        assert cli.run([*asked, "--device", device]) == 0
        output = capsys.readouterr().out
        heads = next(line for line in output.splitlines() if "registers" in line)
        assert ("barriers" in heads) == ("named barriers" in output) == shown


def test_a_negative_number_of_barriers_is_refused(capsys):
    assert cli.run(["occupancy", "--threads", "32", "--barriers", "-1", "--device", "T4"]) == 2
    assert "barriers" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("device", "known", "says"),
    [
        (H200, {}, "has no compiled CUDA kernel"),
        (None, {"block": [32, 32, 1], "regs": 40, "smem": 0}, "--device NAME"),
    ],
)
def test_an_unknown_occupancy_has_a_message(tmp_path, capsys, device, known, says):
    assert cli.run(["occupancy", file_with(tmp_path, device, **known)]) == 2
    assert says in capsys.readouterr().err


@pytest.mark.parametrize(
    ("device", "cluster", "says"),
    [
        ("A100 SXM 80 GB", "2", "clusters need compute capability 9.0 or higher"),
        ("H200 SXM", "17", "a cluster has 17 blocks; 16 is the most"),
    ],
)
def test_a_cluster_that_the_device_cannot_run_fills_nothing(capsys, device, cluster, says):
    asked = ["--threads", "384", "--registers", "168", "--shared", "100000", "--device", device, "--cluster", cluster]
    assert cli.run(["occupancy", *asked, "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    assert (row["blocks"], row["warps"], row["fraction"]) == (0, 0, 0.0) and says in row["advice"]


def test_a_block_of_nothing_is_refused(capsys):
    assert cli.run(["occupancy", "--threads", "0", "--device", "T4"]) == 2
    assert "at least 1 thread" in capsys.readouterr().err


def test_a_source_file_is_no_run(tmp_path, capsys):
    path = tmp_path / "mine.cu"
    path.write_text("__global__ void f() {}\n")
    assert cli.run(["occupancy", str(path)]) != 0
    said = " ".join(capsys.readouterr().err.split())
    assert "is a source file" in said and "--threads" in said


def test_a_kernel_s_name_is_no_run(capsys):
    assert cli.run(["occupancy", "gputiled"]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "gputiled is a kernel" in said and "gemmviz bench gputiled" in said and "--threads" in said
