"""The OpenBLAS that NumPy has loaded into this process: its file, and how its functions are spelt."""

import ctypes
from pathlib import Path


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
