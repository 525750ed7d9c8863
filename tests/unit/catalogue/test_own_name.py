"""The name of a kernel: that of its file, with folders where another kernel has it."""

from dataclasses import replace
from pathlib import Path

import pytest

from gemmviz.catalogue.breaks import broken
from gemmviz.catalogue.kernel import Kernel, parse
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.own_name import own_name, told_apart
from gemmviz.session.models.choice import Choice
from gemmviz.session.models.two_versions import Side, TwoVersions
from gemmviz.session.trust.trust import Trust


def apart(path: str, *names: str) -> str:
    return told_apart(Path(path), lambda name: name in names)


@pytest.mark.parametrize("path", ["/a/matmul.cu", "/a/kernels/gpu/30_matmul.cu", "/matmul.cu", "matmul.cu"])
def test_without_folders_a_name_is_that_of_the_file(path):
    assert own_name(Path(path)) == "matmul"


def test_a_name_that_is_taken_gets_as_many_folders_as_it_needs():
    assert apart("/a/b/matmul.cu") == ""
    assert apart("/a/b/matmul.cu", "matmul") == "b"
    assert apart("/a/b/matmul.cu", "matmul", "matmul (b)") == "a/b"
    assert own_name(Path("/a/b/matmul.cu"), "a/b") == "matmul (a-b)"
    assert own_name(Path("/a/b/matmul~edited.cu"), "b") == "matmul (b)~edited"
    # No folder is left.
    assert apart("/matmul.cu", "matmul") == ""
    assert apart("/b/matmul.cu", "matmul", "matmul (b)") == ""


def test_a_kernel_with_folders_keeps_them_when_it_is_changed():
    shipped = find("gputiled", ladder())
    kernel = parse(shipped.text, Path("/home/me/new/gputiled.cu"), "me/new")
    assert (kernel.name, kernel.shown_file) == ("gputiled (me-new)", "me/new/gputiled.cu")
    variant = broken(kernel, ["no-second-barrier"])
    assert (variant.name, variant.base_name) == ("gputiled (me-new)~no-second-barrier", "gputiled (me-new)")
    assert kernel.sha256 == shipped.sha256 and shipped.shown_file == shipped.path.name


def test_the_list_gives_a_file_its_folders_and_keeps_them():
    choice = Choice(ladder())
    text = find("gputiled", choice.kernels).text
    for folder, name in (("a/b", "gputiled (b)"), ("c/b", "gputiled (c-b)"), ("a/b", "gputiled (b)")):
        choice.add_kernel(parse(text, Path(f"/{folder}/gputiled.cu")))
        assert choice.base.name == choice.kernel.name == name
    choice.edit(text + "// mine\n")
    assert choice.kernel.name == "gputiled (b)~edited" and choice.title == "b/gputiled.cu, edited"
    choice.renew(parse(text + "\n", Path("/c/b/gputiled.cu")))
    assert sorted(k.name for k in choice.kernels if k.path.name == "gputiled.cu") == ["gputiled (b)", "gputiled (c-b)"]
    # A change of a file is named as the file.
    other = broken(parse(text, Path("/c/b/gputiled.cu")), ["no-second-barrier"])
    assert choice.named(other).base_name == "gputiled (c-b)"
    library = find("numpy", choice.kernels)
    assert choice.named(library) is library


def test_two_versions_with_one_name_have_their_folders():
    trust = Trust([])
    versions = TwoVersions(trust)
    one, other = (Kernel("m", Path(f"/{folder}/m.cu"), "", "cuda", "m") for folder in ("old", "new"))
    versions.choose(Side("m.cu", one), None)
    versions.choose(versions.before, Side("m.cu", other))
    assert [side.name for side in versions.sides] == ["old/m.cu", "new/m.cu"]
    same = replace(one, path=Path("/more/old/m.cu"))
    versions.choose(Side("m.cu", one), Side("m.cu", same))
    assert [side.name for side in versions.sides] == ["m.cu", "m.cu"]
