"""OpenBLAS at its best: a second copy of NumPy's own, set to the code path that is the fastest on this CPU.

When OpenBLAS is loaded, it chooses a path for the processor that it detects, and not always the best one
(`gemmviz.backends.openblas_trials` finds the fastest). A copy of the library is loaded with that path.
"""

import ctypes
import os
import shutil
import tempfile
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from gemmviz import data
from gemmviz.backends.base import Build, HasRival, Prepared
from gemmviz.backends.environment import Environment
from gemmviz.backends.host import HostBackend, HostPrepared
from gemmviz.backends.loaded_library import loaded_library, symbols
from gemmviz.backends.openblas_trials import VARIABLE, fastest_core
from gemmviz.catalogue.errors import ConstraintError, Unavailable
from gemmviz.catalogue.launch import Launch

_ENTRIES = {"float32": ("cblas_sgemm", ctypes.c_float), "float64": ("cblas_dgemm", ctypes.c_double)}
_ROW_MAJOR, _AS_IT_IS = 101, 111
# OpenBLAS's threads spin for some 30 ms after a product; two copies of it must not disturb each other.
_PAUSE_S = 0.05
_RIVAL_TURNS, _RIVAL_S = 7, 2.0


@dataclass(frozen=True)
class Library:
    """A loaded OpenBLAS: its core type, its number of threads, and the prefix and suffix of its symbols."""

    code: ctypes.CDLL
    core: str
    threads: int
    prefix: str
    suffix: str

    @property
    def whole(self) -> Any:
        """The ctypes type of its integers."""
        return ctypes.c_int64 if self.suffix == "64_" else ctypes.c_int


class OpenblasBackend(HostBackend):
    """``cblas_sgemm`` of OpenBLAS at its best core type, with as many threads as it uses."""

    name = "openblas"

    def prepare(self, launch: Launch) -> Prepared:
        """Allocate; there is nothing to compile."""
        library = best()
        kernel = launch.kernel
        same = kernel.dtype == kernel.accumulate == kernel.dtype_out
        if kernel.dtype not in _ENTRIES or not same or kernel.column_major:
            raise ConstraintError(f"{kernel.name}: OpenBLAS multiplies float32 or float64 here, stored by rows")
        threads = f"{library.threads} thread{'s' if library.threads > 1 else ''}"
        return _OpenblasPrepared(launch, Build(variant=f"{library.core}, {threads}"), library)

    def environment(self) -> Environment:
        """Name the core type and the number of threads."""
        library = best()
        return {"openblas": {"core": library.core, "threads": library.threads}}


class _OpenblasPrepared(HostPrepared, HasRival):
    def __init__(self, launch: Launch, build: Build, library: Library) -> None:
        super().__init__(launch, build)
        name, scalar = _ENTRIES[launch.kernel.dtype]
        self._entry = getattr(library.code, f"{library.prefix}{name}{library.suffix}")
        self._entry.restype = None
        whole, problem = library.whole, launch.problem
        m, n, k = (whole(size) for size in (problem.m, problem.n, problem.k))
        a, b, c = (ctypes.c_void_p(p) for p in (self.a.ctypes.data, self.b.ctypes.data, self.c.address))
        self._arguments = (_ROW_MAJOR, _AS_IT_IS, _AS_IT_IS, m, n, k, scalar(1), a, k, b, n, scalar(0), c, n)

    def rival(self) -> tuple[float, float]:
        """Measure in turns with NumPy, which uses the code path that OpenBLAS chose itself."""
        problem, own, numpys = self.launch.problem, list[float](), list[float]()
        a, b = self.a.reshape(problem.m, problem.k), self.b.reshape(problem.k, problem.n)
        c = np.empty((problem.m, problem.n), a.dtype)
        begun = time.perf_counter()
        while len(own) < _RIVAL_TURNS and (len(own) < 2 or time.perf_counter() - begun < _RIVAL_S):
            for seconds, multiply in ((own, self.run), (numpys, lambda: np.matmul(a, b, out=c))):
                time.sleep(_PAUSE_S)
                started = time.perf_counter()
                multiply()
                seconds.append(time.perf_counter() - started)
        return min(own), min(numpys)

    def call(self, launches: int) -> None:
        """Multiply; ctypes lets other threads of Python run at the same time."""
        for _ in range(launches):
            self._entry(*self._arguments)


@cache
def best() -> Library:
    """Return OpenBLAS with the core type that multiplies the fastest here, once per process.

    Raises
    ------
    Unavailable
        When NumPy was built with another library, or none of its code paths works.
    """
    original = loaded_library("openblas")
    spelling = symbols(ctypes.CDLL(original)) if original else None
    if original is None or spelling is None:
        raise Unavailable("NumPy does not bring OpenBLAS here (pip install numpy, without conda, does)")
    core = fastest_core(Path(original), spelling)
    if core is None:
        raise Unavailable("OpenBLAS could not be tried: none of its code paths ended in time")
    return _load(Path(original), spelling, core)


def _load(original: Path, spelling: tuple[str, str], core: str) -> Library:
    """Load a copy of the library: for the original, the loader would return the loaded one, with its core type."""
    folder, _ = data.cache_folder("openblas")
    stat = original.stat()
    # Under another name: a search for NumPy's library among the loaded ones must not find this copy.
    copy = folder / f"copy-{stat.st_size}-{stat.st_mtime_ns}.so"
    if not copy.exists():
        with tempfile.NamedTemporaryFile(dir=folder, delete=False) as file, original.open("rb") as source:
            shutil.copyfileobj(source, file)
        Path(file.name).replace(copy)
    before = os.environ.pop(VARIABLE, None)
    if core:
        os.environ[VARIABLE] = core
    try:
        # The libraries that it links against are loaded already, by NumPy's copy.
        code = ctypes.CDLL(str(copy))
    finally:
        os.environ.pop(VARIABLE, None)
        if before is not None:
            os.environ[VARIABLE] = before
    prefix, suffix = spelling
    corename = getattr(code, f"{prefix}openblas_get_corename{suffix}")
    corename.restype = ctypes.c_char_p
    threads = int(getattr(code, f"{prefix}openblas_get_num_threads{suffix}")())
    return Library(code, corename().decode(), threads, prefix, suffix)
