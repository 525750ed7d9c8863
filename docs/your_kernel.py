"""Keeps the outputs and the table of ``docs/your-kernel.md`` true: runs its commands and its refused kernels.

``python docs/your_kernel.py`` writes both into the page. A block of the page that starts with ``$ gemmviz ...`` is run
as it stands, in a folder with the files of ``docs/examples``, one after another. ``docs/your_kernel.toml`` has the
kernels that are refused, as changes of the example; each with the message of gemmviz.
"""

import argparse
import io
import os
import re
import shlex
import shutil
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass
from pathlib import Path

from gemmviz.cli import run

_DOCS = Path(__file__).parent
PAGE = _DOCS / "your-kernel.md"
EXAMPLES = _DOCS / "examples"
_CASES = _DOCS / "your_kernel.toml"
_BLOCK = re.compile(r"^```console\n\$ (?P<command>gemmviz .*)\n(?P<output>(?:.*\n)*?)```$", re.MULTILINE)
_TABLE = re.compile(r"(?<=<!-- refused: begin -->\n).*?(?=<!-- refused: end -->)", re.DOTALL)
_WIDTH = "110"


@dataclass(frozen=True)
class Block:
    """A command of the page, and its output there."""

    command: str
    output: str


@dataclass(frozen=True)
class Case:
    """A kernel that is refused: the example with some text in the place of another, the reason, and what to do."""

    name: str
    old: str
    new: str
    command: str
    why: str
    do: str

    @property
    def text(self) -> str:
        """The changed example."""
        text = (EXAMPLES / "matmul.cu").read_text(encoding="utf-8")
        if self.old not in text:
            raise ValueError(f"{self.name}: the example has no {self.old!r}")
        return text.replace(self.old, self.new)


def blocks(page: str) -> list[Block]:
    """Return the commands of the page."""
    return [Block(found["command"], found["output"]) for found in _BLOCK.finditer(page)]


def outputs(commands: list[str]) -> Iterator[str]:
    """Run some commands one after another, in a folder with the examples; yield the output of each."""
    with _folder() as folder:
        for path in EXAMPLES.iterdir():
            shutil.copy(path, folder)
        for command in commands:
            yield output_of(command)


def cases() -> list[Case]:
    """Return the kernels that are refused."""
    table = tomllib.loads(_CASES.read_text(encoding="utf-8"))
    return [Case(name=name, **case) for name, case in table.items()]


def message(case: Case) -> str:
    """Return gemmviz's message for a refused kernel: its first question, else the last line of its output."""
    with _folder() as folder:
        (folder / "matmul.cu").write_text(case.text, encoding="utf-8")
        lines = output_of(case.command).splitlines()
    asked = (line for line in lines if line.startswith("? "))
    return next(asked, lines[-1]).removeprefix("? ").removeprefix("gemmviz: ").removeprefix("nothing was written: ")


def rows(messages: list[tuple[Case, str]]) -> str:
    """Return the table of refused kernels."""
    lines = ["| message | why | what to do |", "|---|---|---|"]
    lines += [f"| {_cell(text)} | {case.why} | {case.do} |" for case, text in messages]
    return "\n".join(lines) + "\n"


def output_of(command: str) -> str:
    """Run a command of the page; return all that it prints, without spaces at the ends of lines."""
    out = io.StringIO()
    with redirect_stdout(out), redirect_stderr(out), suppress(SystemExit):
        run(shlex.split(command)[1:])
    return "".join(f"{line.rstrip()}\n" for line in out.getvalue().splitlines())


@contextmanager
def _folder() -> Iterator[Path]:
    """Provide a folder as the current one, and a terminal that is always as wide."""
    before, columns = Path.cwd(), os.environ.get("COLUMNS")
    with tempfile.TemporaryDirectory() as name:
        os.environ["COLUMNS"] = _WIDTH
        os.chdir(name)
        try:
            yield Path(name)
        finally:
            os.chdir(before)
            os.environ.pop("COLUMNS")
            if columns is not None:
                os.environ["COLUMNS"] = columns


def _cell(text: str) -> str:
    return "`` " + text.replace("|", "\\|") + " ``" if "`" in text else f"`{text}`"


def main() -> int:
    """Write the page anew."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.parse_args()
    page = PAGE.read_text(encoding="utf-8")
    new = iter(list(outputs([block.command for block in blocks(page)])))
    page = _BLOCK.sub(lambda found: f"```console\n$ {found['command']}\n{next(new)}```", page)
    table = rows([(case, message(case)) for case in cases()])
    PAGE.write_text(_TABLE.sub(lambda _: table, page), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
