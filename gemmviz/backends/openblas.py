"""OpenBLAS at its best: a second copy of NumPy's own, set to the code path that is the fastest on this CPU.

OpenBLAS chooses a path for the processor it believes to see when it is loaded, and does not always choose well. Each
path that the processor has the instructions for is tried in its own process; then a copy of the library is loaded
with the winner.
"""

import ctypes
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from gemmviz import data
from gemmviz.backends.base import Build, Prepared
from gemmviz.backends.blas import loaded_library, symbols
from gemmviz.backends.environment import Environment
from gemmviz.backends.host import HostBackend, HostPrepared
from gemmviz.catalogue.errors import ConstraintError, Unavailable
from gemmviz.catalogue.launch import Launch

_VARIABLE = "OPENBLAS_CORETYPE"
# Code paths of OpenBLAS for x86-64 (TargetList.txt), each with the flags of /proc/cpuinfo that it needs.
_PATHS = {
    "SapphireRapids": {"avx512bw", "avx512vl", "avx512_bf16", "amx_tile"},
    "Cooperlake": {"avx512bw", "avx512vl", "avx512_bf16"},
    "SkylakeX": {"avx512bw", "avx512vl", "avx512dq"},
    "Zen": {"avx2", "fma"},
    "Haswell": {"avx2", "fma"},
    "Sandybridge": {"avx"},
    "Nehalem": {"sse4_2"},
}
_ENTRIES = {"float32": ("cblas_sgemm", ctypes.c_float), "float64": ("cblas_dgemm", ctypes.c_double)}
_ROW_MAJOR, _AS_IT_IS = 101, 111
_TRIAL_LIMIT_S = 30.0
_TRIAL = """
import ctypes, sys, time
path, entry, wide = sys.argv[1], sys.argv[2], sys.argv[3] == "1"
n = 768
gemm, whole = getattr(ctypes.CDLL(path), entry), ctypes.c_int64 if wide else ctypes.c_int
one, size = ctypes.c_float(1), whole(n)
a, b, c = ((ctypes.c_float * (n * n))(*[0.5] * (n * n)) for _ in range(3))
best = float("inf")
for _ in range(8):
    start = time.perf_counter()
    gemm(101, 111, 111, size, size, size, one, a, size, b, size, ctypes.c_float(0), c, size)
    best = min(best, time.perf_counter() - start)
print(best)
"""


@dataclass(frozen=True)
class Library:
    """A loaded OpenBLAS: its core type, its number of threads, and how its symbols are written."""

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
    """``cblas_sgemm`` of OpenBLAS at its best core type, with as many threads as it takes."""

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


class _OpenblasPrepared(HostPrepared):
    def __init__(self, launch: Launch, build: Build, library: Library) -> None:
        super().__init__(launch, build)
        name, scalar = _ENTRIES[launch.kernel.dtype]
        self._entry = getattr(library.code, f"{library.prefix}{name}{library.suffix}")
        self._entry.restype = None
        whole, problem = library.whole, launch.problem
        m, n, k = (whole(size) for size in (problem.m, problem.n, problem.k))
        a, b, c = (ctypes.c_void_p(p) for p in (self.a.ctypes.data, self.b.ctypes.data, self.c.address))
        self._arguments = (_ROW_MAJOR, _AS_IT_IS, _AS_IT_IS, m, n, k, scalar(1), a, k, b, n, scalar(0), c, n)

    def call(self, launches: int) -> None:
        """Multiply; ctypes lets other threads of Python run meanwhile."""
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
    trials = {core: _try(original, spelling, core) for core in _candidates()}
    core = min(trials, key=trials.__getitem__)
    if trials[core] == float("inf"):
        raise Unavailable("OpenBLAS could not be tried: none of its code paths ended in time")
    return _load(Path(original), spelling, core)


def _candidates() -> list[str]:
    """Return the core types worth a trial; the empty one is OpenBLAS's own choice."""
    if platform.machine() not in ("x86_64", "AMD64"):
        return [""]
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return [""]
    flags = set(next((line for line in lines if line.startswith("flags")), "").split())
    able = [core for core, needs in _PATHS.items() if needs <= flags]
    # Older paths are for older processors: where a newer one runs, they are not faster.
    return ["", *able[:4]]


def _try(original: str, spelling: tuple[str, str], core: str) -> float:
    """Return the seconds of a product with a core type, in its own process; infinite if it does not work."""
    prefix, suffix = spelling
    command = [sys.executable, "-c", _TRIAL, original, f"{prefix}cblas_sgemm{suffix}", str(int(suffix == "64_"))]
    environment = {name: value for name, value in os.environ.items() if name != _VARIABLE}
    try:
        done = subprocess.run(
            command,
            env=environment | ({_VARIABLE: core} if core else {}),
            capture_output=True,
            text=True,
            timeout=_TRIAL_LIMIT_S,
            check=True,
        )
        return float(done.stdout)
    except (OSError, subprocess.SubprocessError, ValueError):
        return float("inf")


def _load(original: Path, spelling: tuple[str, str], core: str) -> Library:
    """Load a copy of the library: the loader hands out the original, with its core type, a second time."""
    folder, _ = data.cache_folder("openblas")
    stat = original.stat()
    # Not by its own name: a search for NumPy's library among the loaded ones must not find this one.
    copy = folder / f"copy-{stat.st_size}-{stat.st_mtime_ns}.so"
    if not copy.exists():
        with tempfile.NamedTemporaryFile(dir=folder, delete=False) as file, original.open("rb") as source:
            shutil.copyfileobj(source, file)
        Path(file.name).replace(copy)
    before = os.environ.pop(_VARIABLE, None)
    if core:
        os.environ[_VARIABLE] = core
    try:
        # The libraries that it links against are loaded already, by NumPy's own.
        code = ctypes.CDLL(str(copy))
    finally:
        os.environ.pop(_VARIABLE, None)
        if before is not None:
            os.environ[_VARIABLE] = before
    prefix, suffix = spelling
    corename = getattr(code, f"{prefix}openblas_get_corename{suffix}")
    corename.restype = ctypes.c_char_p
    threads = int(getattr(code, f"{prefix}openblas_get_num_threads{suffix}")())
    return Library(code, corename().decode(), threads, prefix, suffix)
