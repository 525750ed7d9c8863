"""Compiles a CUDA program and runs compute-sanitizer's tools on it; needs nothing but Python and CUDA."""

import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")
COMPILE_S, RUN_S = 180, 60
_FLAGS = ("-w", "-lineinfo", "-std=c++17")
_KERNELS = Path(__file__).resolve().parents[1] / "kernels"
_INCLUDES = [f"-I{_KERNELS / folder}" for folder in ("cuda", "include")]
# Told only where this version of the tool knows the option. The compiler counts too few of the barriers that inline
# PTX uses, and a tool that runs out of room for them reports what is not there. A machine whose cores are all busy
# may need longer than 10 s until a program has connected.
_OPTIONS = {
    **dict.fromkeys(TOOLS, (("--launch-timeout", "60"), ("--max-connections", "64"))),
    "initcheck": (("--launch-timeout", "60"), ("--max-connections", "64"), ("--initcheck-address-space", "all")),
}
_BARRIERS = ("--num-cuda-barriers", "64")
_SUMMARY = re.compile(r"(?:ERROR|RACECHECK) SUMMARY: (\d+)")
_PLACE = re.compile(r"\bin (?:\S*/)?([\w.-]+\.(?:cuh?|h)):(\d+)")
_KIND = re.compile(
    r"^=========\s+(?:Error: )?"
    r"((?:Invalid|Uninitialized|Barrier|Race|Warning: Race|Misaligned|Unused|Potential)[^:(\n]*)",
    re.M,
)
# Messages of a tool about itself: it ran out of memory, or gave up.
_TROUBLE = re.compile(r"^=========\s+((?:Warning: (?!Race)|Internal|Error: (?!Race)|Target application)[^\n]*)", re.M)


def missing(*needs: str) -> str:
    """Return the message about programs that are not on the PATH; empty if all are."""
    lacking = [need for need in needs if shutil.which(need) is None]
    return f"{', '.join(lacking)}: not on the PATH; put CUDA's bin folder there" if lacking else ""


def options() -> dict[str, list[str]]:
    """Return the options of each tool: only those that this version of compute-sanitizer has."""
    usage = run(["compute-sanitizer", "--help"], 60)[1]
    found = {}
    for tool in TOOLS:
        pairs = [*_OPTIONS[tool], *([_BARRIERS] if tool in ("racecheck", "synccheck") else [])]
        found[tool] = [word for name, value in pairs if name in usage for word in (name, value)]
    return found


def run(command: list[str], limit_s: float) -> tuple[int | None, str]:
    """Return exit code and output; None when the time was up, and then nothing that it started is left."""
    child = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        output = child.communicate(timeout=limit_s)[0]
        return child.returncode, output
    except subprocess.TimeoutExpired:
        # The program under the tool holds the pipe, and the GPU: it has to go with the tool.
        os.killpg(child.pid, signal.SIGKILL)
        return None, child.communicate()[0]


def build(source: Path, exactly: str, otherwise: str = "native") -> str:
    """Compile a program beside its source.

    Parameters
    ----------
    source
        The program's text, a ``.cu`` file.
    exactly
        The architecture that the kernel has to meet exactly, for example ``"sm_90a"``; else empty.
    otherwise
        The architecture for kernels that run on many; ``"native"`` asks the machine's GPU.

    Returns
    -------
    str
        The compiler's message if it fails; else empty.
    """
    # An architecture that has to be met exactly is lost on -arch.
    architecture = (
        f"-gencode=arch={exactly.replace('sm', 'compute')},code={exactly}" if exactly else f"-arch={otherwise}"
    )
    command = ["nvcc", *_FLAGS, architecture, *_INCLUDES, str(source), "-o", str(source.with_suffix(""))]
    code, output = run(command, COMPILE_S)
    return "" if code == 0 else output[-2000:] or "nvcc: the time was up"


def plain_run(program: Path, limit_s: float = RUN_S) -> str:
    """Return the result of a program without any tool: ``"0 wrong"``, ``"timeout"``, or its message."""
    code, output = run([str(program)], limit_s)
    wrong = re.search(r"C: (\d+) of", output)
    return "timeout" if code is None else f"{wrong[1]} wrong" if wrong else output.strip()[-200:] or f"exit {code}"


def look_at(program: Path, tool: str, extra: dict[str, list[str]], limit_s: float = RUN_S) -> dict[str, Any]:
    """Run one tool on a compiled program and return its report.

    ``errors`` is the number in its summary, None without one; ``status`` is how the program itself ended under the
    tool, as in `plain_run`; ``lines`` are those of kernels, ``places`` also those of headers; ``trouble`` is the tool's
    message about itself; ``report`` is the start of its output, where it reports anything.
    """
    command = ["compute-sanitizer", "--tool", tool, "--print-limit", "50", *extra[tool], str(program)]
    started = time.monotonic()
    code, output = run(command, limit_s)
    errors = [int(number) for number in _SUMMARY.findall(output)]
    places = list(dict.fromkeys(f"{name}:{line}" for name, line in _PLACE.findall(output) if name != "main.cu"))
    kinds = list(dict.fromkeys(kind.partition(" at ")[0].strip() for kind in _KIND.findall(output)))
    wrong = re.search(r"C: (\d+) of", output)
    status = "timeout" if code is None else f"{wrong[1]} wrong" if wrong else "did not end well"
    clean = bool(errors) and not max(errors) and status == "0 wrong"
    return {
        **{"errors": max(errors) if errors else None, "status": status, "timeout": code is None},
        **{"lines": [int(p.rpartition(":")[2]) for p in places if not p.partition(":")[0].endswith(".h")]},
        **{"places": places[:6], "kinds": kinds[:4], "trouble": list(dict.fromkeys(_TROUBLE.findall(output)))[:4]},
        **{"report": "" if clean else output[:3000], "tail": "" if errors else output[-600:]},
        "seconds": round(time.monotonic() - started, 1),
    }
