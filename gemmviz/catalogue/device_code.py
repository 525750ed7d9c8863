"""The part of a CUDA file that runs on the device: lines that only its host code needs are left out."""

import re

from gemmviz.catalogue.plain_code import plain_code

_HOST = re.compile(r"<<<|\bcuda[A-Z]\w*|\bcublas\w*|\bcurand\w*|\bstd\s*::|\b(?:malloc|calloc|free|rand|fopen)\s*\(")
_DEVICE = re.compile(r"\b(?:__device__|__global__|constexpr)\b")
_NAME = re.compile(r"(\w+)\s*\([^{}]*\)[^(){};]*$")
# A longer one is no head of a function, and would take long to match.
_LONGEST_HEAD = 4000
# The content of these headers is built into every compiler of kernels; NVRTC has no such files.
_KNOWN = "cuda.h cuda_runtime.h device_launch_parameters.h"
# Kernels have no use for these.
_OF_HOST = """iostream vector string chrono random fstream sstream iomanip algorithm memory thread functional numeric
cstdlib cstdio cstring ctime stdlib.h stdio.h string.h time.h unistd.h sys/time.h cublas_v2.h curand.h helper_cuda.h
cuda_runtime_api.h"""


def device_code(text: str) -> str:
    """Return a file's text with its host code blanked; each line keeps its number.

    Host code is ``main``, functions that launch kernels or call the CUDA runtime, and callers of those. Headers
    that only the host code needs go with it, and those whose content every compiler of kernels has built in.

    Parameters
    ----------
    text
        A whole ``.cu`` file.
    """
    plain = plain_code(text, directives=False)
    functions = _functions(plain)
    host = {name for name, start, stop in functions if name == "main" or _HOST.search(plain, start, stop)}
    while True:
        calls = re.compile(rf"\b(?:{'|'.join(map(re.escape, host))})\s*\(") if host else None
        more = {name for name, start, stop in functions if calls and calls.search(plain, start, stop)} - host
        if not more:
            break
        host |= more
    for name, start, stop in functions:
        if name in host:
            text = text[:start] + re.sub(r"[^\n]", " ", text[start:stop]) + text[stop:]
    return _without(text, f"{_KNOWN} {_OF_HOST}" if host else _KNOWN)


def _without(text: str, headers: str) -> str:
    names = "|".join(map(re.escape, headers.split()))
    wanted = re.compile(rf"^[ \t]*#[ \t]*include[ \t]*[<\"](?:{names})[>\"]", re.MULTILINE)
    return wanted.sub(lambda found: " " * len(found[0]), text)


def _functions(plain: str) -> list[tuple[str, int, int]]:
    """Return name, start and end of every function that is not marked for the device."""
    found = []
    start = at = 0
    while at < len(plain):
        letter = plain[at]
        if letter == ";" or letter == "}":
            start = at + 1
        elif letter == "{":
            head = plain[max(start, at - _LONGEST_HEAD) : at]
            inside = re.search(r"\bnamespace\b|^\s*extern\s*$", head) is not None
            named = _NAME.search(head)
            stop = at + 1 if inside else _closing(plain, at)
            if named and not inside and not _DEVICE.search(head):
                found.append((named[1], at - len(head.lstrip()), stop))
            if inside or (named is not None):
                start = stop
            at = stop - 1
        at += 1
    return found


def _closing(plain: str, start: int) -> int:
    depth = 0
    for found in re.compile(r"[{}]").finditer(plain, start):
        depth += 1 if found[0] == "{" else -1
        if depth == 0:
            return found.end()
    return len(plain)
