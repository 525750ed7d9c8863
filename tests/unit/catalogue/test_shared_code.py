"""A kernel file may take its code from another one: it is then that code, described by both."""

from pathlib import Path

import pytest

from gemmviz.bench import results
from gemmviz.catalogue.breaks import broken
from gemmviz.catalogue.errors import FrontMatterError
from gemmviz.catalogue.kernel import code, load, parse, read
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.trace.recording.record import record

FIRST = """// ---gemmviz
// version = 2
// title = "The first"
// entry = "k<float, TS>"
// args = ["A", "B", "C", "N"]
// params = { TS = [4, 2] }
// requires = [
//   "N % TS == 0",
//   "M % TS == 0"
// ]
// block = ["TS", "TS"]
// grid = ["ceil(N / TS)", "ceil(M / TS)"]
// ---
template <typename T, int TS> __global__ void k(const T *A, const T *B, T *C, int N)
{
    int i = blockIdx.y * TS + threadIdx.y, j = blockIdx.x * TS + threadIdx.x;
    T sum = 0;
    for (int e = 0; e < N; e++)
        sum += A[i * N + e] * B[e * N + j];
    C[i * N + j] = sum;
}

// ---gemmviz breaks
// [none]
// title = "Nothing added"
// find = "+="
// replace = "="
// ---
"""
SECOND = """// ---gemmviz
// version = 3
// code_of = "1_first.cu"
// title = "The second"
// entry = "k<double, TS>"
// dtype = "float64"
// ---
"""


@pytest.fixture
def second(tmp_path):
    (tmp_path / "1_first.cu").write_text(FIRST)
    path = tmp_path / "2_second.cu"
    path.write_text(SECOND)
    return path


def test_it_is_the_other_files_code_with_its_own_front_matter(second):
    first, kernel = load(second.with_name("1_first.cu")), load(second)
    assert (kernel.name, kernel.title, kernel.dtype, kernel.version) == ("second", "The second", "float64", 3)
    assert (kernel.params, kernel.requires) == (first.params, first.requires), "what it does not say is as there"
    assert kernel.text[slice(*code(kernel.text))] == first.text[slice(*code(first.text))]
    assert [change.id for change in first.breaks] == ["none"] and kernel.breaks == ()
    assert kernel.sha256 != first.sha256


def test_its_text_is_whole_and_its_lines_are_that_texts(second):
    kernel = load(second)
    assert parse(kernel.text, second) == kernel and "code_of" not in kernel.text
    line = kernel.text.split("\n").index("    C[i * N + j] = sum;") + 1
    recording = record(launch(kernel, Problem.cube(4)))
    assert recording.wrong == 0 and recording.text == kernel.text
    assert line in {site.line for site in recording.sites}


def test_as_it_is_on_file_it_is_not_edited(second):
    kernel = load(second)
    assert not results.new_row(kernel, Problem.cube(4), {})["edited"]
    edited = parse(kernel.text.replace("sum = 0", "sum = 1"), second)
    assert results.new_row(edited, Problem.cube(4), {})["edited"]


def test_its_own_declared_changes_are_made_in_that_code(second):
    second.write_text(SECOND + FIRST[FIRST.index("\n// ---gemmviz breaks") :].replace("[none]", "[mine]"))
    variant = broken(load(second), ["mine"])
    assert variant.name == "second~mine" and "sum = A[i * N + e]" in variant.text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (SECOND.replace("1_first.cu", "0_none.cu"), "2_second.cu:3: code_of names '0_none.cu', which is no file"),
        (SECOND.replace('"1_first.cu"', "7"), "2_second.cu:3: code_of must be the name of a file in the same folder"),
        (SECOND.replace("1_first.cu", "../1_first.cu"), "code_of must be the name of a file in the same folder"),
        (SECOND.replace("1_first.cu", "2_second.cu"), "which has no front matter, or no code"),
        (SECOND + "int more;\n", "2_second.cu:3: code_of is for a file that has no code of its own"),
        # Where both files are read, it is the line of the whole text, as it is shown.
        (SECOND.replace('"float64"', '"float7"'), "2_second.cu:13: dtype must be one of"),
    ],
)
def test_what_is_wrong_with_it_is_said_with_its_line(second, text, message):
    second.write_text(text)
    with pytest.raises(FrontMatterError) as caught:
        load(second)
    assert message in str(caught.value)


def test_a_text_that_is_being_edited_names_no_other_file():
    with pytest.raises(FrontMatterError, match=r"mine\.cu:3: code_of is for a file that has no code of its own"):
        parse(SECOND, Path("mine.cu"))


def test_the_two_rungs_of_stream_k_with_tma_are_one_source():
    half, bfloat = (find(name, ladder()) for name in ("stream_k_tma", "stream_k_tma_bf16"))
    assert half.text[slice(*code(half.text))] == bfloat.text[slice(*code(bfloat.text))]
    assert (half.dtype, bfloat.dtype) == ("float16", "bfloat16")
    assert [kernel.entry.split("<")[1].split(",")[0] for kernel in (half, bfloat)] == ["half", "__nv_bfloat16"]
    assert read(bfloat.path) == bfloat.text and "wgmma" not in bfloat.path.read_text(encoding="utf-8")
