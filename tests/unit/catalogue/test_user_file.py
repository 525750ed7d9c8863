"""A user's file may be a pipe, a device, far too large or no text: a message says so, and nothing waits for it."""

import json
import os
import re
import threading
from pathlib import Path

import pytest

from gemmviz.bench import results
from gemmviz.bench.results import read_results
from gemmviz.bench.stats import summarise
from gemmviz.bench.tuning.kept import _read as read_tuned
from gemmviz.catalogue.errors import FrontMatterError, GemmvizError
from gemmviz.catalogue.kernel import load, parse
from gemmviz.catalogue.problem import Problem
from gemmviz.catalogue.user_file import (
    UnreadableFile,
    parse_json,
    parse_toml,
    read_source,
    read_text,
    why_no_file,
    write_source,
    write_text,
)
from gemmviz.session.files.state_file import read_state
from gemmviz.session.tour.lesson_file import load_lesson

READERS = {".cu": load, ".toml": load_lesson, ".gemmviz": read_state, ".json": read_results, ".tuned": read_tuned}
DIGITS = "1" + "0" * 5000
DEEP = "[" * 100_000 + "]" * 100_000


def within_seconds(act):
    """Return the exception of an action; fail if it waits for ever."""
    raised = []

    def run():
        try:
            act()
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(60)
    assert not thread.is_alive(), "it waits for ever"
    return raised[0] if raised else None


@pytest.mark.sweep("pipe-*", "device-*", "folder-*", "huge-.cu")
@pytest.mark.parametrize("suffix", READERS)
@pytest.mark.parametrize("kind", ["pipe", "device", "folder", "huge"])
def test_a_pipe_or_a_device_is_refused_at_once(tmp_path, suffix, kind):
    path = tmp_path / f"my{suffix}"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    elif kind == "folder":
        path.mkdir()
    else:
        path.touch()
        os.truncate(path, 3_000_000_000)  # a hole: it takes no room
    error = within_seconds(lambda: READERS[suffix](path))
    assert isinstance(error, GemmvizError)
    text = {"huge": "larger than", "folder": "is a folder"}.get(kind, "not a regular file")
    assert text in str(error) and path.name in str(error)


def test_bytes_that_are_no_text_are_said_with_their_line(tmp_path):
    path = tmp_path / "my.cu"
    path.write_bytes(b"// one\n// \xff\n")
    with pytest.raises(UnreadableFile, match=r"my.cu: not a text file in UTF-8 \(line 2\)"):
        read_text(path, 100)


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path):
    path = tmp_path / "my.cu"
    path.write_bytes(b"\xef\xbb\xbftext")
    assert read_text(path, 7) == "text"


@pytest.mark.parametrize("value", [DIGITS, "0x1" + "0" * 5000, DEEP, "9223372036854775808"])
def test_a_front_matter_with_a_huge_number_or_depth_is_refused(tmp_path, value):
    matter = f'// ---gemmviz\n// entry = "f"\n// params = {{ TS = {value} }}\n// ---\nvoid f();\n'
    with pytest.raises(FrontMatterError, match=r"my\.cu") as caught:
        parse(matter, tmp_path / "my.cu")
    assert len(str(caught.value)) < 500
    changes = matter.replace("params", "x") + f"// ---breaks\n// [x]\n// at = {value}\n// ---\n"
    with pytest.raises(FrontMatterError):
        parse(changes, tmp_path / "my.cu")


@pytest.mark.parametrize("value", [DIGITS, DEEP])
def test_a_lesson_and_a_result_file_likewise(tmp_path, value):
    lesson, result = tmp_path / "my.toml", tmp_path / "my.json"
    lesson.write_text(f'kernel = "gputiled"\nsize = {value}\n')
    with pytest.raises(GemmvizError, match=r"my\.toml"):
        load_lesson(lesson)
    result.write_text(f'{{"schema_version": 2, "device": null, "env": null, "results": [{{"M": {value}}}]}}')
    with pytest.raises(GemmvizError, match=r"my\.json"):
        read_results(result)


@pytest.mark.parametrize("figure", ["NaN", "Infinity", "1e999", "1" + "0" * 400])
@pytest.mark.parametrize("field", ["gflops", "stats.q1", "samples_s[0]"])
def test_a_figure_that_is_no_number_is_no_result(tmp_path, figure, field):
    kernel = parse(
        '// ---gemmviz\n// entry = "f"\n// args = ["C", "A", "B"]\n// ---\nvoid f(float *c) {}\n', Path("f.c")
    )
    row = results.new_row(kernel, Problem.cube(1), {})
    results.describe_samples(row, [1.0, 1.0], summarise([1.0, 1.0]), "steady", 2)
    place = {"gflops": (row, "gflops"), "stats.q1": (row["stats"], "q1"), "samples_s[0]": (row["samples_s"], 0)}[field]
    place[0][place[1]] = "?"
    text = json.dumps({"schema_version": 2, "device": None, "env": None, "results": [row]})
    path = tmp_path / "my.json"
    path.write_text(text.replace('"?"', "2.0"))
    assert len(read_results(path)["results"]) == 1
    path.write_text(text.replace('"?"', figure))
    with pytest.raises(GemmvizError, match=re.escape(f"row 0 has a {field} that cannot be")):
        read_results(path)


@pytest.mark.parametrize("text", [r'{"a": "\ud800"}', r'{"\uDFFF": 1}', r'["x\ude00\ud83d"]'])
def test_half_a_character_is_no_json(text):
    with pytest.raises(ValueError, match="half a character"):
        parse_json(text)


def test_a_character_in_two_halves_is_one():
    assert parse_json(r'["\ud83d\ude00", "\\ud800"]') == ["😀", r"\ud800"]


def test_numbers_of_64_bits_are_read_as_they_are():
    assert parse_toml(f"a = [{2**63 - 1}, -1]") == {"a": [2**63 - 1, -1]}
    assert parse_json(f"[{2**63 - 1}, -1, {2**64}]") == [2**63 - 1, -1, 2.0**64]


def test_a_file_is_written_whole_or_not_at_all(tmp_path):
    path = tmp_path / "my.json"
    path.write_text("old")
    path.chmod(0o640)
    link = tmp_path / "link.json"
    link.symlink_to(path)
    write_text(link, "new")
    assert path.read_text() == "new" and link.is_symlink() and path.stat().st_mode & 0o777 == 0o640
    with pytest.raises(GemmvizError, match="cannot write"):
        write_text(tmp_path / "nowhere" / "my.json", "x")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["link.json", "my.json"]


def test_a_full_disk_has_a_message():
    with pytest.raises(GemmvizError, match="No space left on device"):
        write_text(Path("/dev/full"), "x" * 10)


SOURCE = "// {}\nint main() {{ return 0; }}\n"


@pytest.mark.parametrize(
    ("comment", "encoding"),
    [
        ("矩阵乘法：每个线程计算一个元素", "gb18030"),
        ("los índices de la matriz, en français: données", "cp1252"),
        ("“quoted” – by Windows", "cp1252"),
        ("行列の積", "utf-16"),
        ("行列の積", "utf-8-sig"),
        ("행렬", "utf-8"),
    ],
)
def test_a_source_is_read_in_its_encoding_and_saved_in_it(tmp_path, comment, encoding):
    path, text = tmp_path / "my.cu", SOURCE.format(comment)
    path.write_bytes(text.replace("\n", "\r\n").encode(encoding))
    assert read_source(path) == text
    changed = text + f"// {comment}\n"
    write_source(path, changed)
    assert path.read_bytes() == changed.replace("\n", "\r\n").encode(encoding)
    write_source(path, changed + "// 한글\n")  # Korean is not in each of them
    assert read_source(path) == changed + "// 한글\n"


@pytest.mark.parametrize("raw", [b"\x7fELF\x02\xff\x00", b"\xff\xfe\x00" * 9, b"\xff\xfe", b"int\xff\x01;"])
def test_bytes_that_are_no_source_are_refused(tmp_path, raw):
    path = tmp_path / "my.cu"
    path.write_bytes(raw)
    with pytest.raises(UnreadableFile, match="not a text file in UTF-8, UTF-16, GBK or Latin-1"):
        read_source(path)


def test_a_link_that_leads_nowhere_is_named_as_one(tmp_path):
    missing, link, circle = tmp_path / "missing.cu", tmp_path / "link.cu", tmp_path / "circle.cu"
    link.symlink_to("missing.cu")
    circle.symlink_to("circle.cu")
    assert why_no_file(missing) == f"no file {missing}"
    assert why_no_file(link) == f"{link} is a link to {missing}, which does not exist"
    assert why_no_file(circle) == f"{circle} is a link that leads back to itself"
    with pytest.raises(GemmvizError, match="cannot write"):
        write_text(circle, "text")
    write_text(link, "text")
    assert missing.read_text() == "text" and link.is_symlink()
