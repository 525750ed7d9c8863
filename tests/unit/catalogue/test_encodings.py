"""The encoding of a source is looked for only where it is not UTF-8."""

import pytest

from gemmviz.catalogue import encodings


@pytest.mark.parametrize("text", ["float a;  // größer\n", "float a;\n"])
def test_utf8_is_read_without_a_search_for_another_encoding(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encodings, "_HIGH", None)
    assert encodings.decoded(text.encode()) == (text, "utf-8")


@pytest.mark.parametrize(
    ("text", "name"), [("// 矩阵乘法，每个线程一个元素\n", "gb18030"), ("// größer als nötig: déjà vu\n", "cp1252")]
)
def test_other_encodings_are_found_by_their_bytes(text: str, name: str) -> None:
    assert encodings.decoded((text + "float a;\n").encode(name)) == (text + "float a;\n", name)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"// \xe9\r\nfloat a;\r\n", b"// \xe9\r\nfloat b;\r\n"),  # a file from Windows lost its line ends
        (b"// \xe9\nfloat a;\n", b"// \xe9\nfloat b;\n"),
        (b"float a;\r\nfloat b;\n", "// é\nfloat b;\n".encode()),  # of both kinds
        (b"", "// é\nfloat b;\n".encode()),
    ],
)
def test_a_text_is_written_as_its_file_was(old: bytes, new: bytes) -> None:
    assert encodings.encoded("// é\nfloat b;\n", old) == new


def test_utf_16_keeps_its_line_ends() -> None:
    new = encodings.encoded("float b;\n", "float a;\r\n".encode("utf-16"))
    assert new.decode("utf-16") == "float b;\r\n"


def test_comments_in_two_encodings_do_not_hide_the_code() -> None:
    raw = "// größer\n".encode() + "// Проверка\n".encode() + "// Выбор И\n".encode("cp1251") + b"float a;\n"
    text, name = encodings.decoded(raw) or ("", "")
    assert text.endswith("float a;\n") and text.encode(name) == raw
    assert encodings.decoded(raw + b"\x00") is None
