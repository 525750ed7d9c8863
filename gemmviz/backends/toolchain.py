"""The C compiler: Clang from the ``ziglang`` wheel, or the one that an environment variable names."""

import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from gemmviz import data
from gemmviz.catalogue.errors import BuildError, Unavailable
from gemmviz.language import mark, tr

VARIABLE = "GEMMVIZ_CC"
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*["<]([^">\n]+)[">]', re.MULTILINE)
_DIAGNOSTIC = re.compile(r"^(?P<file>[^\n]+?):(?P<line>\d+):(?:\d+:)? (?:fatal )?error: (?P<text>.*)$", re.MULTILINE)
_ASKED = re.compile(
    r"^(?P<file>[^\n]+?):(?P<line>\d+):(?:\d+:)? (?:note: in instantiation of|  required from)", re.MULTILINE
)
# As the C library says it, and Zig.
_FULL = re.compile(r"No space left on device|Disk quota exceeded|\bNoSpaceLeft\b|\bDiskQuota\b")
# The first use of a compiler is slow: it may build its own runtime first.
BUILD_TIMEOUT_S = 300


@dataclass(frozen=True)
class Compiler:
    """A C and C++ compiler.

    Attributes
    ----------
    command
        How it is started.
    kind
        Which dialect of flags it takes.
    version
        The first line of its own answer.
    """

    command: tuple[str, ...]
    kind: Literal["clang", "gcc"]
    version: str


@cache
def compiler() -> Compiler:
    """Return the compiler of this machine.

    The environment variable ``GEMMVIZ_CC`` (for example ``gcc``) goes before the ``ziglang`` wheel.

    Raises
    ------
    Unavailable
        When there is none; the message says how to get one.
    """
    named = shlex.split(os.environ.get(VARIABLE, ""))
    if named:
        if shutil.which(named[0]) is None:
            raise Unavailable(
                tr("{variable} names {name}, which is not on the PATH", variable=VARIABLE, name=repr(named[0]))
            )
        command = tuple(named)
    elif importlib.util.find_spec("ziglang"):
        command = (sys.executable, "-m", "ziglang", "cc")
    else:
        said = mark("no C compiler: `pip install ziglang`, or let {variable} name one (for example gcc)")
        raise Unavailable(tr(said, variable=VARIABLE))
    answer = _run([*command, "--version"])
    if answer.returncode != 0:
        why = _first_line(answer.stderr)
        raise Unavailable(tr("the compiler {command} does not start: {why}", command=shlex.join(command), why=why))
    kind: Literal["clang", "gcc"] = "clang" if "clang" in answer.stdout else "gcc"
    return Compiler(command, kind, _first_line(answer.stdout))


def compile_shared(sources: Sequence[Path | str], output: Path, flags: Sequence[str], blame: Path) -> None:
    """Compile and link `sources` into the shared library `output`, which appears whole or not at all.

    Parameters
    ----------
    sources
        Files and the ``-x language`` switches between them, in order.
    output
        Where the library goes; its folder exists.
    flags
        Further arguments.
    blame
        The user's file: errors in it keep their line number.

    Raises
    ------
    BuildError
        When the compiler refuses the source, with its first error as message.
    Unavailable
        When there is no compiler.
    """
    _build([*flags, "-shared", "-fPIC", *map(str, sources)], output, blame)


def compile_object(source: Path, output: Path, flags: Sequence[str], blame: Path) -> None:
    """Compile `source` into the object file `output`; otherwise as `compile_shared`."""
    _build([*flags, "-c", "-fPIC", str(source)], output, blame)


def _build(arguments: Sequence[str], output: Path, blame: Path) -> None:
    handle, name = tempfile.mkstemp(dir=output.parent, prefix=".build-", suffix=output.suffix)
    os.close(handle)
    temporary = Path(name)
    try:
        command = [*compiler().command, *arguments, "-o", name]
        answer = _run(command)
        if answer.returncode != 0:
            raise no_room(answer.stderr, output.parent) or first_error(answer.stderr, blame)
        temporary.replace(output)
    finally:
        temporary.unlink(missing_ok=True)


def line_directive(path: Path) -> str:
    """Return the directive after which the compiler counts lines as if it read the file of that name."""
    escaped = path.name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'#line 1 "{escaped}"'


def included(text: str, folder: Path) -> list[str]:
    """Return the texts of the files below `folder` that `text` includes, directly or not."""
    found: dict[Path, str] = {}
    waiting = [(text, folder)]
    while waiting:
        body, beside = waiting.pop()
        for name in _INCLUDE.findall(body):
            for path in {beside / name, folder / name}:
                if path not in found and path.is_file():
                    found[path] = path.read_text(encoding="utf-8", errors="replace")
                    waiting.append((found[path], path.parent))
    return [found[path] for path in sorted(found)]


def no_room(text: str, folder: Path) -> Unavailable | None:
    """Return the error of a compiler that had no room to write, for which no source is to blame; None elsewhere."""
    if not _FULL.search(text):
        return None
    return Unavailable(
        tr(
            "there is no room left to compile in {folder}: make room there, or let {variable} name another folder",
            folder=folder,
            variable="XDG_CACHE_HOME",
        )
    )


def first_error(text: str, blame: Path) -> BuildError:
    """Return the compiler's first error, by preference the first one in the file `blame`."""
    found = list(_DIAGNOSTIC.finditer(text))
    ends = [*(d.start() for d in found[1:]), len(text)]
    begins = [0, *(d.end() for d in found)]
    for error, begin, end in zip(found, begins, ends, strict=False):
        # Clang tells after an error in a template who asked for it, GCC before.
        after, around = text[error.end() : end], text[begin:end]
        line = _line_in(blame, error) or _asked_for(blame, after) or _asked_for(blame, around)
        if line:
            return BuildError(f"{blame.name}:{line}: {_said(error)}", line)
    if found:
        return BuildError(f"{blame.name}: {_said(found[0])}")
    why = _first_line(text) or tr("the compiler said nothing")
    return BuildError(tr("{file} does not compile: {why}", file=blame.name, why=why))


def _line_in(blame: Path, error: re.Match[str]) -> int:
    return int(error["line"]) if Path(error["file"]).name == blame.name else 0


def _asked_for(blame: Path, text: str) -> int:
    """Return the line of the file `blame` that made the compiler look at a template, or 0."""
    found = [m for m in _ASKED.finditer(text) if Path(m["file"]).name == blame.name]
    return int(found[-1]["line"]) if found else 0


def _said(error: re.Match[str]) -> str:
    """Return what an error says; of an assertion its own sentence."""
    return re.sub(r"^static assertion failed(?: due to requirement '.*?')?: ", "", error["text"])


def _run(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    environment = dict(os.environ)
    if "ZIG_GLOBAL_CACHE_DIR" not in environment:
        environment["ZIG_GLOBAL_CACHE_DIR"] = str(data.cache_folder("zig")[0])
    environment.setdefault("ZIG_LOCAL_CACHE_DIR", environment["ZIG_GLOBAL_CACHE_DIR"])
    try:
        return subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            env=environment,
            timeout=BUILD_TIMEOUT_S,
            stdin=subprocess.DEVNULL,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise BuildError(tr("the compiler did not end within {time} s", time=BUILD_TIMEOUT_S)) from None
    except OSError as error:
        raise Unavailable(tr("the compiler cannot be started: {why}", why=error)) from None


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "")
