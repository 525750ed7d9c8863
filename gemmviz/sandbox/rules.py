"""The files that the engine, the compiler, and a process that runs a kernel may open."""

import os
import sys
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from gemmviz import data
from gemmviz.sandbox.landlock import Access

_SYSTEM = ("/usr", "/lib", "/lib32", "/lib64", "/libx32", "/bin", "/sbin", "/opt", "/nix/store", "/gnu/store")
_LIBRARIES = ("/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libx32", "/usr/local/lib", *_SYSTEM[1:5], *_SYSTEM[8:])
_LOADER = ("/etc/ld.so.cache", "/etc/localtime")
_SETTINGS = (*_LOADER, "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/nsswitch.conf", "/etc/passwd", "/etc/os-release")
_MACHINE = (
    *("/proc/self", "/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/sys/vm", "/proc/sys/kernel/osrelease"),
    *("/sys/devices/system", "/sys/kernel/mm/transparent_hugepage"),
)
# Packages that the engine imports, wherever they are installed.
_PACKAGES = (
    *("numpy", "ml_dtypes", "elftools", "msgspec", "platformdirs", "psygnal", "pygments", "rich", "polib", "PIL"),
    *("ziglang", "markdown_it", "mdurl", "typing_extensions"),
    *("cupy", "cupy_backends", "cupyx", "cuda", "nvidia", "pynvml", "fastrlock"),
)
_CUDA_VARIABLES = ("CUDA_HOME", "CUDA_PATH", "CUDA_ROOT")
_CUDA_CACHES = ("CUDA_CACHE_PATH", "CUPY_CACHE_DIR")


def engine(scratch: Path, caches: Sequence[Path], programs: Sequence[Path]) -> Access:
    """Return the files that the engine may open: programs and libraries, gemmviz itself, its caches, and the GPU.

    Parameters
    ----------
    scratch
        The engine's own folder.
    caches
        Folders for compiled kernels.
    programs
        The compiler, if it is outside of the system's folders.
    """
    named = [*map(Path, _SYSTEM), *_python(), *_packages(), *_named(_CUDA_VARIABLES), *_library_path(), *programs]
    return Access(
        read=[*map(Path, _SETTINGS), Path("/proc"), Path("/sys"), Path("/dev/zero"), Path("/dev/urandom"), *_ours()],
        # CUDA's driver writes the names of its threads there, and does not start if it cannot.
        write=[scratch, *caches, *_named(_CUDA_CACHES), Path("/proc/self/task")],
        execute=_sane(named),
        devices=[Path("/dev/null"), *gpu_devices()],
    )


def compiling(build: Path, read: Sequence[Path], write: Sequence[Path], programs: Sequence[Path]) -> Access:
    """Return the files that a compiler may open: the system's headers and libraries, and its own folders.

    Parameters
    ----------
    build
        The build folder.
    read
        Further folders with headers.
    write
        Further folders that it may write.
    programs
        The compiler and the programs that it starts; if empty, all of the system's folders.
    """
    system = _systems(os.environ.get("LD_LIBRARY_PATH", ""))
    return Access(
        read=[*(system if programs else []), *read, *_ours(), *map(Path, (*_LOADER, *_MACHINE))],
        write=[build, *write],
        execute=[*programs, *_interpreters()] if programs else system,
        devices=[Path("/dev/null")],
    )


@cache
def _systems(library_path: str) -> list[Path]:
    """Return the system's folders, and those of `library_path`, a value of the loader's variable."""
    return _sane([*map(Path, _SYSTEM), *_folders(library_path)])


@cache
def running() -> Access:
    """Return the files that every process may open that runs a kernel: the system's libraries, to read."""
    libraries = _sane([*map(Path, _LIBRARIES), Path(os.__file__).parent, *_packages(), *_library_path(), *_ours()])
    return Access(
        read=[*libraries, *map(Path, (*_LOADER, *_MACHINE, "/dev/urandom"))],
        devices=[Path("/dev/null")],
    )


def gpu_devices() -> list[Path]:
    """Return the device files of NVIDIA's driver, and those of Windows if Linux runs inside it."""
    found = sorted(Path("/dev").glob("nvidia*"))
    return [*found, *(p for p in (Path("/dev/dxg"), Path("/dev/shm")) if found and p.exists())]


def _ours() -> list[Path]:
    package = Path(__file__).resolve().parents[1]
    return [package, data.root("kernels").resolve(), data.root("resources").resolve()]


def _python() -> list[Path]:
    executable = Path(sys.executable)
    # A user who names a folder here wants to import from it.
    named = [Path(folder) for folder in os.environ.get("PYTHONPATH", "").split(os.pathsep) if folder]
    return [Path(sys.prefix), Path(sys.base_prefix), Path(sys.exec_prefix), executable, executable.resolve(), *named]


@cache
def _packages() -> list[Path]:
    """Return the folders of packages that are outside of Python's folders, or that a link in these leads to."""
    found = []
    for name in _PACKAGES:
        imported = sys.modules.get(name)
        spec = imported.__spec__ if imported is not None else find_spec(name)
        if spec is not None:
            alone = [spec.origin] if spec.origin and not spec.submodule_search_locations else []
            found += [Path(place) for place in (*(spec.submodule_search_locations or ()), *alone)]
    # The libraries of a package's wheel are next to it: numpy.libs.
    return [*found, *(libs for folder in found if (libs := folder.with_name(f"{folder.name}.libs")).is_dir())]


@cache
def _interpreters() -> list[Path]:
    """Return the loaders of shared libraries, through which programs are started."""
    places = ("/lib64", "/lib", "/lib32", "/libx32", "/usr/lib64", "/usr/lib")
    found = {loader.resolve() for place in places for loader in Path(place).glob("ld-linux*.so*")}
    found |= {loader.resolve() for place in places for loader in Path(place).glob("ld-musl*.so*")}
    found |= {loader.resolve() for place in places for loader in Path(place).glob("*/ld-linux*.so*")}
    return sorted(found)


def _library_path() -> list[Path]:
    return _folders(os.environ.get("LD_LIBRARY_PATH", ""))


def _folders(library_path: str) -> list[Path]:
    return [Path(folder) for folder in library_path.split(":") if folder]


def _named(variables: Iterable[str]) -> list[Path]:
    return _sane(Path(value) for name in variables if (value := os.environ.get(name)))


def _sane(paths: Iterable[Path]) -> list[Path]:
    """Return the paths without the home folder, its parents, and duplicates."""
    home = os.path.realpath(Path.home())
    kept: list[str] = []
    # A folder comes directly before its content, also if other names begin with its name.
    for path in sorted({os.path.realpath(p) for p in paths if p.is_absolute()}, key=lambda path: path + os.sep):
        covered = bool(kept) and _is_in(path, kept[-1])
        if not _is_in(home, path) and not covered:
            kept.append(path)
    return [Path(path) for path in kept]


def _is_in(path: str, folder: str) -> bool:
    """Whether a path without links is a folder, or in it."""
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)
