"""What all tests share: a cache folder of their own, and a printed reason where there is no GPU."""

import os
from importlib.util import find_spec
from pathlib import Path

import platformdirs
import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    # Where pytest-qt is not installed, its settings in pyproject.toml would count as mistakes.
    if find_spec("pytestqt") is None:
        for name in ("qt_api", "qt_log_level_fail"):
            parser.addini(name, "pytest-qt's, which is not installed")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    from gemmviz.backends.cupy_check import cuda_verdict

    verdict = cuda_verdict()
    if verdict.usable:
        return
    for item in items:
        if "gpu" in item.keywords:
            item.add_marker(pytest.mark.skip(reason=str(verdict)))


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory):
    """What is compiled and kept goes to folders of the session; the compiler's own cache, slow to fill, is reused.

    Processes that test side by side share what they compile: a kernel is compiled once for all of them.
    """
    ours = Path(platformdirs.user_cache_dir("gemmviz", appauthor=False))
    base = tmp_path_factory.getbasetemp()
    cache = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "cache"
    cache.mkdir(mode=0o700, exist_ok=True)
    with pytest.MonkeyPatch.context() as patch:
        if "ZIG_GLOBAL_CACHE_DIR" not in os.environ:
            patch.setenv("ZIG_GLOBAL_CACHE_DIR", str(ours / "zig"))
        patch.setenv("XDG_CACHE_HOME", str(cache))
        patch.setenv("XDG_DATA_HOME", str(tmp_path_factory.mktemp("data")))
        patch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("config")))
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield
