"""``gemmviz describe`` as typed."""

import json
from pathlib import Path

import pytest
from guessed_texts import FILE

from gemmviz import cli
from gemmviz.catalogue.guessing.guess import guess
from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.cli.describe import put_on_top


def test_describe_prints_json_and_changes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "mine.cu"
    path.write_text(FILE)
    assert cli.run(["describe", str(path), "--json", "-"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["right"] is True
    assert [p["role"] for p in document["parameters"]] == ["A", "B", "C", "M", "N", "K"]
    assert parse(document["front_matter"] + FILE, path).args == ("A", "B", "C", "M", "N", "K")
    assert path.read_text() == FILE


def test_describe_writes_once_and_keeps_the_file_as_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "mine.cu"
    before = b"\xef\xbb\xbf" + FILE.replace("\n", "\r\n").encode()
    path.write_bytes(before)
    path.chmod(0o640)
    assert cli.run(["describe", str(path), "--write"]) == 0
    after = path.read_bytes()
    assert after.endswith(before[3:]) and after.startswith(b"\xef\xbb\xbf// ---gemmviz\r\n")
    assert path.stat().st_mode & 0o777 == 0o640
    assert [f.name for f in tmp_path.iterdir()] == ["mine.cu"]
    capsys.readouterr()
    assert cli.run(["record", str(path), "--size", "16"]) == 0
    assert "right in every element" in capsys.readouterr().out
    assert cli.run(["describe", str(path), "--write"]) == 1
    output = capsys.readouterr().err
    assert "has front matter already" in output and f"`gemmviz record {path}` records it" in output
    assert path.read_bytes() == after


@pytest.mark.parametrize("encoding", ["gb18030", "utf-16"])
def test_front_matter_is_written_in_the_encoding_of_its_file(tmp_path: Path, encoding: str) -> None:
    path, text = tmp_path / "mine.cu", "// 矩阵乘法\n" + FILE
    path.write_bytes(text.encode(encoding))
    put_on_top(path, "// ---gemmviz\n// ---\n")
    assert path.read_bytes() == f"// ---gemmviz\n// ---\n{text}".encode(encoding)


def test_describe_says_what_it_cannot_do(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "mine.cu"
    path.write_text("int main() { return 0; }")
    assert cli.run(["describe", str(path)]) == 1
    assert "there is nothing to run" in capsys.readouterr().err
    path.write_text(FILE.replace("int K)", "int K, dim3 turned)"))
    assert cli.run(["describe", str(path), "--write"]) == 1
    captured = capsys.readouterr()
    assert 'nothing was written: each "?" has to be filled in by hand' in captured.err
    assert captured.out.splitlines()[-1] == "? Parameter turned (dim3) has no role in a GEMM."
    assert "---gemmviz" not in path.read_text()
    assert cli.run(["describe", str(path), "--entry", "other"]) == 2
    assert "it has: gemm" in capsys.readouterr().err
    assert cli.run(["describe", str(tmp_path / "none.cu")]) == 2


def test_a_file_that_declares_breaks_only_is_described(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    breaks = '\n// ---gemmviz breaks\n// [less]\n// title = "Less"\n// find = "K; "\n// replace = "1; "\n'
    path = tmp_path / "mine.cu"
    path.write_text(FILE + breaks + '// expect = "wrong result"\n// ---\n')
    assert cli.run(["describe", str(path), "--write"]) == 0
    capsys.readouterr()
    assert [change.id for change in parse(path.read_text(), path).breaks] == ["less"]


@pytest.mark.parametrize("name", ["cluster", "wgmma"])
def test_boxes_that_only_a_person_knows_are_asked_for_and_nothing_else(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "mine.cu"
    path.write_text(find(name, ladder()).text.partition("\n// ---\n")[2])
    assert cli.run(["describe", str(path)]) == 1
    output = capsys.readouterr().out
    assert '"?"' in output and "maps must give the size of a box of A" in output
    assert "is not an expression" not in output
    assert output.splitlines()[-1].startswith("? ")


def test_a_folder_is_called_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "folder.cu").mkdir()
    assert cli.run(["describe", str(tmp_path / "folder.cu")]) != 0
    assert "is a folder" in " ".join(capsys.readouterr().err.split())


def test_the_other_kernels_of_a_file_are_named_and_reasons_have_a_key(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "mine.cu"
    path.write_text(FILE + FILE.replace("gemm(", "second_gemm("))
    assert cli.run(["describe", str(path)]) == 0
    output = capsys.readouterr().out
    assert "other kernels of the file (--entry NAME): second_gemm\n" in output
    assert "params" not in output and "shared" not in output
    assert cli.run(["describe", str(path), "--entry", "second_gemm"]) == 0
    assert "other kernels" not in capsys.readouterr().out


def test_a_kernel_that_the_user_names_is_not_called_the_likeliest() -> None:
    wrong = FILE + FILE.replace("gemm(", "second_gemm(")
    first = guess(wrong, Path("mine.cu"))
    assert any("gemm looks most like a GEMM" in doubt for doubt in first.doubts)
    assert not guess(wrong, Path("mine.cu"), "second_gemm").doubts
