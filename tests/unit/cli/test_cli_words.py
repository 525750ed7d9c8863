"""The first word of the command line: a command, a file to open, or a kernel's name."""

import pytest

from gemmviz.cli import _with_window


@pytest.mark.parametrize(
    "words", [[], ["mine.cu"], ["--kernel", "gputiled"], ["gputiled"], ["stream_k", "--size", "8"]]
)
def test_a_file_and_a_kernel_open_the_window(words: list[str]) -> None:
    assert _with_window(words) == ["window", *words]


@pytest.mark.parametrize("words", [["list"], ["bench", "gputiled"], ["gputilde"], ["--help"]])
def test_commands_and_unknown_words_stay(words: list[str]) -> None:
    assert _with_window(words) == words
