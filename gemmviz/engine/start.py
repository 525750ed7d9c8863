"""The start of the engine's process: it is confined first, and only then imports modules that start threads."""

import os
import shutil
import tempfile
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path

from gemmviz import data
from gemmviz.engine.setting import Setting
from gemmviz.sandbox import engine, owned_folders

# The folders in the cache that the engine writes.
_CACHES = ("recorders", "native", "zig", "openblas", "nvrtc", "cupy", "cuda")


def main(connection: Connection, setting: Setting) -> None:
    """Confine this process and serve requests until the parent closes the pipe.

    Parameters
    ----------
    connection
        This process's end of the pipe.
    setting
        See `Setting`.
    """
    # Its own process group: a compiler that it started ends with it, and Ctrl-C reaches the parent only.
    os.setsid()
    with suppress(OSError):
        # When a kernel takes all memory, Linux ends this process and not the window.
        Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")
    # If the parent is killed, nobody may remove the folder while this process still uses it.
    owned_folders.hold(setting.scratch)
    if setting.confined:
        engine.confine(setting.scratch, _caches(), _programs())
    # CuPy and other libraries create temporary files: in the folder that this process may write.
    tempfile.tempdir = str(setting.scratch)
    if setting.confined:
        os.environ["TMPDIR"] = tempfile.tempdir
    # Else this process starts Nsight Compute, whose processes wait for each other by a file in the common folder: with
    # folders of their own several at a time end each other's programs.
    from gemmviz.engine import child  # late: libraries read the temporary folder when they are imported

    child.main(connection, setting)


def _caches() -> list[Path]:
    found = {name: data.cache_folder(name)[0] for name in _CACHES}
    # The driver's compiled code for this GPU is kept here, too, and not in the home folder.
    os.environ.setdefault("CUDA_CACHE_PATH", str(found["cuda"]))
    named = os.environ.get("ZIG_GLOBAL_CACHE_DIR")
    if named:
        with suppress(OSError):
            Path(named).mkdir(parents=True, exist_ok=True)
    return [*found.values(), *([Path(named)] if named else [])]


def _programs() -> list[Path]:
    """Return the folders of the compiler in the environment variable, and of the CUDA toolkit, if they are found.

    They contain the programs with their libraries and headers.
    """
    named = [*os.environ.get("GEMMVIZ_CC", "").split()[:1], "nvdisasm"]
    return [Path(found).resolve().parents[1] for name in named if (found := shutil.which(name))]
