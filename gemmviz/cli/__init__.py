"""The command line: ``gemmviz`` opens the window, ``gemmviz COMMAND`` runs one command.

Nothing here imports Qt, so that commands without pictures run without Qt, too.
"""

import argparse
import errno
import gc
import os
import re
import sys
from collections.abc import Sequence
from contextlib import nullcontext, suppress
from importlib import import_module

from gemmviz import __version__, data, kept_code
from gemmviz.catalogue.errors import ConstraintError, GemmvizError, Unavailable, UnknownKernel
from gemmviz.catalogue.source_files import SOURCES

OK, FAILED, USAGE, INTERRUPTED = 0, 1, 2, 130
_FULL = (errno.ENOSPC, errno.EDQUOT)
# Each command is a module gemmviz.cli.NAME with a function add(subparsers). Only the requested one is imported:
# the window must not wait for the imports of the other commands.
_COMMANDS = {
    "window": "open the window (the default)",
    "list": "list the kernels",
    "record": "record every memory access of a kernel, on the CPU",
    "describe": "guess the front matter of a kernel that has none, and try it",
    "check": "look for races, overruns and other defects of a kernel, on the CPU",
    "prove": "compare the predictions of recordings with a GPU's own counters",
    "bench": "verify kernels and measure their GFLOPS",
    "tune": "find the fastest parameters of a kernel on this machine",
    "cluster": "start workers that measure for this or other machines",
    "compare": "show what changed between two versions of a kernel, or between two runs",
    "runs": "list, show, export and delete the runs stored on this machine",
    "assembly": "show the machine code of a CUDA kernel, line by line, without a GPU",
    "occupancy": "show how many warps of a kernel fit on one multiprocessor",
    "claims": "measure the claims of the five documents again, and judge them",
    "render": "draw a step of a recording as PNG or SVG, or many as a GIF or MP4",
    "trust": "list, add and remove the texts and folders that may run in the window",
    "doctor": "show what works on this machine, and how to repair the rest",
}

# The import name of each package that gemmviz needs.
_PACKAGES = {
    "PySide6": "PySide6-Essentials",
    "shiboken6": "PySide6-Essentials",
    "PIL": "pillow",
    "elftools": "pyelftools",
    **{
        name: name
        for name in ("numpy", "ml_dtypes", "pyqtgraph", "platformdirs", "psygnal", "pygments", "rich", "polib")
    },
}


def run(arguments: Sequence[str]) -> int:
    """Run one command line.

    Parameters
    ----------
    arguments
        Without the program's name.

    Returns
    -------
    int
        Exit code: 0 done, 1 failed or a defect found, 2 wrong usage or something missing, 130 interrupted.
    """
    arguments = _with_window(arguments)
    if arguments[0] == "window":
        # The imports to come make many objects and no garbage. `gemmviz.ui.window.garbage` collects later.
        gc.disable()
    try:
        # The window must appear soon; other commands need not write code into the cache.
        with kept_code.dataclasses_from_cache() if arguments[0] == "window" else nullcontext():
            args = _parser(arguments[0]).parse_args(arguments)
            return int(args.run(args))
    except (Unavailable, ConstraintError, UnknownKernel) as error:
        return _complain(error, USAGE)
    except GemmvizError as error:
        return _complain(error, FAILED)
    except ModuleNotFoundError as error:
        package = _PACKAGES.get((error.name or "").partition(".")[0])
        if package is None:
            raise  # a part of gemmviz itself: a defect, not a missing package
        return _complain(_lacks(package), USAGE)
    except KeyboardInterrupt:
        return _complain("interrupted", INTERRUPTED)
    except BrokenPipeError:  # the reader of the pipe has ended, as in `gemmviz list | head -1`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    except OSError as error:
        return _complain(_refused(error), FAILED)


def _parser(chosen: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="gemmviz",
        description="See how a matrix-multiplication kernel really works, and how fast it really is.",
        epilog="Without a command, the window opens.  `gemmviz COMMAND --help` explains a command.",
    )
    parser.add_argument("--version", action="version", version=f"gemmviz {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name, summary in _COMMANDS.items():
        if name == chosen:
            import_module(f"{__name__}.{name}").add(commands, summary)
        else:
            commands.add_parser(name, help=summary)
    return parser


def _with_window(arguments: Sequence[str]) -> list[str]:
    """Add the command ``window`` if there is none: in ``gemmviz``, ``gemmviz my.cu`` and ``gemmviz gputiled``."""
    first = arguments[0] if arguments else ""
    if first in ("-h", "--help", "--version"):
        return [*arguments]  # not list(): the command of that name is an attribute here, once imported
    if not first or first.startswith("-") or first.endswith((*SOURCES, ".toml", ".gemmviz")):
        return ["window", *arguments]
    return ["window", *arguments] if first not in _COMMANDS and _is_kernel(first) else [*arguments]


def _is_kernel(word: str) -> bool:
    """Return whether a word is the name of a kernel, without reading the kernels."""
    return word.isidentifier() and any(data.root("kernels").glob(f"*/*_{word}.c*"))


def _lacks(package: str) -> str:
    """Return one line with the package to install, and the versions that gemmviz supports, if known."""
    from importlib.metadata import PackageNotFoundError, requires  # late: it takes time, and few runs need it

    wanted = package
    with suppress(PackageNotFoundError):
        needed = (text.partition(";")[0].strip() for text in requires("gemmviz") or ())
        named = (text for text in needed if re.split(r"[^\w.-]", text)[0].lower() == package.lower())
        wanted = next(named, package)
    return f"{package} is not installed, and gemmviz needs it: python -m pip install '{wanted}'"


def _refused(error: OSError) -> str:
    """Return the system's reason in words, without its number; with the file if it names one."""
    if not error.strerror:
        return str(error)
    if error.filename:
        return f"{error.filename}: {error.strerror}"
    return f"the output is not complete: {error.strerror}" if error.errno in _FULL else error.strerror


def _complain(error: object, code: int) -> int:
    print(f"gemmviz: {error}", file=sys.stderr)
    return code
