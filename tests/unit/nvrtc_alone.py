"""NVRTC without a GPU and without CuPy: compiles a launch as `gemmviz.backends.nvrtc` does, where its wheel is."""

import ctypes
import importlib.util
from functools import cache
from pathlib import Path

from gemmviz.backends.nvrtc import mma_folders, source_and_flags
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
    return [*mma_folders(), *folders, *(folder / "cccl" for folder in folders)]


def errors(launch: Launch, architecture: str) -> str:
    """Return what NVRTC says against a launch; nothing where it compiles.

    Parameters
    ----------
    launch
        The launch.
    architecture
        Such as ``"sm_80"``.
    """
    code, flags = source_and_flags(launch, toolkit())
    return compiled(code, [*(f for f in flags if "--gpu-arch" not in f), f"--gpu-architecture={architecture}"])


def compiled(code: str, options: list[str]) -> str:
    """Return the log of a text that NVRTC refuses; nothing where it compiles."""
    nvrtc = library()
    assert nvrtc is not None
    program = ctypes.c_void_p()
    if nvrtc.nvrtcCreateProgram(ctypes.byref(program), code.encode(), b"kernel.cu", 0, None, None):
        raise RuntimeError("NVRTC makes no program")
    given = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
    status = nvrtc.nvrtcCompileProgram(program, len(options), given)
    size = ctypes.c_size_t()
    nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetProgramLog(program, log)
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    return log.value.decode() or "refused" if status else ""
