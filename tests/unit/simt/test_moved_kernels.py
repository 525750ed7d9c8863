"""A kernel that was copied or moved is not compiled again, unless it can find other files in its new folder."""

from pathlib import Path

import hostile
import pytest
from small_kernel import CODE, source

from gemmviz.backends.entry import folder_of_headers
from gemmviz.backends.native import compile_kernel
from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.simt.build import build


def built(folder: Path, above: str, first: str = "") -> Path:
    code = above + CODE.replace("{\n", "{\n    " + first, 1)
    return build(launch(parse(source(code), folder / "07_mine.cu"), Problem.cube(8)))


@pytest.mark.parametrize(
    ("above", "first"),
    [
        ("", ""),
        ("#include <cstdint>\n", ""),
        ("", 'asm volatile("add.s32 %0, %0, 1;" : "+r"(N));'),
    ],
    ids=["alone", "system header", "inline PTX"],
)
def test_a_copy_in_another_folder_has_the_same_recorder(tmp_path: Path, above: str, first: str) -> None:
    assert built(tmp_path / "here", above, first) == built(tmp_path / "there", above, first)


@pytest.mark.parametrize(
    "above",
    ['#include "cstdint"\n', "#if __has_include(<any.bin>)\n#endif\n", "#define NAME <cstdint>\n#include NAME\n"],
    ids=["own header", "question for a header", "computed name"],
)
def test_a_source_that_may_find_other_files_there_is_built_anew(tmp_path: Path, above: str) -> None:
    assert built(tmp_path / "here", above) != built(tmp_path / "there", above)


def test_a_header_in_the_folder_with_a_system_header_s_name_counts(tmp_path: Path) -> None:
    (tmp_path / "there" / "stdint.h").mkdir(parents=True)  # nothing that we read, but the compiler looks there
    above = "#include <stdint.h>\n"
    assert built(tmp_path / "here", above) != built(tmp_path / "there", above)


def test_a_measured_c_kernel_is_not_compiled_again_for_a_copy(tmp_path: Path) -> None:
    def measured(folder: str, top: str = "") -> Path:
        kernel = parse(hostile.source(top=top), tmp_path / folder / "right.c")
        return compile_kernel(launch(kernel, Problem.cube(8)))[0]

    assert measured("here") == measured("there")
    # The assembler can include files.
    assert measured("here", '__asm__(".globl nothing");') != measured("there", '__asm__(".globl nothing");')


def test_a_name_that_no_file_can_have_is_no_header_of_the_folder(tmp_path: Path) -> None:
    job = launch(parse(source(), tmp_path / "07_mine.cu"), Problem.cube(8))
    assert folder_of_headers(f"#include <{'a' * 300}>\n", job) is None
