"""The C compiler of this machine: Clang from the ``ziglang`` wheel, or the compiler in an environment variable.

It is asked for its version once, and the answer is kept in the cache until its program changes: to start it takes as
long as to record a small kernel.
"""

import hashlib
import importlib.util
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from gemmviz import data
from gemmviz.backends import zig
from gemmviz.catalogue.errors import CompileStopped, Unavailable
from gemmviz.language import mark, tr
from gemmviz.sandbox import confined, kept

VARIABLE = "GEMMVIZ_CC"
# The first use of a compiler may be slow: it may build its own runtime first.
BUILD_TIMEOUT_S = 300


@dataclass(frozen=True)
class Compiler:
    """A C and C++ compiler.

    Attributes
    ----------
    command
        The command as text for people.
    start
        The command that starts it.
    programs
        The programs that it starts, including itself, by path; empty if they are unknown.
    kind
        The dialect of its flags.
    version
        The first line of its version text.
    """

    command: tuple[str, ...]
    start: tuple[str, ...]
    programs: tuple[Path, ...]
    kind: Literal["clang", "gcc"]
    version: str

    @property
    def key(self) -> str:
        """What its code depends on besides text and flags: code for one processor may not run on another one."""
        return f"{self.version}\0{zig.processor()}"


@cache
def compiler() -> Compiler:
    """Return the compiler of this machine.

    The environment variable ``GEMMVIZ_CC`` (for example ``gcc``) has priority over the ``ziglang`` wheel.

    Raises
    ------
    Unavailable
        When there is none; the message says how to install one.
    """
    named = shlex.split(os.environ.get(VARIABLE, ""))
    if named:
        if shutil.which(named[0]) is None:
            raise Unavailable(
                tr("{variable} names {name}, which is not on the PATH", variable=VARIABLE, name=repr(named[0]))
            )
        command = start = tuple(named)
    elif spec := importlib.util.find_spec("ziglang"):
        command = (sys.executable, "-m", "ziglang", "cc")
        # The program that the module starts, without Python in between.
        zig = Path(spec.origin or "").parent / "zig"
        start = (str(zig), "cc") if zig.is_file() else command
    else:
        text = mark("no C compiler: `pip install ziglang`, or let {variable} name one (for example gcc)")
        raise Unavailable(tr(text, variable=VARIABLE))
    version = _kept_version(start) if start != command else _version(start)
    kind: Literal["clang", "gcc"] = "clang" if "clang" in version else "gcc"
    return Compiler(command, start, _programs(start), kind, first_line(version))


def _version(start: Sequence[str]) -> str:
    """Return the version text of a compiler."""
    answer = run_compiler([*start, "--version"], environment())
    if answer.returncode != 0:
        why = first_line(answer.stderr)
        raise Unavailable(tr("the compiler {command} does not start: {why}", command=shlex.join(start), why=why))
    return answer.stdout


def _kept_version(start: Sequence[str]) -> str:
    """Return the version text of the wheel's compiler. It is one file, so a change of it is seen from outside."""
    folder, _ = data.cache_folder("recorders")
    found = Path(start[0]).stat()
    line = f"{start} {found.st_ino} {found.st_size} {found.st_mtime_ns}"
    name = f"compiler-{hashlib.sha256(line.encode()).hexdigest()[:24]}"
    if known := kept.find(folder, name):
        with suppress(OSError):
            return known.read_text(encoding="utf-8")
    version = _version(start)
    # If nothing can be written, it is started again the next time.
    with suppress(OSError), tempfile.TemporaryDirectory(prefix="gemmviz-", dir=confined.scratch()) as work:
        made = Path(work) / "version.txt"
        made.write_text(version, encoding="utf-8")
        kept.keep(made, folder, name)
    return version


def program() -> Path | None:
    """Return the file of this machine's compiler, which is not started for this; None if there is none."""
    if named := shlex.split(os.environ.get(VARIABLE, "")):
        found = shutil.which(named[0])
        return Path(found).resolve() if found else None
    if spec := importlib.util.find_spec("ziglang"):
        module = Path(spec.origin or "")
        started = module.parent / "zig"
        return started if started.is_file() else module
    return None


def _programs(start: Sequence[str]) -> tuple[Path, ...]:
    """Return the programs that a compiler starts, including itself; empty if they are unknown."""
    found = shutil.which(start[0])
    if found is None or start == (sys.executable, "-m", "ziglang", "cc"):
        return ()
    program = Path(found).resolve()
    with program.open("rb") as file:
        if file.read(4) != b"\x7fELF" or len(start) > 2:  # a script, or a program that starts another one
            return ()
    if program.name == "zig":
        return (program,)
    parts = [program]
    for name in ("cc1", "as", "ld"):
        result = run_compiler([*start, f"-print-prog-name={name}"], environment())
        place = shutil.which(result.stdout.strip())
        if result.returncode or place is None:
            continue
        # The folder of GCC's compiler also has those for other languages, and the linker's wrapper.
        parts.append(Path(place).resolve().parent if name == "cc1" else Path(place).resolve())
    return tuple(parts)


def environment() -> dict[str, str]:
    """Return the environment variables of a compiler."""
    variables = dict(os.environ)
    if "ZIG_GLOBAL_CACHE_DIR" not in variables:
        variables["ZIG_GLOBAL_CACHE_DIR"] = str(data.cache_folder("zig")[0])
    variables.setdefault("ZIG_LOCAL_CACHE_DIR", variables["ZIG_GLOBAL_CACHE_DIR"])
    return variables


def run_compiler(command: Sequence[str], variables: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Start a compiler without a sandbox, and wait for its end.

    Parameters
    ----------
    command
        The compiler and its arguments.
    variables
        Its environment variables.

    Raises
    ------
    CompileStopped
        When it does not end in time.
    Unavailable
        When it cannot be started.
    """
    try:
        return subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            env=variables,
            timeout=BUILD_TIMEOUT_S,
            stdin=subprocess.DEVNULL,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise CompileStopped(tr("the compiler did not end within {time} s", time=BUILD_TIMEOUT_S)) from None
    except OSError as error:
        raise Unavailable(tr("the compiler cannot be started: {why}", why=error)) from None


def first_line(text: str) -> str:
    """Return the first line of a text that is not blank."""
    return next((line.strip() for line in text.splitlines() if line.strip()), "")
