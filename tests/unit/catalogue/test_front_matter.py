"""The version of the front matter, the demo in it, and the digest of what runs."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from small_kernel import CODE, kernel, source

from gemmviz.catalogue.demo import Demo
from gemmviz.catalogue.errors import FrontMatterError
from gemmviz.catalogue.front_matter import VERSION
from gemmviz.catalogue.guessing.guess import guess
from gemmviz.catalogue.guessing.guessed_kernel import guessed_below, guessed_kernel
from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.cli import run
from gemmviz.proving.lines import shifted, shifted_note
from gemmviz.session import Session

# The version


def test_without_a_version_it_is_the_first() -> None:
    assert kernel().version == 1 and kernel(version=str(VERSION)).version == VERSION


@pytest.mark.parametrize("version", ["0", "-1", "1.0", "true", '"2"', "[2]"])
def test_a_version_is_a_whole_number_from_1(version: str) -> None:
    with pytest.raises(FrontMatterError, match="version must be a whole number from 1") as caught:
        kernel(version=version)
    assert caught.value.line == 7


@pytest.mark.parametrize("version", [None, "1", str(VERSION)])
@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"lens": '"rows"'}, "unknown key 'lens'; known are .*demo"),
        ({"demo": "{ size = 8, zoom = 1 }"}, r"unknown key 'demo\.zoom'; known are block, lens, params"),
        ({"demo": "{ size = 8, lens = 1 }"}, r"demo\.lens must be one of coalescing, banks, .*, not 1"),
    ],
)
def test_an_unknown_key_of_a_known_version_is_an_error(version: str | None, changes: dict[str, str], text: str) -> None:
    with pytest.raises(FrontMatterError, match=text):
        kernel(version=version, **changes)


@pytest.mark.parametrize("stop", ["{ warp = 3 }", "{ phase = 1, lane = 2 }"])
def test_a_stop_of_a_newer_version_is_left_out_and_said(stop: str) -> None:
    matter = {"demo": f"{{ size = 8, stop = {stop} }}"}
    mine = kernel(version=str(VERSION + 1), **matter)
    assert mine.unknown == ("demo.stop",) and mine.demo == Demo((8, 8, 8))
    with pytest.raises(FrontMatterError, match=r"demo\.stop"):
        kernel(version=str(VERSION), **matter)


def test_an_unknown_key_of_a_newer_version_has_a_note(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    later = {"version": str(VERSION + 1), "lens": "{ kind = [1, { a = 2 }] }", "demo": "{ size = 8, speed = 2 }"}
    mine = kernel(**later)
    assert mine.unknown == ("lens", "demo.speed") and mine.demo == Demo((8, 8, 8))
    (note,) = mine.notes
    assert f"version {VERSION + 1}" in note and "'lens', 'demo.speed'" in note and "07_mine.cu" in note
    # A separate table at the end is an unknown key like another.
    tables = parse(
        source(version="9").replace("// ---\ntemp", "// [later]\n// a = 1\n// ---\ntemp"), Path("07_mine.cu")
    )
    assert tables.unknown == ("later",)
    assert kernel().notes == ()

    file = tmp_path / "mine.cu"
    rung = find("gpumult1", ladder())
    file.write_text(
        rung.text.replace("// title", f"// version = {VERSION + 1}\n// lens = 1\n// title", 1).replace(
            f"// version  = {rung.version}\n", ""
        ),
        encoding="utf-8",
    )
    for command in (["record"], ["check", "--size", "8"], ["describe"]):
        run([command[0], str(file), *command[1:]])
        assert capsys.readouterr().err.count("it leaves out 'lens'") == 1, command

    session = Session(ladder())
    session.choice.add_kernel(mine)
    assert session.messages.current is not None and session.messages.current.text == note


@pytest.mark.sweep("C-*")
@pytest.mark.parametrize(
    ("line", "output"),
    [("C[0] = D", "'C[0] = D' is in no line of the source"), ("C", "'C' is in lines 9, 11 of the source")],
)
def test_a_demos_line_that_the_source_lacks_has_a_message(
    line: str, output: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = source(demo=f'{{ size = 8, stop = {{ line = "{line}" }} }}')
    (note,) = parse(text, Path("07_mine.cu")).notes
    assert note.startswith(f"07_mine.cu: the demo's step is not found: {output}")
    assert parse(text, Path("07_mine~broken.cu")).notes == ()
    assert kernel(demo='{ size = 8, stop = { line = "C[0] = A" } }').notes == ()
    file = tmp_path / "mine.cu"
    file.write_text(text)
    for command in ("check", "record"):
        run([command, str(file)])
        assert f"the demo's step is not found: {output}" in capsys.readouterr().err


def test_the_ladder_is_listed_with_versions_demos_and_notes(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["list", "--json"]) == 0
    for entry, rung in zip(json.loads(capsys.readouterr().out), ladder(), strict=True):
        assert (entry["version"], entry["notes"]) == (rung.version, [])
        assert entry["demo"] == (rung.demo.to_plain() if rung.demo else None)


# The demo


def test_a_demo_says_size_parameters_thread_and_moment() -> None:
    text = (
        '{ size = [4, 8, 16], params = { TS = 4 }, block = [1, 0], thread = [2, 3], stop = { line = "C[0]", nth = 2 } }'
    )
    mine = kernel(version="2", demo=text).demo
    assert mine == Demo((4, 8, 16), {"TS": 4}, (1, 0), (2, 3), {"line": "C[0]", "nth": 2})
    assert mine.to_plain() == {
        "size": [4, 8, 16],
        "params": {"TS": 4},
        "stop": {"line": "C[0]", "nth": 2},
        "block": [1, 0],
        "thread": [2, 3],
    }
    assert kernel(demo="{ size = 8 }").demo == Demo((8, 8, 8)) and kernel().demo is None


@pytest.mark.parametrize(
    ("demo", "says"),
    [
        ("8", "must be a table"),
        ("{}", "demo.size must be"),
        ("{ size = 0 }", "demo.size must be"),
        ("{ size = [8, 8] }", "demo.size must be"),
        ("{ size = true }", "demo.size must be"),
        ("{ size = 8, params = { TS = 1.5 } }", "demo.params must give whole numbers"),
        ("{ size = 8, params = 4 }", "demo.params must give whole numbers"),
        ("{ size = 8, params = { BK = 4 } }", "demo.params names 'BK'; the kernel's parameters are: TS"),
        ("{ size = 8, block = [1] }", "demo.block must be two whole numbers"),
        ("{ size = 8, thread = [1, -1] }", "demo.thread must be two whole numbers"),
        ("{ size = 8, stop = 3 }", "demo.stop is written as a lesson's at"),
        ("{ size = 8, stop = { demo = true } }", "demo.stop is written as a lesson's at"),
        ("{ size = 8, stop = { phase = 0 } }", "phase is a whole number, from 1"),
        ("{ size = 8, stop = { phase = 1, tile = 1 } }", "demo.stop is written as a lesson's at"),
        ("{ size = 8, stop = { line = '' } }", "line is a text"),
        ("{ size = 8, stop = { share = 2 } }", "share is a number from 0 to 1"),
        ("{ size = 8, stop = { end = 1 } }", "end is true"),
        ("{ size = 8, stop = { tile = 1, nth = 2 } }", "'nth' is not known here"),
        ("{ size = 8, stop = { line = 'x', write = 'no' } }", "write is true or false"),
    ],
)
def test_the_message_about_a_wrong_demo_names_the_fault(demo: str, says: str) -> None:
    with pytest.raises(FrontMatterError, match=says) as caught:
        kernel(demo=demo)
    assert caught.value.line == 7


# What runs

BREAKS = '\n// ---gemmviz breaks\n// [twice]\n// title = "Twice"\n// find = "A[0]"\n// replace = "2 * A[0]"\n// ---\n'


@pytest.mark.parametrize(
    "changes",
    [
        *({"version": "2"}, {"demo": "{ size = 8, params = { TS = 4 } }"}, {"title": '"Mine"'}, {"idea": '"One."'}),
        *({"source": '"S0"'}, {"alias": '"other"'}, {"exhibit": '"wrong"'}, {"behind": BREAKS}),
        *({"params": "{ TS = [32, 4] }"}, {"requires": '["TS <= 32"]'}, {"version": "9", "later": "1"}),
        *({"dtype": '"float32"'}, {"accumulate": '"float32"'}, {"shared": '"0"'}, {"layout": '{ B = "row" }'}),
    ],
)
def test_texts_for_people_are_no_part_of_the_digest(changes: dict[str, str]) -> None:
    assert kernel(**changes).sha256 == kernel().sha256


@pytest.mark.parametrize(
    "changes",
    [
        *({"code": CODE + "\n"}, {"code": CODE.replace("A[0]", "A[1]")}, {"entry": '"k"'}, {"block": '["TS"]'}),
        *({"grid": '["1", "1"]'}, {"args": '["B", "A", "C", "N"]'}, {"params": "{ TS = [8], BK = [4] }"}),
        *({"shared": '"4"'}, {"dtype": '"int32"'}, {"accumulate": '"float64"'}, {"math": '"tf32"'}),
        *({"layout": '{ B = "column" }'}, {"capability": '"8.0"'}, {"cluster": '["2"]'}),
    ],
)
def test_all_inputs_of_a_run_are_in_the_digest(changes: dict[str, str]) -> None:
    assert kernel(**changes).sha256 != kernel().sha256


def test_code_before_the_front_matter_is_code() -> None:
    mine = parse("#include <a.h>\n" + source(), Path("07_mine.cu"))
    assert mine.sha256 != kernel().sha256


def test_what_is_made_of_two_libraries_differs() -> None:
    texts = ('library = "numpy"', 'library = "openblas"', 'library = "cublas"', 'library = "cublas"\ndtype = "float16"')
    digests = [parse(text, Path("90_it.toml")).sha256 for text in texts]
    assert len(set(digests)) == 4
    assert parse('library = "numpy"\ntitle = "NumPy"', Path("90_it.toml")).sha256 == digests[0]


def test_every_rung_and_the_launch_of_its_demo_are_its_own() -> None:
    rungs = ladder()
    assert len({rung.sha256 for rung in rungs}) == len(rungs)
    for rung in rungs:
        if rung.demo is not None:
            assert rung.version >= 2
            assert launch(rung, Problem(*rung.demo.size), rung.demo.params).blocks


def test_front_matter_below_the_code_changes_no_digest() -> None:
    made = guess(f"{CODE}\n", Path("it.cu"))
    assert made.entry and guessed_below(made).sha256 == guessed_kernel(made).sha256
    other = replace(made, text=f"{CODE} \n")
    assert guessed_below(other).sha256 != guessed_below(made).sha256


# Lines


def test_the_code_begins_behind_the_front_matter() -> None:
    for mine in (kernel(), kernel(demo="{ size = 8 }", version="2")):
        assert mine.text.splitlines()[mine.code_line - 1].startswith("template")
    assert replace(kernel(), text=CODE).code_line == 1


def test_lines_move_with_the_front_matter() -> None:
    assert [shifted(line, first=10, by=2) for line in (0, 9, 10, 31)] == [0, 9, 12, 33]
    note = "line 31: the compiler merges 4 loads; lines 9, 12, 20: 1,234 sectors; 5 lines 3"
    assert (
        shifted_note(note, 10, -1) == "line 30: the compiler merges 4 loads; lines 9, 11, 19: 1,234 sectors; 5 lines 3"
    )
