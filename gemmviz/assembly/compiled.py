"""Compiles a launch with NVRTC and disassembles it with nvdisasm: both are separate programs in the sandbox."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gemmviz.assembly.toolkit import INSTALL, Toolkit
from gemmviz.backends.compiler import BUILD_TIMEOUT_S
from gemmviz.backends.nvrtc import OF_CUPY, library_folder, mma_folders, nvrtc_error, options, program_text
from gemmviz.backends.overloads import AMBIGUOUS, address_of, name_of, typed_address_of
from gemmviz.backends.toolchain import no_room, source_folder
from gemmviz.catalogue.errors import BuildError, CompileStopped, ConstraintError, Unavailable
from gemmviz.catalogue.launch import Launch
from gemmviz.language import tr
from gemmviz.sandbox import confined, rules
from gemmviz.sandbox.ends import by_signal

_PROGRAM = Path(__file__).with_name("nvrtc_program.py")
_ARCHITECTURE = "--gpu-architecture="
_NEEDS_LIBRARY = re.compile(r'cannot open source file "(?:cuda|nv)/')
_MOST_LISTED, _MOST_FILE = 64 << 20, 64 << 20


@dataclass(frozen=True)
class Compiled:
    """NVRTC's output.

    Attributes
    ----------
    cubin
        The file with the machine code.
    ptx
        The whole PTX.
    log
        The compiler's messages, with the registers of each kernel.
    entry
        The name of the kernel in the machine code.
    version
        NVRTC's version.
    architectures
        The numbers of the architectures that NVRTC knows.
    """

    cubin: Path
    ptx: str
    log: str
    entry: str
    version: str
    architectures: tuple[int, ...]


def compiled(launch: Launch, architecture: str, tools: Toolkit, folder: Path, address: str = "") -> Compiled:
    """Compile a launch as for a measurement, with information about lines.

    Parameters
    ----------
    launch
        The launch.
    architecture
        For example ``"sm_80"``.
    tools
        From `gemmviz.assembly.toolkit.toolkit`.
    folder
        The folder for the files, which may be written.
    address
        As for `gemmviz.backends.nvrtc.compile_launch`.

    Raises
    ------
    BuildError
        When NVRTC refuses the source; ``line`` is the line of the kernel's file.
    ConstraintError
        When NVRTC does not know the architecture.
    Unavailable
        When NVRTC does not start.
    """
    plain = [option for option in options(launch) if not option.startswith(_ARCHITECTURE)]
    libraries = [folder for folder in (library_folder(),) if folder]
    flags = [*plain, *(f"-I{folder}" for folder in libraries), OF_CUPY, _ARCHITECTURE + architecture]
    flags += ["-lineinfo", "--ptxas-options=-v"]
    request = {"code": program_text(launch, address), "entry": name_of(address or address_of(launch)), "options": flags}
    (folder / "request.json").write_text(json.dumps(request), encoding="utf-8")
    python = Path(sys.executable).resolve()
    library = tools.nvrtc.resolve()
    # The folders of the standard library, of NVRTC, and of the headers.
    read = [Path(os.__file__).parent, Path(sys.base_prefix) / "lib", library.parent, tools.nvrtc.parent]
    read += [source_folder(launch.kernel.path), *mma_folders(), *libraries]
    result = _run([str(python), "-I", "-S", str(_PROGRAM), str(tools.nvrtc)], folder, read, tools.nvrtc.parent)
    answer = folder / "answer.json"
    if result.stopped or not answer.is_file():
        ended = by_signal(-result.code) if result.code < 0 else ""
        why = result.stopped or ended or _first_line(result.errors) or tr("the compiler printed no message")
        if result.stopped or ended:
            raise CompileStopped(tr("{file} does not compile: {why}", file=launch.kernel.path.name, why=why))
        raise no_room(result.errors, folder) or Unavailable(tr("NVRTC does not start: {why}", why=why))
    facts = json.loads(_read(answer))
    known = tuple(int(number) for number in facts["architectures"])
    version, log = str(facts["version"]), _read(folder / "log.txt")
    if facts["status"]:
        if _ARCHITECTURE in log or "gpu-architecture" in log:
            names = ", ".join(f"sm_{number}" for number in known)
            said_all = tr(
                "NVRTC {version} does not know {arch}: it has {known}", version=version, arch=architecture, known=names
            )
            raise ConstraintError(said_all)
        typed = typed_address_of(launch) if AMBIGUOUS in log and not address else ""
        if typed:
            return compiled(launch, architecture, tools, folder, typed)
        error = nvrtc_error(log, launch.kernel.path, launch.entry)
        if not libraries and _NEEDS_LIBRARY.search(str(error)):
            raise Unavailable(tr("{error}: it is part of libcu++: {line}", error=error, line=INSTALL))
        raise error
    return Compiled(folder / "kernel.cubin", _read(folder / "kernel.ptx"), log, str(facts["lowered"]), version, known)


def disassembled(cubin: Path, tools: Toolkit) -> str:
    """Return nvdisasm's listing of the machine code, with the lines of the source and of PTX.

    Raises
    ------
    BuildError
        When nvdisasm cannot read it.
    """
    command = [str(tools.nvdisasm), "-c", "-gi", "-gp", cubin.name]
    result = _run(command, cubin.parent, [], tools.nvdisasm.parent)
    if result.code or result.stopped:
        why = result.stopped or _first_line(result.errors) or str(result.code)
        raise BuildError(tr("nvdisasm cannot read the machine code: {why}", why=why))
    return result.output


def _run(command: Sequence[str], folder: Path, read: Sequence[Path], libraries: Path) -> confined.Compiled:
    environment = _environment(folder, libraries)
    if confined.active():
        access = rules.compiling(folder, read, [], [Path(command[0]).resolve()])
        return confined.compile_with(command, environment, folder, access, most=_MOST_LISTED)
    try:
        ended = subprocess.run(
            command, env=dict(environment), cwd=folder, capture_output=True, timeout=BUILD_TIMEOUT_S, check=False
        )
    except subprocess.TimeoutExpired:
        raise CompileStopped(tr("the compiler did not end within {time} s", time=BUILD_TIMEOUT_S)) from None
    except OSError as error:
        raise Unavailable(tr("the compiler cannot be started: {why}", why=error)) from None
    output, errors = (text.decode(errors="replace") for text in (ended.stdout, ended.stderr))
    return confined.Compiled(ended.returncode, output, errors)


def _environment(folder: Path, libraries: Path) -> dict[str, str]:
    return {"PATH": os.defpath, "LD_LIBRARY_PATH": str(libraries), "TMPDIR": str(folder), "LC_ALL": "C.UTF-8"}


def _read(file: Path) -> str:
    with file.open("rb") as source:
        return source.read(_MOST_FILE).decode(errors="replace")


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "")
