"""The name of a kernel, with the folders that the path of its file repeats."""

from pathlib import Path

import pytest

from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.own_name import named_alike, own_name, plain, shown_file, told_apart
from gemmviz.session.models.two_versions import Side, TwoVersions
from gemmviz.session.trust.trust import Trust


def apart(path: str, *names: str) -> Path:
    return told_apart(Path(path), lambda name: name in names)


@pytest.mark.parametrize(
    "path", ["/a/matmul.cu", "/a/../b/matmul.cu", "/a/gemmviz/../kernels/gpu/30_matmul.cu", "/matmul.cu"]
)
def test_a_path_that_repeats_nothing_gives_the_file_s_name(path):
    assert own_name(Path(path)) == "matmul" and plain(Path(path)) == Path(path)
    assert shown_file(Path(path)) == Path(path).name


def test_a_name_that_is_taken_gets_as_many_folders_as_it_needs():
    assert apart("/a/b/matmul.cu") == Path("/a/b/matmul.cu")
    one = apart("/a/b/matmul.cu", "matmul")
    two = apart("/a/b/matmul.cu", "matmul", "matmul (b)")
    assert (own_name(one), own_name(two)) == ("matmul (b)", "matmul (a-b)")
    assert (shown_file(one), shown_file(two)) == ("b/matmul.cu", "a/b/matmul.cu")
    assert plain(one) == plain(two) == Path("/a/b/matmul.cu")
    assert own_name(one.with_stem("matmul~edited")) == "matmul (b)~edited"


def test_the_path_is_of_the_same_file(tmp_path):
    path = tmp_path / "matmul.cu"
    path.write_text("here")
    assert told_apart(path, lambda name: name == "matmul").read_text() == "here"


def test_another_place_of_the_file_has_the_same_name():
    """On a worker, files are below a folder of its own."""
    path = apart("/a/b/matmul.cu", "matmul")
    assert own_name(named_alike(Path("/tmp/w/a/b/matmul.cu"), path)) == "matmul (b)"


def test_two_versions_with_one_name_have_their_folders():
    trust = Trust([])
    versions = TwoVersions(trust)
    one, other = (Kernel("m", Path(f"/{folder}/m.cu"), "", "cuda", "m") for folder in ("old", "new"))
    versions.choose(Side("m.cu", one), None)
    versions.choose(versions.before, Side("m.cu", other))
    assert [side.name for side in versions.sides] == ["old/m.cu", "new/m.cu"]
