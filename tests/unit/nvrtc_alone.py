"""NVRTC without a GPU and without CuPy: compiles a launch as `gemmviz.backends.nvrtc` does, where its wheel is."""

import ctypes
import importlib.util
import re
from functools import cache
from pathlib import Path

from gemmviz.backends.nvrtc import options, program_text
from gemmviz.backends.overloads import AMBIGUOUS, address_of, name_of, typed_address_of
from gemmviz.catalogue.launch import Launch


@cache
def library() -> ctypes.CDLL | None:
    """Return NVRTC; None where neither the wheel nvidia-cuda-nvrtc nor a toolkit is installed."""
    spec = importlib.util.find_spec("nvidia")
    folders = [Path(place) for place in (spec.submodule_search_locations or [])] if spec else []
    found = [file for folder in folders for file in sorted(folder.glob("*/lib/libnvrtc.so.*"))]
    found += sorted(Path("/usr/local/cuda/lib64").glob("libnvrtc.so.*"))
    for file in found:
        for builtins in sorted(file.parent.glob("libnvrtc-builtins.so.*")):
            ctypes.CDLL(str(builtins))
        return ctypes.CDLL(str(file))
    return None


def toolkit() -> list[Path]:
    """Return the folders with CUDA's own headers."""
    spec = importlib.util.find_spec("nvidia")
    places = [Path(place) for place in (spec.submodule_search_locations or [])] if spec else []
    folders = [folder for place in places for folder in sorted(place.glob("*/include")) if folder.is_dir()]
    # libcu++ is a wheel of its own; a toolkit has it.
    libraries = [folder / "cccl" for folder in (*folders, Path("/usr/local/cuda/include"))]
    return [*folders, *(folder for folder in libraries if folder.is_dir())]


def errors(launch: Launch, architecture: str) -> str:
    """Return what NVRTC says against a launch; nothing where it compiles.

    Parameters
    ----------
    launch
        The launch.
    architecture
        Such as ``"sm_80"``.
    """
    flags = [flag for flag in options(launch) if "--gpu-arch" not in flag]
    headers = [f"-I{folder}" for folder in toolkit()]
    given = [*flags, *headers, f"--gpu-architecture={architecture}"]
    log = compiled(program_text(launch), given, name_of(address_of(launch)))
    typed = typed_address_of(launch) if AMBIGUOUS in log else ""
    return compiled(program_text(launch, typed), given, name_of(typed)) if typed else log


def compiled(code: str, flags: list[str], kernel: str = "") -> str:
    """Return the log of a text that NVRTC refuses; nothing where it compiles, and has the kernel of this name."""
    nvrtc = library()
    assert nvrtc is not None
    program = ctypes.c_void_p()
    if nvrtc.nvrtcCreateProgram(ctypes.byref(program), code.encode(), b"kernel.cu", 0, None, None):
        raise RuntimeError("NVRTC makes no program")
    if kernel:
        nvrtc.nvrtcAddNameExpression(program, kernel.encode())
    given = (ctypes.c_char_p * len(flags))(*(flag.encode() for flag in flags))
    status = nvrtc.nvrtcCompileProgram(program, len(flags), given)
    size = ctypes.c_size_t()
    nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetProgramLog(program, log)
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    return log.value.decode() or "refused" if status else ""


def files_with_code(code: str, flags: list[str]) -> list[str]:
    """Return the files whose code is in the PTX that NVRTC makes of a text with debug information."""
    nvrtc = library()
    assert nvrtc is not None
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), code.encode(), b"kernel.cu", 0, None, None)
    given = (ctypes.c_char_p * len(flags))(*(flag.encode() for flag in flags))
    assert nvrtc.nvrtcCompileProgram(program, len(flags), given) == 0
    nvrtc.nvrtcGetPTXSize(program, ctypes.byref(size))
    ptx = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetPTX(program, ptx)
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    return re.findall(r'^\s*\.file\s+\d+\s+"([^"]*)"', ptx.value.decode(), re.MULTILINE)
