"""The library reference on the CPU: NumPy, which calls its BLAS (usually OpenBLAS)."""

import ctypes
from pathlib import Path
from typing import Any

import numpy as np

from gemmviz.backends.base import Build, Prepared
from gemmviz.backends.environment import Environment
from gemmviz.backends.host import HostBackend, HostPrepared
from gemmviz.catalogue.launch import Launch
from gemmviz.catalogue.problem import unstored


class NumpyBackend(HostBackend):
    """``numpy.matmul``, with as many threads as its BLAS uses."""

    name = "numpy"

    def prepare(self, launch: Launch) -> Prepared:
        """Allocate; there is nothing to compile."""
        return _NumpyPrepared(launch, Build())

    def environment(self) -> Environment:
        """Name the BLAS."""
        return {"blas": blas_facts()}


class _NumpyPrepared(HostPrepared):
    def call(self, launches: int) -> None:
        """Multiply."""
        kernel, problem = self.launch.kernel, self.launch.problem
        a, b, c = (
            unstored(kernel, name, flat, problem) for name, flat in (("A", self.a), ("B", self.b), ("C", self.c.view))
        )
        for _ in range(launches):
            np.matmul(a, b, out=c)


def blas_facts() -> dict[str, str]:
    """Return name, version and, for OpenBLAS, the core type of its code and its number of threads."""
    config: Any = np.show_config(mode="dicts")
    blas = config.get("Build Dependencies", {}).get("blas", {})
    facts = {"name": str(blas.get("name", "unknown")), "version": str(blas.get("version", ""))}
    library = loaded_library("openblas")
    if library is not None:
        code = ctypes.CDLL(library)
        spelling = symbols(code)
        if spelling is not None:
            prefix, suffix = spelling
            corename = getattr(code, f"{prefix}openblas_get_corename{suffix}")
            corename.restype = ctypes.c_char_p
            facts["core"] = corename().decode()
            facts["threads"] = str(getattr(code, f"{prefix}openblas_get_num_threads{suffix}")())
    return facts


def symbols(code: ctypes.CDLL) -> tuple[str, str] | None:
    """Return the prefix and suffix of an OpenBLAS's names (NumPy's wheels rename them), or None."""
    spellings = (("scipy_", "64_"), ("", ""), ("scipy_", ""), ("", "64_"))
    return next((s for s in spellings if hasattr(code, f"{s[0]}openblas_get_corename{s[1]}")), None)


def loaded_library(part: str) -> str | None:
    """Return the path of a shared library of this process whose file name contains `part`."""
    try:
        lines = Path("/proc/self/maps").read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    paths = (line.split(maxsplit=5)[5] for line in lines if line.count("/"))
    return next((p for p in paths if part in Path(p).name), None)
