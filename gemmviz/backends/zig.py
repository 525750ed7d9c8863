"""Clang and the linker inside Zig, started directly: `zig cc` is asked once which commands it starts.

For each file, `zig cc` searches the system's headers with the system's compiler, copies the object with the linker, and
keeps the object in its own cache for ever. A recorder needs 105 ms of processor time to compile and 48 ms to link that
way; Clang and the linker alone need 69 and 22 ms.
"""

import hashlib
import json
import os
import platform
import tempfile
import uuid
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from itertools import takewhile
from pathlib import Path

from gemmviz import data
from gemmviz.catalogue.typed_reading import Misfit, read_as
from gemmviz.sandbox import confined, kept

VERBOSE = {"ZIG_VERBOSE_CC": "1", "ZIG_VERBOSE_LINK": "1"}
"""The variables with which Zig prints the commands that it starts."""
WITHOUT_RUNTIME = "-rtlib=none"
"""Links a library without Clang's own runtime. Zig builds it at its first use, which takes 8 s of processor time."""
COMPLETE = "-Wl,-z,defs"
"""Ends a link with an error for each symbol that is defined nowhere."""
UNDEFINED = "undefined symbol: "
OF_RUNTIME = "undefined symbol: __"
"""In the errors of a link that needs the runtime, as few kernels do: for example to divide numbers of 128 bits."""
Ask = Callable[[list[str], Path], str]
"""Starts a command with `VERBOSE` and returns its errors; the second argument is a folder that it may write."""

# Flags that Zig passes to Clang unchanged: they need no command of their own.
_PASSED_ON = ("-D", "-I", "-iquote", "-idirafter")
_SOURCES, _OUTPUT = "<sources>", "<output>"
_EMPTY = "empty"
# Parts of glibc that are empty since version 2.34, when libc took over their functions. To read them takes as long as
# to read the objects of a recorder.
_EMPTY_LIBRARIES, _EMPTY_SINCE = ("-lpthread", "-ldl", "-lrt", "-lutil"), (2, 34)
# The facts of a processor on which Zig's flags for Clang depend.
_PROCESSOR = ("model name", "flags", "Features", "CPU part", "isa")


def is_zig(start: Sequence[str]) -> bool:
    """Return whether a compiler is Zig, by the command that starts it."""
    return len(start) == 2 and Path(start[0]).name == "zig"


def direct(start: Sequence[str], version: str, arguments: Sequence[str], output: Path, ask: Ask) -> list[str] | None:
    """Return the command of Clang or of the linker that ``zig cc`` starts for these arguments.

    Parameters
    ----------
    start, version
        The command of the compiler, and the first line of its version text.
    arguments
        The arguments of ``zig cc`` without its output: one source with ``-c`` or ``-E``, or objects with ``-shared``.
    output
        The path of its output.
    ask
        Called if this machine has not asked before.

    Returns
    -------
    list of str or None
        None if only ``zig cc`` itself can do this, or if the compiler is not Zig.
    """
    if not is_zig(start):
        return None
    shape, passed_on, sources = _parts(arguments)
    if "-shared" in shape:
        if not all(source.endswith(".o") for source in sources):
            return None
        suffix = ".c"
    elif len(sources) == 1:
        suffix = Path(sources[0]).suffix
    else:
        return None
    template = _template(tuple(start), version, shape, suffix, confined.active(), ask)
    if template is None:
        return None
    filled = {_SOURCES: [*passed_on, *sources], _OUTPUT: [str(output)]}
    return [word for part in template for word in filled.get(part, [part])]


def of_header(command: Sequence[str]) -> list[str]:
    """Return the command that precompiles a C++ header, from the one that compiles it as a source."""
    # A header of the same size and text may have another time of change.
    ways = {"c++": ["c++-header"], "-c": ["-Xclang", "-fno-pch-timestamp"]}
    return [word for part in command for word in ways.get(part, [part])]


def with_precompiled(command: Sequence[str], precompiled: Path | None) -> Sequence[str]:
    """Return a command with a precompiled header in place of the first one that it includes."""
    if precompiled is None:
        return command
    at = command.index("-include")
    return [*command[:at], "-include-pch", str(precompiled), *command[at + 2 :]]


def _parts(arguments: Sequence[str]) -> tuple[tuple[str, ...], list[str], list[str]]:
    """Return the flags on which Zig's command depends, those that it passes on, and the sources."""
    shape, passed_on, sources = [], [], []
    words = iter(arguments)
    for word in words:
        if word in ("-include", "-imacros"):
            passed_on += [word, next(words)]
        elif word.startswith(_PASSED_ON):
            passed_on.append(word)
        elif word.startswith("/"):
            sources.append(word)
        else:
            shape.append(word)
    return tuple(shape), passed_on, sources


@cache
def _template(
    start: tuple[str, ...], version: str, shape: tuple[str, ...], suffix: str, inside: bool, ask: Ask
) -> list[str] | None:
    """Return Zig's command with `_SOURCES` and `_OUTPUT` in place of its files; None if it cannot be had."""
    folder, _ = data.cache_folder("recorders")
    facts = start, version, shape, suffix, inside, processor(), _needless()
    key = hashlib.sha256(repr(facts).encode()).hexdigest()[:24]
    name = f"zig-{key}"
    if known := kept.find(folder, name):
        with suppress(ValueError, Misfit):
            command = read_as(json.loads(known.read_text(encoding="utf-8")), list[str])
            if _is_complete(command):
                return command
    # A new folder: Zig names files in the working folder by relative paths.
    with tempfile.TemporaryDirectory(prefix="gemmviz-", dir=confined.scratch()) as new:
        work = Path(new)
        source, output = work / f"{_EMPTY}{suffix}", work / "output"
        # Zig starts no compiler for a text that it has compiled before. The user's text could print such a command.
        source.write_text(f"// {uuid.uuid4()}\n", encoding="utf-8")
        printed = ask([*start, *shape, str(source), "-o", str(output)], work)
        found = _linking(printed) if "-shared" in shape else _compiling(printed, str(source))
        if found is None or not _is_complete(found):
            return None
        program = [start[0], *found]
        note = work / "command.json"
        note.write_text(json.dumps(program), encoding="utf-8")
        kept.keep(note, folder, name)
    return program


def _compiling(printed: str, source: str) -> list[str] | None:
    """Return the arguments of Clang among the lines that Zig has printed."""
    for line in printed.splitlines():
        words = line.split()
        if len(words) < 3 or words[1] != "clang" or source not in words or words[-2] != "-o" or "-MF" not in words:
            continue
        words[-1] = _OUTPUT
        words[words.index(source)] = _SOURCES
        # Nobody reads the list of included files.
        at = words.index("-MF")
        del words[at : at + 2]
        return [word for word in words[1:] if word not in ("-MD", "-MV")]
    return None


def _linking(printed: str) -> list[str] | None:
    """Return the arguments of the linker among the lines that Zig has printed."""
    for line in printed.splitlines():
        words = line.split()
        own = [word for word in words if Path(word).name == f"{_EMPTY}.o"]
        if words[:1] != ["ld.lld"] or "-shared" not in words or len(own) != 1 or "-o" not in words:
            continue
        words[words.index("-o") + 1] = _OUTPUT
        words[words.index(own[0])] = _SOURCES
        return [word for word in words if word not in _needless()]
    return None


@cache
def _needless() -> tuple[str, ...]:
    """Return the libraries that the linker need not read on this machine."""
    try:
        name, _, version = (os.confstr("CS_GNU_LIBC_VERSION") or "").partition(" ")
        numbers = tuple(int(part) for part in version.split(".")[:2])
    except (OSError, ValueError):
        return ()
    return _EMPTY_LIBRARIES if name == "glibc" and numbers >= _EMPTY_SINCE else ()


def _is_complete(command: Sequence[str]) -> bool:
    """Return whether all files of a command are there. A path with spaces was divided, and is not."""
    return all(Path(word).exists() for word in command if "/" in word and not word.startswith("-"))


@cache
def processor() -> str:
    """Return the system's description of the processor: compiled code depends on it."""
    try:
        with Path("/proc/cpuinfo").open(encoding="utf-8") as file:  # that of the first core: there may be hundreds
            lines = [line.rstrip("\n") for line in takewhile(str.strip, file)]
    except OSError:
        return platform.processor()
    return "\n".join(line for line in lines if line.startswith(_PROCESSOR))
