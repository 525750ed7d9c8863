"""Compiles CUDA kernels with NVRTC, through a CuPy that the caller passes."""

import importlib.util
import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from gemmviz import data
from gemmviz.backends.base import Build, LaunchError
from gemmviz.backends.cupy_check import cupy_major
from gemmviz.backends.device_source import source_of_device
from gemmviz.backends.kept_kernels import machine_code
from gemmviz.backends.named_barriers import named_barriers
from gemmviz.backends.overloads import AMBIGUOUS, address_of, name_of, typed_address_of
from gemmviz.backends.signature import describing_source
from gemmviz.backends.struct_arguments import filling_source
from gemmviz.backends.toolchain import line_directive, source_folder
from gemmviz.catalogue.capability import architecture
from gemmviz.catalogue.cxx_standard import cxx_standard
from gemmviz.catalogue.errors import BuildError
from gemmviz.catalogue.launch import Launch
from gemmviz.catalogue.plain_code import plain_code

_ERROR = re.compile(r"^(?P<file>[^\n]*?)\((?P<line>\d+)\): (?:catastrophic )?error:? ?(?P<text>.*)$", re.MULTILINE)

# Names that nvcc takes from the host's headers.
_WORDS = "#include <words.h>"
# The type is in the driver's header, which is a header of the host.
_TENSOR_MAP = "#include <words_tensor_map.h>"
_NAMES_A_MAP = re.compile(r"\bCUtensorMap(?:DataType|Swizzle)?\b|\bCU_TENSOR_MAP_")

OF_CUPY = "-ftz=true"
"""The flag that CuPy adds itself: denormals count as zero."""


def program_text(launch: Launch, address: str = "") -> str:
    """Return the text that NVRTC compiles: a kernel's file without its host code, and code that reports its types.

    Parameters
    ----------
    launch
        The launch.
    address
        Its kernel's address, from `gemmviz.backends.overloads`; by default its name alone.
    """
    address = address or address_of(launch)
    # #line keeps the line numbers of the user's file, whatever CuPy puts before it.
    path = launch.kernel.path
    code = source_of_device(launch)
    words = f"{_WORDS}\n{_TENSOR_MAP}" if _NAMES_A_MAP.search(plain_code(code)) else _WORDS
    return f"{words}\n{line_directive(path)}\n{code}\n{describing_source(address)}{filling_source(launch, address)}"


def options(launch: Launch) -> tuple[str, ...]:
    """Return NVRTC's options for a launch, without `OF_CUPY`; with an architecture only if the kernel needs one."""
    kernel = launch.kernel
    macros = (f"-D{name}={value}" for name, value in launch.macros.items())
    ours = data.root("kernels") / "include"
    exactly = architecture(kernel.capability)
    return (
        f"--std={cxx_standard(source_of_device(launch))}",
        # For nvcc a constexpr function without an attribute is a function of host and device.
        "--device-as-default-execution-space",
        # Otherwise CuPy compiles for the device, without the instructions that only this architecture has.
        *((f"--gpu-architecture={exactly}",) if exactly else ()),
        *macros,
        *(f"-I{folder}" for folder in (source_folder(kernel.path).resolve(), ours, *mma_folders(), ours / "nvrtc")),
        *(("--device-int128",) if "__int128" in kernel.text else ()),
    )


def compile_launch(
    cp: Any, launch: Launch, extra_flags: tuple[str, ...] = (), address: str = ""
) -> tuple[Any, Any, Build]:
    """Compile a launch's kernel.

    Parameters
    ----------
    cp
        The module ``cupy``.
    launch
        The launch.
    extra_flags
        Further flags for NVRTC.
    address
        As for `program_text`. If the name alone is ambiguous, the kernel's type is put before it.

    Returns
    -------
    tuple
        The kernel (``cupy.RawKernel``), its module (``cupy.RawModule``), and the facts about the build.

    Raises
    ------
    BuildError
        When NVRTC refuses the source; ``line`` is the line of the kernel's file.
    LaunchError
        When the GPU cannot load the result.
    """
    kernel = launch.kernel
    copies, own = source_folder(kernel.path).resolve(), str(kernel.path.parent.resolve())
    flags = (*options(launch), *extra_flags)
    code, name = program_text(launch, address), name_of(address or address_of(launch))
    started = time.perf_counter()
    try:
        made = machine_code(cp, code, (*flags, OF_CUPY), name, copies)
        if made is None:
            module, entry = cp.RawModule(code=code, options=flags, name_expressions=(name,)), name
        else:
            module, entry = cp.RawModule(path=str(made.file)), made.entry
        with _without_cache():
            function = module.get_function(entry)
            # Reading an attribute makes CuPy load the function.
            registers = int(function.num_regs)
    except cp.cuda.compiler.CompileException as error:
        typed = typed_address_of(launch) if AMBIGUOUS in str(error) and not address else ""
        if typed:
            return compile_launch(cp, launch, extra_flags, typed)
        raise nvrtc_error(str(error), kernel.path, launch.entry) from None
    except cp.cuda.nvrtc.NVRTCError as error:
        raise BuildError(f"{kernel.path.name}: NVRTC refuses it: {first_line(error)}") from None
    except (cp.cuda.runtime.CUDARuntimeError, cp.cuda.driver.CUDADriverError) as error:
        raise LaunchError(f"{launch.label} does not load: {first_line(error)}") from None
    build = Build(
        compile_ms=None if made and not made.is_new else (time.perf_counter() - started) * 1e3,
        flags=(*(flag.replace(str(copies), own) for flag in flags), OF_CUPY),
        registers=registers,
        shared_bytes=int(function.shared_size_bytes) + launch.shared_bytes,
        local_bytes=int(function.local_size_bytes),
        barriers=named_barriers(made.file, made.entry) if made else None,
    )
    return function, module, build


def nvrtc_error(log: str, path: Path, entry: str) -> BuildError:
    """Return the first error of NVRTC's log, by preference the first one in the file `path`."""
    found = list(_ERROR.finditer(log))
    mine = [e for e in found if Path(e["file"].strip()).name == path.name]
    if mine:
        return BuildError(f"{path.name}:{mine[0]['line']}: {mine[0]['text']}", int(mine[0]["line"]))
    if found and "gemmviz_arguments" in found[0]["file"]:
        return BuildError(f"{path.name}: there is no single kernel {entry}: {found[0]['text']}")
    if found:
        return BuildError(f"{path.name}: {found[0]['text']}")
    return BuildError(f"{path.name} does not compile: {first_line(log)}")


@cache
def mma_folders() -> tuple[Path, ...]:
    """Return the include folders with mma.h and crt/mma.h, which are not part of NVRTC."""
    # Only the first folder with each header is used, so that headers of another toolkit version are not mixed in.
    chosen: list[Path] = []
    for head in ("mma.h", "crt/mma.h"):
        first = next((folder for folder in _include_folders() if (folder / head).is_file()), None)
        if first is not None and first not in chosen:
            chosen.append(first)
    return tuple(chosen)


@cache
def library_folder() -> Path | None:
    """Return the include folder of libcu++, for a compilation without CuPy, which brings its own."""
    folders = (inner for folder in _include_folders() for inner in (folder / "cccl", folder))
    return next((folder for folder in folders if (folder / "cuda" / "barrier").is_file()), None)


def _include_folders() -> list[Path]:
    """Return the folders that may have headers of CUDA, the preferred ones first."""
    named = (os.environ.get(variable) for variable in ("CUDA_HOME", "CUDA_PATH"))
    candidates = [Path(folder) / "include" for folder in named if folder]
    spec = importlib.util.find_spec("nvidia")
    for place in (spec.submodule_search_locations or []) if spec else []:
        # With a CuPy for CUDA 12 there may be headers of 13, from gemmviz[assembly].
        major = cupy_major()
        foreign = {f"cu{other}" for other in (13, 14) if major is not None and other != major}
        candidates += sorted(Path(place).glob("*/include"), key=lambda one: (one.parent.name in foreign, one))
    return [*candidates, Path("/usr/local/cuda/include")]


def has_mma_header() -> bool:
    """Whether kernels can include mma.h, the tensor cores' header."""
    return any((folder / "crt" / "mma.h").is_file() for folder in mma_folders())


def first_line(error: object) -> str:
    """Return the first line of an error's text that is not empty."""
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)


@contextmanager
def _without_cache() -> Iterator[None]:
    """Make CuPy compile without its cache, whose key does not have the contents of our headers."""
    name = "CUPY_CACHE_IN_MEMORY"
    before = os.environ.get(name)
    os.environ[name] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before
