"""Kernels that had another name are found by it: in command lines, states, results, lessons and kept parameters."""

import json
from pathlib import Path

import pytest

from gemmviz.bench import results
from gemmviz.bench.protocol import Protocol
from gemmviz.bench.stats import summarise
from gemmviz.bench.tuning import kept
from gemmviz.catalogue import renamed
from gemmviz.catalogue.errors import UnknownKernel
from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.problem import Problem
from gemmviz.cli import _parser, run
from gemmviz.cli.window import snapshot
from gemmviz.session import Session
from gemmviz.session.files import state_file
from gemmviz.session.files.snapshot import apply
from gemmviz.session.tour.lesson_file import load_lesson
from gemmviz.session.tour.lessons import find_lesson, lesson_path, own_folder

LADDER = ladder()
NAMES = {
    "block_order": "l2_swizzle",
    "equal_shares": "stream_k_tma",
    "equal_shares_bf16": "stream_k_tma_bf16",
}
# The digest that equal_shares had under that name.
EARLIER = "e4ff88e0f78cd984cbaf1138d9549b3a33800f221663601f4a2d1afc09a7fdbb"
LESSON = """kernel = "equal_shares"
title = "Mine"

[[stop]]
at = { end = true }
say = "The end."
next = "equal_shares_bf16"
"""


@pytest.fixture(autouse=True)
def own_store(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


@pytest.mark.parametrize(("before", "today"), NAMES.items())
def test_a_name_from_before_means_the_kernel_of_today(before, today):
    assert find(before, LADDER) is find(today, LADDER)
    assert renamed.today(before) == today and before in renamed.before(today)


def test_so_it_does_with_a_declared_change():
    assert find("equal_shares~stored-twice", LADDER).name == "stream_k_tma~stored-twice"
    assert renamed.today("equal_shares~stored-twice") == "stream_k_tma~stored-twice"
    with pytest.raises(UnknownKernel, match="no kernel 'equal_share'"):
        find("equal_share", LADDER)


def test_the_table_leads_from_names_that_are_gone_to_names_that_are_there():
    names = {kernel.name for kernel in LADDER}
    assert all(today in names and before not in names for before, today in NAMES.items())
    table = renamed._table()
    assert table["names"].keys() == NAMES.keys() and set(table["names"].values()) <= names
    # A text that has changed further is at the end of no entry, and its figures are of an earlier text.
    assert not table["texts"].keys() & {kernel.sha256 for kernel in LADDER}


def test_a_kernel_of_ones_own_with_a_name_from_before_has_its_folder(tmp_path):
    session = Session(ladder())
    session.choice.add_kernel(parse(find("gpumult1", LADDER).text, tmp_path / "block_order.cu"))
    assert session.choice.base.name == f"block_order ({tmp_path.name})"


def test_the_command_line_takes_it(capsys):
    run(["bench", "equal_shares", "--size", "64", "--quick", "--json", "-"])
    (row,) = json.loads(capsys.readouterr().out)["results"]
    assert row["kernel"] == "stream_k_tma"
    small = [word for name in ("BM", "BN") for word in ("--set", f"{name}=16")]
    small += [word for name in ("BK", "TM", "TN") for word in ("--set", f"{name}=4")]
    assert run(["record", "block_order", "--size", "16", *small, "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out)["kernel"] == "l2_swizzle"


def test_an_old_state_opens(tmp_path):
    path = tmp_path / "old.gemmviz"
    path.write_text(
        json.dumps(
            {
                "state_version": 1,
                "kernel": {"name": "equal_shares"},
                "breaks": ["stored-twice"],
                "size": [384, 64, 128],
                "beside": {"kernel": "block_order", "pace": "bytes"},
            }
        )
    )
    session = Session(ladder())
    plain, faults = state_file.read_state(path)
    apply(session, plain)
    assert not faults
    assert session.choice.kernel.name == "stream_k_tma~stored-twice"
    assert session.comparison.kernel is not None and session.comparison.kernel.name == "l2_swizzle"


def test_the_window_is_started_with_it():
    plain = snapshot(_parser("window").parse_args(["window", "--kernel", "equal_shares~stored-twice"]))
    session = Session(ladder())
    apply(session, plain)
    assert session.choice.kernel.name == "stream_k_tma~stored-twice"


def result_file(path: Path, name: str, sha256: str) -> Path:
    kernel = find(name, LADDER)
    row = results.new_row(kernel, Problem.cube(1024), {}) | {"kernel": name, "alias": name, "source_sha256": sha256}
    results.describe_samples(row, [1e-3] * 21, summarise([1e-3] * 21), "steady", 2 * 1024**3)
    document = results.document({"cpu": {"model": "abacus"}}, None, Protocol()) | {"results": [row]}
    document["profiles"] = [
        {"kernel": name, "M": 8, "N": 8, "K": 8, "params": {}, "source_sha256": sha256, "figures": {}, "fault": None}
    ]
    results.write_results(document, path)
    return path


def test_an_old_result_is_one_of_the_kernel_and_its_text(tmp_path, capsys):
    today = find("stream_k_tma", LADDER)
    before = result_file(tmp_path / "before.json", "equal_shares", EARLIER)
    after = result_file(tmp_path / "after.json", "stream_k_tma", today.sha256)
    content = results.read_results(before)
    (row,), (profile,) = content["results"], content["profiles"]
    assert (row["kernel"], row["alias"], row["source_sha256"]) == ("stream_k_tma", "stream_k_tma", today.sha256)
    assert (profile["kernel"], profile["source_sha256"]) == ("stream_k_tma", today.sha256)
    assert json.loads(before.read_text())["results"][0]["kernel"] == "equal_shares", "the file is left alone"
    assert run(["compare", str(before), str(after), "--json"]) == 0
    (line,) = json.loads(capsys.readouterr().out)["rows"]
    assert line["verdict"] == "SAME"


def test_a_digest_of_any_other_text_stays():
    assert renamed.same_code("0" * 64) == "0" * 64 and renamed.same_code(None) is None


def test_an_old_lesson_opens_and_goes_on(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(LESSON, encoding="utf-8")
    assert (load_lesson(path).kernel, load_lesson(path).next) == ("stream_k_tma", "stream_k_tma_bf16")
    session = Session(ladder())
    session.guide.open(path)
    assert session.choice.kernel.name == "stream_k_tma" and session.tour.title == "Mine"


def test_ones_own_lesson_is_found_by_the_name_of_its_file():
    kernel = find("stream_k_tma", LADDER)
    assert lesson_path(kernel) != own_folder() / "equal_shares.toml"
    own_folder().mkdir(parents=True)
    (own_folder() / "equal_shares.toml").write_text(LESSON, encoding="utf-8")
    lesson = find_lesson(kernel)
    assert lesson is not None and lesson.titles == {"en": "Mine"}


def tuned_file(params: dict[str, int], name: str, sha256: str) -> dict[str, object]:
    sides = dict.fromkeys("MNK", 1024)
    return {
        **{"kernel": name, "source_sha256": sha256, "tuned_on": "GPU", "date_utc": "2026-11-21T20:00:00+00:00"},
        **{**sides, "params": params, "gflops": 1.0, "gain": None, "rounds": 0},
    }


def test_old_tuned_parameters_are_used_until_newer_ones_take_their_place(capsys):
    kernel = find("stream_k_tma", LADDER)
    old, new = kernel.defaults | {"STAGES": 3}, kernel.defaults | {"STAGES": 2}
    kept.keep(tuned_file(old, "equal_shares", EARLIER))
    found = kept.nearest(kept.kept()[0], kernel, "GPU", [Problem.cube(1024)])
    assert found is not None and found.params == old and found.kernel == "stream_k_tma"
    kept.keep(tuned_file(new, "stream_k_tma", kernel.sha256))
    (found,) = kept.kept()[0]
    assert found.params == new
    assert run(["tune", "--forget", "equal_shares"]) == 0 and not kept.kept()[0]


def test_a_name_with_a_slip_gets_the_names_that_are_alike() -> None:
    with pytest.raises(UnknownKernel, match=r"no kernel 'gputilled'. Is it gputiled, gputiled1, .*\?"):
        find("gputilled", ladder())
    with pytest.raises(UnknownKernel, match="no kernel 'zzzz': `gemmviz list` lists the names") as error:
        find("zzzz", ladder())
    assert "gputiled" not in str(error.value)
