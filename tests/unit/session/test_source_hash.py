"""One walk for included files: the hash has all that is copied for the engine, and that all that is compiled."""

from pathlib import Path

import pytest

from gemmviz.backends.toolchain import with_own_headers
from gemmviz.sandbox import scratch
from gemmviz.session.trust.source_hash import own_headers, source_hash

SIGN = "the header's own line"
FORMS = {
    "plain": '#include "part.h"\n',
    "angles": "  #  include <part.h>  // why\n",
    "spaces in the name": '#include " part.h "\n',
    "a folder and back": '#include "folder/../part.h"\n',
    "a link and back": '#include "link/../part.h"\n',
    "the folder itself": '#include "../kernels/part.h"\n',
    "by another header": '#include "other.h"\n',
    "by another header with a mark of its encoding": '#include "marked.h"\n',
    "by another header with line ends of Windows": '#include "windows.h"\n',
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "kernels"
    (folder / "folder").mkdir(parents=True)
    (tmp_path / "elsewhere" / "deep").mkdir(parents=True)
    (folder / "link").symlink_to(tmp_path / "elsewhere" / "deep")
    (folder / "part.h").write_text(f"// {SIGN}\n")
    (folder / "other.h").write_text('#include "../kernels/other.h"\n#include "part.h"\n')
    (folder / "marked.h").write_bytes(b'\xef\xbb\xbf#include "part.h"\n')
    (folder / "windows.h").write_bytes(b'int x;\r\n#include "part.h"\r\n')
    return folder


@pytest.mark.parametrize("form", FORMS)
def test_a_header_that_is_compiled_is_copied_and_hashed(folder: Path, form: str) -> None:
    path, text = folder / "mine.cu", FORMS[form]
    assert SIGN in with_own_headers(text, path)
    assert folder / "part.h" in dict(scratch.reached(text, folder))
    assert "part.h" in own_headers(path, text)
    before = source_hash(path, text)
    (folder / "part.h").write_text("int another;\n")
    assert source_hash(path, text) != before and before[1]


@pytest.mark.parametrize(
    "line", ['#include \\\n"part.h"\n', '#incl\\ \nude "part.h"\n', '// so \\ \n#include "part.h"\n']
)
def test_a_header_that_only_some_compilers_take_is_hashed(folder: Path, line: str) -> None:
    assert own_headers(folder / "mine.cu", line) == ["part.h"]


def test_a_header_above_the_folder_that_a_link_leads_to_is_hashed(folder: Path) -> None:
    (folder.parent / "elsewhere" / "part.h").write_text("int x;\n")
    assert own_headers(folder / "mine.c", '#include "link/../part.h"\n') == ["../elsewhere/part.h", "part.h"]


def test_all_of_a_file_counts_that_includes_a_header_and_is_included_by_it(folder: Path) -> None:
    path, text = folder / "mine.cuh", '#include "main.cu"\n'
    (folder / "main.cu").write_text('#define N 4\n#include "mine.cuh"\nint one;\n')
    before = source_hash(path, text)
    (folder / "main.cu").write_text('#define N 4\n#include "mine.cuh"\nint two;\n')
    assert source_hash(path, text) != before and own_headers(path, text) == ["main.cu"]


@pytest.mark.parametrize("spoil", ["large", "private"])
def test_a_header_that_cannot_be_read_is_not_hashed_and_the_text_is_asked_about_again(
    folder: Path, spoil: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if spoil == "large":
        with (folder / "part.h").open("wb") as file:
            file.truncate(11_000_000)
    else:

        def closed(_: Path) -> bytes:
            raise PermissionError

        monkeypatch.setattr(Path, "read_bytes", closed)
    assert own_headers(folder / "mine.cu", FORMS["plain"]) == []
    assert not source_hash(folder / "mine.cu", FORMS["plain"])[1]
