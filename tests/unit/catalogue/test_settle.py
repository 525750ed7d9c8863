"""A guess is tried by recordings, and what they find wrong is tried another way."""

import dataclasses
from collections.abc import Callable
from pathlib import Path

import pytest
from guessed_texts import FILE, written

from gemmviz.catalogue.errors import BuildError
from gemmviz.catalogue.guessing.candidates import relaxed
from gemmviz.catalogue.guessing.guess import guess
from gemmviz.catalogue.guessing.one_step import ONE_TILE_ONLY
from gemmviz.catalogue.guessing.settle import settle
from gemmviz.catalogue.guessing.verdict import Reading, Verdict
from gemmviz.catalogue.kernel import Kernel, parse
from gemmviz.catalogue.launch import nearest_size
from gemmviz.catalogue.problem import Problem
from gemmviz.language import set_language

HOST = """
void run(float *a, float *b, float *c, int m, int n, int k)
{
    gemm<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16)>>>(a, b, c, m, n, k);
}
"""


def test_what_a_recording_finds_wrong_is_tried_another_way() -> None:
    text = written("float *A, float *B, float *C, int M, int N, int K", "M", "N", "K", "A", "B", "C")
    made = guess(text, Path("mine.cu"))
    tried: list[tuple[str, ...]] = []

    def only_with(kernel: Kernel, size: Problem) -> str:
        tried.append(kernel.args)
        return "" if kernel.args[0] == "B" else "12 elements are wrong"

    settled = settle(made, only_with)
    assert settled.right and settled.roles[:3] == ("B", "A", "C")
    assert tried[0][0] == "A"
    hopeless = settle(made, lambda kernel, size: "12 elements are wrong")
    assert not hopeless.right and "12 elements are wrong" in hopeless.settled
    assert hopeless.roles == made.roles


def test_a_size_that_goes_wrong_makes_tiles_a_condition() -> None:
    text = written("float *A, float *B, float *C, int M, int N, int K", "M", "N", "K", "A", "B", "C")
    settled = settle(guess(text, Path("mine.cu")), lambda kernel, size: "out of bounds" if size.m % 16 else "")
    assert settled.right and "M % 16 == 0" in settled.requires


def test_a_size_that_is_too_large_for_a_recording_is_no_fault() -> None:
    text = written("float *A, float *B, float *C, int M, int N, int K", "M", "N", "K", "A", "B", "C")
    made = guess(text, Path("mine.cu"))

    def small_only(kernel: Kernel, size: Problem) -> Verdict:
        large = size.m * size.n > 96 * 96
        return Verdict.of("too many accesses" if large else "", refused=large)

    settled = settle(made, small_only)
    assert settled.right and settled.roles == made.roles and "too many" not in settled.settled
    assert not settle(made, lambda kernel, size: Verdict.of("too many accesses", refused=True)).right


def test_a_kernel_with_large_tiles_is_tried_at_a_second_depth_too() -> None:
    text = written("float *A, float *B, float *C, int M, int N, int K", "M", "N", "K", "A", "B", "C")
    asked = dataclasses.replace(guess(text, Path("mine.cu")), requires=("M % 256 == 0", "N % 128 == 0"))
    settled = settle(asked, lambda kernel, size: "out of bounds" if size.k % 32 else "")
    assert settled.right and settled.requires == ("M % 256 == 0", "N % 128 == 0", "K % 32 == 0")
    assert "and at 256 x 128 x 96" in settled.settled


@pytest.mark.parametrize("step", [64, 96])
def test_large_tiles_with_deep_steps_are_tried_with_two_steps(step: int) -> None:
    text = written("float *A, float *B, float *C, int M, int N, int K", "M", "N", "K", "A", "B", "C")
    conditions = ("M % 256 == 0", "N % 128 == 0")
    asked = dataclasses.replace(guess(text, Path("mine.cu")), requires=(*conditions, "K % 32 == 0"))
    settled = settle(asked, lambda kernel, size: "out of bounds" if size.k % step or size.k < 64 else "")
    assert settled.right is (step == 64)
    assert step != 64 or settled.requires == (*conditions, "K % 64 == 0")


def test_a_pipeline_with_large_tiles_is_not_tried_at_a_depth_of_one_tile() -> None:
    text = written("float *A, float *B, float *C, int M, int N, int K", "M", "N", "K", "A", "B", "C")
    conditions = ("M % 256 == 0", "N % 256 == 0", "K % 16 == 0")
    asked = dataclasses.replace(guess(text + HOST, Path("mine.cu")), requires=conditions, grid=("N / 256", "M / 256"))
    settled = settle(asked, lambda kernel, size: "out of bounds" if size.k < 48 else "")
    assert settled.right and settled.requires == conditions


def test_a_size_is_tried_at_a_multiple_of_what_is_asked_and_of_no_more() -> None:
    text = written("float *A, float *B, float *C, int M, int N, int K", "M", "N", "K", "A", "B", "C")
    made = guess(text, Path("mine.cu"))
    asked = dataclasses.replace(made, requires=("K % 4 == 0",))
    settled = settle(asked, lambda kernel, size: "out of bounds" if size.k % 32 else "")
    assert settled.right and settled.requires == ("K % 32 == 0",)
    assert "so it asks for K % 32 == 0" in settled.settled
    open_ = settle(made, lambda kernel, size: "misaligned" if size.n % 8 and size.k > 1 else "")
    assert open_.right and "M % 16 == 0" not in open_.requires
    hopeless = settle(asked, lambda kernel, size: "" if size.k == 64 else "out of bounds")
    assert not hopeless.right and hopeless.requires == asked.requires
    assert "out of bounds" in hopeless.settled


def test_a_size_of_many_columns_does_not_hide_rows_that_are_left_out() -> None:
    made = guess(
        written("float *A, float *B, float *C, int M, int N, int K", "M", "N", "K", "A", "B", "C"), Path("m.cu")
    )
    wide = dataclasses.replace(made, requires=("N % 128 == 0",))
    settled = settle(wide, lambda kernel, size: "elements are wrong" if 2 * size.m > size.n else "", alternatives=False)
    assert not settled.right and "at 256 x 256 x 16" in settled.settled
    assert settle(wide, lambda kernel, size: "", alternatives=False).right


def test_a_source_that_does_not_compile_is_tried_once() -> None:
    count = []

    def refuse(kernel: Kernel, size: Problem) -> str:
        count.append(size)
        raise BuildError("mine.cu:3: expected ';'", 3)

    made = guess(written("float *A, float *B, float *C, int n", "n", "n", "n", "A", "B", "C"), Path("mine.cu"))
    assert "expected ';'" in settle(made, refuse).settled
    assert len(count) == 1


def test_sizes_that_must_be_equal_are_moved_together() -> None:
    text = (
        '// ---gemmviz\n// entry = "gemm"\n// args = ["A", "B", "C", "N"]\n// block = [16, 16]\n// grid = ["N / 16"]\n'
    )
    text += '// requires = ["M == N", "K == N", "N % 16 == 0"]\n// ---\n'
    assert nearest_size(parse(text + FILE, Path("mine.cu")), Problem(37, 45, 41), {}) == Problem.cube(48)


def test_a_kernel_that_is_right_with_one_tile_along_k_is_called_wrong_itself() -> None:
    text = written("float *A, float *B, float *C, int M, int N, int K", "M", "N", "K", "A", "B", "C")
    made = guess(text, Path("mine.cu"))

    def wrong_beyond(depth: int, *readings: Reading) -> Callable[[Kernel, Problem], Verdict]:
        def tried(kernel: Kernel, size: Problem) -> Verdict:
            read = {*kernel.column_major} == {"B"} and size.k <= depth
            return Verdict() if read else Verdict.of("12 elements are wrong", readings=readings, comparable=True)

        return tried

    turned = Reading(frozenset("B"))

    def with_its_layout(kernel: Kernel, size: Problem) -> Verdict:
        shown = wrong_beyond(32, *([turned] if size.k <= 32 else []))
        return shown(kernel, size)

    found = settle(made, with_its_layout)
    assert not found.right and found.settled.endswith(ONE_TILE_ONLY) and found.column_major == {"B"}
    assert "right at 48 x 96 x 32" in found.settled and "at 48 x 96 x 64: 12 elements" in found.settled
    # A kernel that is wrong with each depth, or adds up the first terms only, is not.
    assert ONE_TILE_ONLY not in settle(made, wrong_beyond(0)).settled
    first_terms = Reading(frozenset("B"), depth=32)
    assert ONE_TILE_ONLY not in settle(made, wrong_beyond(32, first_terms)).settled


@pytest.mark.parametrize(
    ("argument", "host", "asked"),
    [
        (", dim3 turned", "", "front matter has to say what turned is (args)"),
        (
            "",
            "",
            "no launch of it could be read: front matter has to give block and grid, or",
        ),
        (
            "",
            HOST,
            "its launch was read: front matter has to say which sizes it takes",
        ),
    ],
)
def test_a_kernel_that_was_never_right_says_what_front_matter_has_to_say(argument: str, host: str, asked: str) -> None:
    text = written(f"float *A, float *B, float *C, int M, int N, int K{argument}", "M", "N", "K", "A", "B", "C")
    settled = settle(guess(text + host, Path("mine.cu")), lambda kernel, size: "12 elements are wrong")
    assert not settled.right and asked in settled.settled
    assert ("12 elements" in settled.settled) == (not argument)  # a `?` cannot be recorded


def test_a_launch_keeps_the_condition_without_which_its_grid_is_no_whole_number() -> None:
    made = guess(FILE, Path("mine.cu"))
    right = dataclasses.replace(made, grid=("M / 8",), requires=("M % 8 == 0", "N % 32 == 0"))
    assert next(relaxed(right, made)).requires == ("M % 8 == 0",)


@pytest.mark.parametrize(
    ("language", "wrong", "hindered"),
    [
        ("en", "recorded at 48 x 32 x 64: 12 elements", "front matter has to say what turned is (args)"),
        ("ko", "48 x 32 x 64에서 기록: 12 elements", "turned의 역할을 front matter에 적어야 합니다(args)"),
        ("es", "grabado con 48 x 32 x 64: 12 elements", "el front matter debe decir qué es turned (args)"),
    ],
)
def test_the_outcome_of_a_trial_is_in_the_language_of_the_window(language: str, wrong: str, hindered: str) -> None:
    plain = written("float *A, float *B, float *C, int M, int N, int K", "M", "N", "K", "A", "B", "C")
    asked = written("float *A, float *B, float *C, int M, int N, int K, dim3 turned", "M", "N", "K", "A", "B", "C")
    set_language(language)
    try:
        outcomes = [
            settle(guess(text, Path("mine.cu")), lambda kernel, size: "12 elements").settled for text in (plain, asked)
        ]
    finally:
        set_language("en")
    assert outcomes[0].startswith(wrong) and outcomes[1].endswith(hindered)


def test_what_no_launch_can_help_is_said_alone() -> None:
    """Where each launch is refused for one reason, other launches, or a missing one, are no news."""
    text = written("float *A, float *B, float *C, int M, int N, int K", "M", "N", "K", "A", "B", "C")
    made = guess(text, Path("mine.cu"))
    found = settle(made, lambda kernel, size: Verdict.of("this instruction is not known", refused=True))
    assert found.settled.endswith(": this instruction is not known")
    other = settle(made, lambda kernel, size: Verdict.of(f"blocks {kernel.block} are too large", refused=True))
    assert "other launches are wrong too" in other.settled


def test_a_guess_that_is_no_launch_is_not_the_reason_where_others_were_recorded() -> None:
    text = written("float *A, float *B, float *C, int M, int N, int K", "M", "N", "K", "A", "B", "C")
    made = guess(text, Path("mine.cu"))
    unmade = dataclasses.replace(made, grid=("nothing",), others=())
    wrong = settle(dataclasses.replace(unmade, others=(made,)), lambda kernel, size: "12 elements are wrong")
    assert wrong.settled.startswith("recorded at") and "nothing" not in wrong.settled
    none = settle(dataclasses.replace(unmade, requires=("nothing == 1",)), lambda kernel, size: "12 elements are wrong")
    assert "nothing" in none.settled
    unread = settle(dataclasses.replace(unmade, grid=("N / {* n}",)), lambda kernel, size: "12 elements are wrong")
    assert "{" not in unread.settled
