"""The texts that may run: shipped ones, allowed ones and typed ones; and refused requests."""

import json
import os
import threading
from pathlib import Path

import pytest

from gemmviz.app import new_session
from gemmviz.catalogue.breaks import broken
from gemmviz.catalogue.errors import GemmvizError
from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.cli import run
from gemmviz.engine.consent import Described, Named, sources
from gemmviz.engine.messages import (
    AssembleRequest,
    BenchRequest,
    CheckRequest,
    CountRequest,
    Failed,
    ProbeRequest,
    ProfileRequest,
    RecordRequest,
    TuneRequest,
)
from gemmviz.engine.process import EngineProcess
from gemmviz.engine.supervisor import Engine
from gemmviz.session.files.snapshot import apply
from gemmviz.session.trust.source_hash import source_hash
from gemmviz.session.trust.trust import Trust
from gemmviz.session.trust.trust_store import TrustStore

LADDER = ladder()
SHIPPED = find("hostmult0", LADDER)
TILED = find("gputiled", LADDER)
MINE = SHIPPED.text + "\nstatic int mine;\n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "mine.c"


@pytest.fixture
def trust(tmp_path: Path) -> Trust:
    return Trust(LADDER, TrustStore(tmp_path / "settings" / "trusted.json"))


def another(trust: Trust) -> Trust:
    """The trust of another window of the same user."""
    return Trust(LADDER, TrustStore(trust.store.path))


# What ships


def test_every_shipped_kernel_and_every_declared_change_of_it_may_run(trust: Trust) -> None:
    for kernel in LADDER:
        assert trust.allows(kernel.path, kernel.text)
    for change in TILED.breaks:
        variant = broken(TILED, (change.id,))
        assert trust.allows(variant.path, variant.text)
        assert not trust.allows(variant.path, variant.text + " ")


def test_a_shipped_text_that_would_take_a_header_from_another_folder_may_not_run(trust: Trust, tmp_path: Path) -> None:
    simd = find("simd", LADDER)
    assert "gemmviz/simd.h" in simd.text
    copy = tmp_path / simd.path.name
    assert trust.allows(copy, simd.text)
    (tmp_path / "gemmviz").mkdir()
    (tmp_path / "gemmviz" / "simd.h").write_text("")
    assert not trust.allows(copy, simd.text)


def test_a_text_that_claims_to_be_in_the_shipped_folder_may_not_run(trust: Trust) -> None:
    assert not trust.allows(SHIPPED.path, MINE)
    assert not trust.allows(SHIPPED.path.with_stem(SHIPPED.path.stem + "~edited"), MINE)


# What was allowed


def test_an_allowed_text_may_run_in_later_windows_and_no_other_text_does(trust: Trust, path: Path) -> None:
    assert not trust.allows(path, MINE)
    trust.allow(path, MINE)
    assert trust.allows(path, MINE) and another(trust).allows(path, MINE)
    assert not another(trust).allows(path, MINE + " ")
    assert not another(trust).allows(path.with_suffix(".cu"), MINE)
    trust.forget()
    assert not trust.allows(path, MINE) and not another(trust).allows(path, MINE)


def test_the_front_matter_counts(trust: Trust, path: Path) -> None:
    trust.allow(path, MINE)
    assert not trust.allows(path, MINE.replace("hostmult0", "hostmult9"))


def test_a_header_that_changes_asks_again(trust: Trust, path: Path) -> None:
    text = '#include "a.h"\n' + MINE
    (path.parent / "a.h").write_text('#include "b.h"\n')
    (path.parent / "b.h").write_text("int one;\n")
    trust.allow(path, text)
    assert another(trust).allows(path, text)
    (path.parent / "b.h").write_text("int two;\n")
    assert not trust.allows(path, text) and not another(trust).allows(path, text)


@pytest.mark.parametrize(
    "more",
    [
        "#define H <a.h>\n#include H\n",
        "%:include <a.h>\n",
        '#inc\\\nlude H\n#define H "a.h"\n',
        'asm(".incbin \\"a.h\\"");\n',
        "#/* */include <a.h>\n",
        "#import <a.h>\n",
        "const char s[] = {\n#embed <a.h>\n};\n",
    ],
)
def test_a_text_that_may_take_any_file_is_allowed_in_this_window_only(trust: Trust, path: Path, more: str) -> None:
    trust.allow(path, more + MINE)
    assert trust.allows(path, more + MINE)
    assert not another(trust).allows(path, more + MINE)


def test_words_in_comments_and_texts_are_no_includes(path: Path) -> None:
    text = '// include this, and import that\nconst char *s = "include";\n#include <math.h>\n'
    assert source_hash(path, text)[1]


def test_a_declared_change_of_an_allowed_text_may_run(trust: Trust, tmp_path: Path) -> None:
    mine = parse(TILED.text + "\n// mine\n", tmp_path / "mine.cu")
    variant = broken(mine, ("no-second-barrier",))
    trust.allow(mine.path, mine.text)
    assert trust.allows(variant.path, variant.text)
    assert not trust.allows(variant.path, variant.text + " ")


# Folders


def test_files_in_a_trusted_folder_may_run_also_after_a_change(trust: Trust, path: Path) -> None:
    path.write_text(MINE)
    trust.allow_folder(path.parent)
    assert trust.allows(path, MINE) and another(trust).allows(path, MINE)
    path.write_text(MINE + "// more\n")
    assert trust.allows(path, MINE + "// more\n")


def test_a_text_that_only_claims_to_be_in_a_trusted_folder_may_not_run(trust: Trust, path: Path) -> None:
    path.write_text(SHIPPED.text)
    trust.allow_folder(path.parent)
    assert not trust.allows(path, MINE)
    assert not trust.allows(path.parent / "none.c", MINE)


def test_a_link_out_of_a_trusted_folder_leads_out_of_it(trust: Trust, tmp_path: Path) -> None:
    inside, outside = tmp_path / "in", tmp_path / "out"
    inside.mkdir()
    outside.mkdir()
    (outside / "mine.c").write_text(MINE)
    (inside / "mine.c").symlink_to(outside / "mine.c")
    trust.allow_folder(inside)
    assert not trust.allows(inside / "mine.c", MINE)


@pytest.mark.parametrize("case", ["everybody writes", "home", "no folder"])
def test_a_folder_that_cannot_be_trusted_is_refused_with_the_reason(
    trust: Trust, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    folder = tmp_path / "here"
    folder.mkdir()
    if case == "everybody writes":
        folder.chmod(0o777)
    elif case == "home":
        monkeypatch.setenv("HOME", str(folder / "me"))
    else:
        folder.rmdir()
        folder.write_text("")
    with pytest.raises(GemmvizError, match=r"cannot be trusted|is not a folder"):
        trust.allow_folder(folder)
    assert not trust.kept.folders


# What was typed


def test_edits_of_a_text_that_may_run_may_run_here(trust: Trust) -> None:
    trust.typed(SHIPPED.path, SHIPPED.text, MINE)
    assert trust.allows(SHIPPED.path, MINE)
    assert not another(trust).allows(SHIPPED.path, MINE)


def test_edits_of_a_text_from_elsewhere_may_not_run(trust: Trust, path: Path) -> None:
    trust.typed(path, MINE, MINE + " ")
    assert not trust.allows(path, MINE + " ")


def test_undo_and_redo_do_not_allow_a_text_from_elsewhere(trust: Trust) -> None:
    assert not trust.allows(SHIPPED.path, MINE)  # it came with a state
    trust.typed(SHIPPED.path, MINE, SHIPPED.text)
    trust.typed(SHIPPED.path, SHIPPED.text, MINE)
    assert not trust.allows(SHIPPED.path, MINE)


# The file


@pytest.mark.parametrize(
    "spoil",
    [
        lambda d: "{",
        lambda d: "[" * 100_000,
        lambda d: json.dumps([d]),
        lambda d: json.dumps(d | {"trust_version": 2}),
        lambda d: json.dumps(d | {"texts": {}}),
        lambda d: json.dumps(d | {"folders": "/"}),
        lambda d: json.dumps(d | {"folders": ["."]}),
        lambda d: json.dumps(d | {"folders": [1]}),
        lambda d: json.dumps(d | {"texts": [{"sha256": "0", "file": "", "date": "2026-01-01"}]}),
        lambda d: json.dumps(d | {"texts": [*d["texts"], {"sha256": "0" * 64, "file": "x", "date": "today"}]}),
    ],
)
def test_a_damaged_file_trusts_nothing_has_a_message_and_is_written_anew(trust: Trust, path: Path, spoil) -> None:
    trust.allow(path, MINE)
    file = trust.store.path
    file.write_text(spoil(json.loads(file.read_text())))
    assert not trust.allows(path, MINE)
    assert "no text and no folder is trusted" in trust.kept.fault
    trust.allow(path, MINE)
    assert not trust.kept.fault and another(trust).allows(path, MINE)


def test_a_file_that_others_can_write_trusts_nothing(trust: Trust, path: Path) -> None:
    trust.allow(path, MINE)
    trust.store.path.chmod(0o666)
    assert not trust.allows(path, MINE) and "other users can write it" in trust.kept.fault
    trust.allow(path, MINE)
    assert another(trust).allows(path, MINE)
    assert trust.store.path.stat().st_mode & 0o022 == 0


@pytest.mark.skipif(os.getuid() == 0, reason="root writes everywhere")
def test_a_text_runs_in_this_window_where_nothing_can_be_kept(trust: Trust, path: Path) -> None:
    trust.store.path.parent.mkdir()
    trust.store.path.parent.chmod(0o500)
    with pytest.raises(GemmvizError, match="cannot write"):
        trust.allow(path, MINE)
    assert trust.allows(path, MINE)


def test_two_windows_keep_the_permissions_of_both(trust: Trust, path: Path) -> None:
    one, two = another(trust), another(trust)
    one.allow(path, MINE + "1")
    two.allow(path, MINE + "2")
    assert trust.allows(path, MINE + "1") and trust.allows(path, MINE + "2")


# The engine


@pytest.fixture
def silent(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The requests that reach the engine's process."""
    sent: list[object] = []
    monkeypatch.setattr(EngineProcess, "_submit", lambda self, request: sent.append(request))
    monkeypatch.setattr(EngineProcess, "_start", lambda self: sent.append("start"))
    return sent


JOB = {"path": "mine.c", "text": MINE, "params": {}}
OURS = {"path": str(SHIPPED.path), "text": SHIPPED.text, "params": {}}


@pytest.mark.parametrize(
    "request_",
    [
        RecordRequest(1, "mine.c", MINE, 4, 4, 4),
        CheckRequest(1, "mine.c", MINE, [{"m": 4, "n": 4, "k": 4, "params": {}}]),
        TuneRequest(1, "mine.c", MINE, 4, 4, 4),
        AssembleRequest(1, "mine.c", MINE, 4, 4, 4),
        BenchRequest(1, [OURS, JOB], [(4, 4, 4)]),
        BenchRequest(1, [OURS, JOB | {"transfer": ["float32", "float32"]}], [(4, 4, 4)]),
        CountRequest(1, [OURS | {"m": 4, "n": 4, "k": 4}, JOB | {"m": 4, "n": 4, "k": 4}]),
        ProfileRequest(1, [OURS | {"m": 4, "n": 4, "k": 4}, JOB | {"m": 4, "n": 4, "k": 4}]),
    ],
)
@pytest.mark.parametrize("consent", [Named(), Named(LADDER), Trust(LADDER), Described(Path("mine.c"), SHIPPED.text)])
def test_an_engine_sends_no_text_without_consent_to_a_process(silent, request_, consent) -> None:
    replies = list(Engine(consent).run(request_, threading.Event()))
    assert [(type(reply), reply.kind) for reply in replies] == [(Failed, "untrusted")]
    assert "mine.c" in replies[0].message
    assert not silent


def test_a_request_of_an_unknown_kind_is_no_way_around() -> None:
    with pytest.raises(TypeError, match="the texts of"):
        sources(object())
    assert sources(ProbeRequest(1)) == []


def test_a_description_allows_its_own_text_under_any_front_matter_and_nothing_more() -> None:
    bare = "void f(void) { }\n"
    consent = Described(Path("mine.c"), bare)
    assert consent.allows(Path("mine.c"), "// ---gemmviz\n// ---\n" + bare)
    assert not consent.allows(Path("mine.c"), "int x;\n" + bare)
    assert not consent.allows(Path("other.c"), bare)


# Commands


def hostile(folder: Path) -> tuple[Path, Path]:
    """A kernel that writes a file as soon as it is loaded, and that file."""
    marker = folder / "was-here"
    text = (
        SHIPPED.text
        + f"""
#include <stdio.h>
__attribute__((constructor)) static void gv_hostile(void)
{{
    FILE *file = fopen("{marker}", "w");
    if (file) fclose(file);
}}
"""
    )
    path = folder / "hostile.c"
    path.write_text(text)
    return path, marker


def test_naming_a_file_for_a_command_is_consent_and_is_not_kept(tmp_path: Path, capsys) -> None:
    path, _ = hostile(tmp_path)
    assert run(["record", str(path), "--size", "4", "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out)["c_wrong_elements"] == 0
    assert not Trust(LADDER).allows(path, path.read_text())


def test_the_command_lists_adds_and_forgets(tmp_path: Path, capsys, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    path = tmp_path / "mine.c"
    Trust().allow(path, MINE)
    assert run(["trust", "--folder", str(tmp_path)]) == 0
    capsys.readouterr()
    assert run(["trust", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert listed["folders"] == [str(tmp_path)] and [text["file"] for text in listed["texts"]] == [str(path)]
    assert run(["trust"]) == 0
    assert listed["texts"][0]["sha256"][:8] in capsys.readouterr().out
    assert run(["trust", "--forget", str(tmp_path)]) == 0
    assert Trust().kept.texts and not Trust().kept.folders
    assert run(["trust", "--forget", listed["texts"][0]["sha256"][:8]]) == 0
    assert not Trust().kept.texts
    assert run(["trust", "--forget", "nothing"]) == 2
    assert run(["trust", "--forget", "all"]) == 0


# The session


def test_a_session_holds_a_text_that_a_state_brings_along(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    session = new_session()
    assert not session.permission.held
    apply(session, {"kernel": {"name": "hostmult0", "text": MINE}})
    assert session.choice.kernel.text == MINE and session.permission.asks
    assert session.permission.folder is None  # the shipped file holds another text
    session.permission.only_look()
    assert session.permission.held and not session.permission.asks
    granted = []
    session.permission.granted.connect(lambda: granted.append(1))
    session.permission.run()
    assert granted and not session.permission.held
    session.choice.revert()
    assert not session.permission.held
