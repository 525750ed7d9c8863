"""What all tests share: cache folders, one reading of the ladder, quick engines, and a reason where there is no GPU."""

import ctypes
import fcntl
import gc
import os
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from importlib.util import cache_from_source, find_spec
from pathlib import Path

import platformdirs
import pytest

DAY_S = 24 * 3600
KEPT_S = 14 * DAY_S
GPU_TESTS = Path(__file__).parent / "gpu"
OURS = Path(platformdirs.user_cache_dir("gemmviz", appauthor=False))
"""The user's cache; what tests compile is below ``tests`` in there."""
if sys.dont_write_bytecode:
    # As many containers have it. Tests start hundreds of Pythons: each would compile all modules of gemmviz anew.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False


# Threads of NumPy's OpenBLAS look for work for a while after each product, in each process of tests; the products are
# small. Processes that tests start have as many threads as without tests.
_THREADS = "OPENBLAS_NUM_THREADS"
if _THREADS not in os.environ:
    os.environ[_THREADS] = "1"
    import numpy  # noqa: F401  (reads the variable)

    del os.environ[_THREADS]
# From <malloc.h>; see mallopt(3). Memory that arrays have left is used again, and not given back and cleared each time.
_TRIM_THRESHOLD, _TOP_PAD, _MMAP_THRESHOLD = -1, -2, -3
with suppress(OSError, AttributeError):  # another C library
    for _setting, _value in ((_TRIM_THRESHOLD, 128 << 20), (_TOP_PAD, 16 << 20), (_MMAP_THRESHOLD, 32 << 20)):
        ctypes.CDLL(None).mallopt(_setting, _value)


def pytest_addoption(parser: pytest.Parser) -> None:
    # Where pytest-qt is not installed, its settings in pyproject.toml would count as mistakes.
    if find_spec("pytestqt") is None:
        for name in ("qt_api", "qt_log_level_fail"):
            parser.addini(name, "pytest-qt's, which is not installed")


def pytest_configure() -> None:
    """Let tests share the ladder, and keep what Hypothesis learns from the source.

    Hundreds of tests ask for the shipped kernels, and none changes their files. Hypothesis collects the constants of
    all modules, for 2 s in each process, and keeps them in this folder.
    """
    os.environ.setdefault("HYPOTHESIS_STORAGE_DIRECTORY", str(OURS / "tests" / "hypothesis"))
    from gemmviz import data
    from gemmviz.catalogue import ladder

    read, shipped = ladder.read_ladder, data.root("kernels")
    read_shipped = cache(lambda: read(shipped))

    def read_ladder(folder: Path | None = None):
        if (folder or data.root("kernels")) != shipped:
            return read(folder)
        kernels, faults = read_shipped()
        return list(kernels), list(faults)

    ladder.read_ladder = read_ladder


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session):
    """Collect without looking for garbage: nearly all that is made then stays."""
    gc.disable()
    try:
        with _rewritten_once(session.config):
            return (yield)
    finally:
        gc.enable()


@contextmanager
def _rewritten_once(config: pytest.Config) -> Iterator[None]:
    """Let two processes rewrite the assertions of all test files, if no run has done it; then the others read them."""
    file = Path(cache_from_source(str(Path(__file__).parent / "unit" / "test_imports.py")))
    if "PYTEST_XDIST_WORKER" not in os.environ or any(file.parent.glob("test_imports.*-pytest-*")):
        yield
        return
    folder = OURS / "tests"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with (folder / "collected.lock").open("w") as lock, (folder / "rewritten.lock").open("w") as other:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            with suppress(BlockingIOError):
                fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
                _rewrite_from_the_end(config)
            fcntl.flock(lock, fcntl.LOCK_SH)
        yield


def _rewrite_from_the_end(config: pytest.Config) -> None:
    """Rewrite the assertions of test files as pytest does, from the last one: another process begins with the first."""
    from _pytest.assertion import assertstate_key
    from _pytest.assertion.rewrite import PYC_TAIL, _rewrite_test, _write_pyc, get_cache_dir, try_makedirs

    for file in sorted(Path(__file__).parent.rglob("test_*.py"), reverse=True):
        kept = get_cache_dir(file) / (file.name[:-3] + PYC_TAIL)
        if not kept.exists() and try_makedirs(kept.parent):
            stat, code = _rewrite_test(file, config)
            _write_pyc(config.stash[assertstate_key], code, stat, kept)


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leave out the folder of tests for a GPU where there is none: to skip them one by one takes seconds."""
    return True if collection_path == GPU_TESTS and _no_gpu() else None


def pytest_report_header() -> str | None:
    """Say why the tests for a GPU are left out."""
    return f"tests/gpu is left out: {_no_gpu()}" if _no_gpu() else None


@cache
def _no_gpu() -> str:
    """Return why CUDA kernels cannot run here; empty where they can."""
    from gemmviz.backends.cupy_check import cuda_verdict

    verdict = cuda_verdict()
    return "" if verdict.usable else str(verdict)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int | None:
    """One worker more than cores: tests of the window and of engines wait for timers and for each other's processes."""
    if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ:
        return None
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return cores + 1


def pytest_collection_finish() -> None:
    # Tests, modules and caches live to the end: full collections of garbage do not look at them again and again.
    gc.collect()
    gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave the rest of sweeps to ``-m thorough``, before pytest selects; skip tests for a GPU where there is none."""
    from sampled import by_rung, mark_the_rest

    mark_the_rest(items, whole=not any("::" in name for name in config.args))
    by_rung(items)
    if not _no_gpu():
        return
    for item in items:
        if "gpu" in item.keywords:
            item.add_marker(pytest.mark.skip(reason=_no_gpu()))


@pytest.fixture(scope="session", autouse=True)
def own_folders(tmp_path_factory: pytest.TempPathFactory):
    """What is compiled goes to a cache of the tests' own, which the next run uses; all else to the session's folders.

    A compiled kernel has the hash of its source, its flags and its compiler in its name: none is ever out of date.
    """
    compiled = OURS / "tests"
    compiled.mkdir(mode=0o700, parents=True, exist_ok=True)
    _forget(compiled)
    with pytest.MonkeyPatch.context() as patch:
        if "ZIG_GLOBAL_CACHE_DIR" not in os.environ:
            patch.setenv("ZIG_GLOBAL_CACHE_DIR", str(OURS / "zig"))
        patch.setenv("XDG_CACHE_HOME", str(compiled))
        patch.setenv("XDG_DATA_HOME", str(tmp_path_factory.mktemp("data")))
        patch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("config")))
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        patch.setenv("GEMMVIZ_TESTS_RECORDINGS", str(_recordings(tmp_path_factory)))
        with (compiled / "first.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            _prepare_the_compiler()
            _choose_for_openblas()
        yield


def _recordings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of `shared_recordings`: this run's own, common to all its processes."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "recordings"
    folder.mkdir(exist_ok=True)
    return folder


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Remove the recordings that the processes of tests shared: some hundred MB."""
    factory = getattr(session.config, "_tmp_path_factory", None)
    if "PYTEST_XDIST_WORKER" not in os.environ and factory is not None:
        shutil.rmtree(factory.getbasetemp() / "recordings", ignore_errors=True)


def _prepare_the_compiler() -> None:
    """Compile the recorder's runtime in one process of tests while the others wait for it.

    With an empty cache each of them would do it: 6 s of processor time each.
    """
    from gemmviz.catalogue.errors import BuildError, Unavailable
    from gemmviz.catalogue.ladder import find, ladder
    from gemmviz.catalogue.launch import launch
    from gemmviz.catalogue.problem import Problem
    from gemmviz.simt.build import build

    with suppress(BuildError, Unavailable):
        build(launch(find("gputiled", ladder()), Problem.cube(8)))


def _choose_for_openblas() -> None:
    """Keep OpenBLAS's own choice of its code path, as if the trials had found it.

    The trials take 6 s of processor time, and a busy machine does not keep their result: each process that multiplies
    with OpenBLAS would repeat them. The tests of the trials have caches of their own.
    """
    import msgspec

    from gemmviz import data
    from gemmviz.backends import openblas_trials
    from gemmviz.backends.blas import loaded_library

    if original := loaded_library("openblas"):
        file = data.cache_folder("openblas")[0] / "fastest.json"
        choice = openblas_trials.Choice(openblas_trials._machine(Path(original)), "", {})
        if openblas_trials._kept(file) != choice:
            file.write_bytes(msgspec.json.encode(choice))


def _forget(folder: Path) -> None:
    """Remove what was compiled long ago, once a day; another run may do so at the same time."""
    looked = folder / "looked_through"
    with suppress(OSError):
        if time.time() - looked.stat().st_mtime < DAY_S:
            return
    looked.touch()
    for file in folder.rglob("*"):
        with suppress(OSError):
            if file.is_file() and time.time() - file.stat().st_mtime > KEPT_S:
                file.unlink()


@pytest.fixture(scope="module", autouse=True)
def quick_engines(request: pytest.FixtureRequest):
    """Engines are forked from a process that has all imported; those of the sandbox's tests start as in the program."""
    from forked_engines import ForkedEngines

    with pytest.MonkeyPatch.context() as patch:
        if request.path.parent.name != "sandbox":
            patch.setattr("gemmviz.engine.process.multiprocessing", ForkedEngines())
        yield


@pytest.fixture(scope="session", autouse=True)
def short_measurements():
    """With ``--quick``, three samples are enough: the program's accuracy takes seconds on a busy machine."""
    from benching import FAST

    from gemmviz.bench.protocol import Protocol

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Protocol, "quick", classmethod(lambda cls: cls(rounds=1, **FAST)))
        yield


@pytest.fixture(scope="module", autouse=True)
def forgotten_recordings(request: pytest.FixtureRequest):
    """What a file alone has cached is freed after it."""
    from shared_recordings import forget

    yield
    forget(request.module)
