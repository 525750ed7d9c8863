"""`gemmviz record` as a person and as a script would use it."""

import json
import re
from typing import Any

import pytest

from gemmviz.catalogue.ladder import find, ladder
from gemmviz.cli import run
from gemmviz.cli.record import engine_reply
from gemmviz.engine.consent import Named
from gemmviz.engine.messages import RecordRequest


def document(capsys: pytest.CaptureFixture[str], *args: str) -> dict[str, Any]:
    assert run(["record", *args, "--json", "-"]) == 0
    return json.loads(capsys.readouterr().out)


def test_json_carries_totals_levels_and_lines(capsys: pytest.CaptureFixture[str]) -> None:
    found = document(capsys, "matmul_kernel_naive", "--size", "32")
    assert (found["schema_version"], found["provenance"]) == (2, "recorded")
    assert {level["name"]: level["bytes"] for level in found["levels"]["levels"]} == {
        "compulsory": 3 * 4096,
        "global, asked": 2 * 32**3 * 4 + 4096,
        "global, moved": 33 * 1024 * 32 + 1024 * 32,
        "shared, asked": 0,
        "shared, moved": 0,
    }
    lines = {(line["array"], line["write"]): line for line in found["lines"]}
    read_of_a, read_of_b, write = lines["A", False], lines["B", False], lines["C", True]
    assert (read_of_a["requests"], read_of_a["units"], read_of_a["degree"]) == (1024, 32 * 1024, 8)
    assert (read_of_b["requests"], read_of_b["units"], read_of_b["degree"]) == (1024, 1024, 1)
    assert (write["requests"], write["units_per_request"]) == (32, 32)
    assert sum(line["units"] for line in found["lines"] if not line["write"]) == found["global"]["load_sectors"]
    reuse = {array["name"]: array["reuse"] for array in found["levels"]["arrays"]}
    assert reuse == {"A": 32, "B": 32, "C": 1}


def test_a_loop_has_lines_without_warps(capsys: pytest.CaptureFixture[str]) -> None:
    found = document(capsys, "hostmult1", "--size", "4")
    assert {"requests", "units", "degree"}.isdisjoint(found["lines"][0])
    assert sum(line["accesses"] for line in found["lines"]) == found["accesses"]


def test_the_intensity_of_some_blocks_is_that_of_their_products(capsys: pytest.CaptureFixture[str]) -> None:
    size = ("gputiled", "--size", "32", "--set", "TS=8")
    whole, part = document(capsys, *size)["levels"], document(capsys, *size, "--blocks", "0:4")["levels"]
    assert (whole["flops"], part["flops"]) == (2 * 32**3, 2 * 32**3 // 4)
    intensity = [{level["name"]: level["intensity"] for level in found["levels"]} for found in (whole, part)]
    assert intensity[0]["shared, moved"] == intensity[1]["shared, moved"]


def test_the_cost_of_a_line_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["record", "matmul_kernel_naive", "--size", "32"]) == 0
    output = capsys.readouterr().out
    assert "compulsory" in output and "reads/element" in output and "degree" not in output
    assert run(["record", "matmul_kernel_naive", "--size", "32", "--lines"]) == 0
    # Not at the thin spaces between thousands.
    rows = [re.split(" +", line.replace("│", " ").strip(" ")) for line in capsys.readouterr().out.splitlines()]
    assert ["23", "A", "read", "1\u202f024", "32", "32\u202f768", "4\u202f096", "8"] in rows


def test_the_view_is_chosen_and_said(capsys: pytest.CaptureFixture[str]) -> None:
    size = ("hostmult0", "--size", "8")
    compiled, written = document(capsys, *size), document(capsys, *size, "--as-written")
    assert (compiled["view"], written["view"]) == ("as compiled", "as written")
    assert (compiled["arrays"]["C"]["reads"], written["arrays"]["C"]["reads"]) == (0, 8**3)
    assert run(["record", *size]) == 0
    assert "(recorded, as compiled)" in capsys.readouterr().out
    assert run(["record", *size, "--as-written"]) == 0
    assert "(recorded, as written)" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("kernel", "wrong", "noted"),
    [("gputiled~no-second-barrier", True, False), ("hostmult0~one-step-too-many", False, True)],
)
def test_a_wrong_c_and_an_access_out_of_bounds_each_fail(
    capsys: pytest.CaptureFixture[str], kernel: str, wrong: bool, noted: bool
) -> None:
    assert run(["record", kernel, "--json", "-"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert (found["c_wrong_elements"] > 0, len(found["notes"]) > 0) == (wrong, noted)


def test_totals_alone_need_no_timeline() -> None:
    kernel = find("gputiled", ladder())
    request = RecordRequest(1, str(kernel.path), kernel.text, 8, 8, 8, {"TS": 4}, order="none")
    reply = engine_reply(request, Named([kernel]))
    assert reply.timeline is None and len(reply.traffic.running) == 0
    assert [a.reads for a in reply.traffic.arrays] == [128, 128, 0, 512, 512]


def test_what_crosses_between_gpus_is_counted_without_the_accesses_in_the_file(
    capsys: pytest.CaptureFixture[str],
) -> None:
    size = ("--m", "128", "--n", "256", "--k", "64")
    tile = (f"--set={one}" for one in ("BM=64", "BN=64", "STAGES=2", "BLOCKS=2", "CLUSTER=1", "SPLIT=1"))
    found = document(capsys, "peer_tiles", *size, *tile)
    rows = 64 * 64 * 2  # 64 rows of the other GPU, in bfloat16; two columns of tiles read them
    assert [(one["once_bytes"], one["read_bytes"]) for one in found["links"]] == 2 * [(rows, 2 * rows)]
    assert found["gpus"] == 2 and "columns" not in found
