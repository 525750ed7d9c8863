"""The library reference on the CPU: NumPy, which calls its BLAS (usually OpenBLAS)."""

import ctypes
from typing import Any

import numpy as np

from gemmviz.backends.base import Build, Prepared
from gemmviz.backends.environment import Environment
from gemmviz.backends.host import HostBackend, HostPrepared
from gemmviz.backends.loaded_library import loaded_library, symbols
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
