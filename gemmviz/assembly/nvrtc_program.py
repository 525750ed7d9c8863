"""Compiles one program with NVRTC: a separate program in the sandbox that uses only the standard library.

    python -I -S nvrtc_program.py LIBRARY

In its folder it reads ``request.json`` (``code``, ``entry``, ``options``) and writes ``answer.json`` (``status``,
``version``, ``architectures``, ``lowered``), ``log.txt``, and after a success ``kernel.cubin`` and ``kernel.ptx``.
"""

import ctypes
import json
import sys
from pathlib import Path
from typing import Any


def main(library: str) -> None:
    """Compile the request in this folder."""
    request = json.loads(Path("request.json").read_text(encoding="utf-8"))
    # NVRTC searches this library by its name alone, and finds it if it is loaded already.
    for builtins in sorted(Path(library).parent.glob("libnvrtc-builtins.so.*")):
        if "alt" not in builtins.name:
            ctypes.CDLL(str(builtins), ctypes.RTLD_GLOBAL)
    nvrtc = ctypes.CDLL(library)
    major, minor = ctypes.c_int(), ctypes.c_int()
    nvrtc.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor))
    count = ctypes.c_int()
    nvrtc.nvrtcGetNumSupportedArchs(ctypes.byref(count))
    numbers = (ctypes.c_int * count.value)()
    nvrtc.nvrtcGetSupportedArchs(numbers)
    program = ctypes.c_void_p()
    entry = request["entry"].encode()
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), request["code"].encode(), b"program.cu", 0, None, None)
    nvrtc.nvrtcAddNameExpression(program, entry)
    options = (ctypes.c_char_p * len(request["options"]))(*map(str.encode, request["options"]))
    status = nvrtc.nvrtcCompileProgram(program, len(options), options)
    Path("log.txt").write_bytes(_text(nvrtc, program, "ProgramLog"))
    lowered = ctypes.c_char_p()
    if status == 0:
        nvrtc.nvrtcGetLoweredName(program, entry, ctypes.byref(lowered))
        Path("kernel.cubin").write_bytes(_bytes(nvrtc, program, "CUBIN"))
        Path("kernel.ptx").write_bytes(_text(nvrtc, program, "PTX"))
    answer = {
        "status": status,
        "version": f"{major.value}.{minor.value}",
        "architectures": list(numbers),
        "lowered": (lowered.value or b"").decode(),
    }
    Path("answer.json").write_text(json.dumps(answer), encoding="utf-8")


def _bytes(nvrtc: ctypes.CDLL, program: ctypes.c_void_p, what: str) -> bytes:
    size = ctypes.c_size_t()
    if getattr(nvrtc, f"nvrtcGet{what}Size")(program, ctypes.byref(size)):
        return b""
    made: Any = ctypes.create_string_buffer(size.value)
    getattr(nvrtc, f"nvrtcGet{what}")(program, made)
    return bytes(made.raw)


def _text(nvrtc: ctypes.CDLL, program: ctypes.c_void_p, what: str) -> bytes:
    return _bytes(nvrtc, program, what).rstrip(b"\0")


if __name__ == "__main__":
    main(sys.argv[1])
