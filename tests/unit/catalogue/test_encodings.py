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
