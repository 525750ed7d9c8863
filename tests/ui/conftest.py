"""Chooses the offscreen platform before anything imports Qt; without Qt, every test here is skipped with the reason."""

import os
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import pytest

FOLDER = Path(__file__).parent

try:
    import pytestqt
    from language_driving import windows
    from window_fixtures import (
        charts,
        charts_in_window,
        make_inspector,
        make_window,
        no_other_window,
        own_data_folder,
        qapp,
        qtbot,
        shared_window,
        usual_type,
        window,
    )

    __all__ = [
        "charts",
        "charts_in_window",
        "make_inspector",
        "make_window",
        "no_other_window",
        "own_data_folder",
        "pytestqt",
        "qapp",
        "qtbot",
        "shared_window",
        "usual_type",
        "window",
        "windows",
    ]
except ImportError:
    # Each test file gives the reason why it is skipped: see `window_driving.need_qt`.
    pass


def pytest_collection_modifyitems(items):
    ours = [at for at, item in enumerate(items) if item.path.parent == FOLDER]
    # The files that share a window come one after the other: a process opens it once for them.
    shared = {items[at].path for at in ours if "shared_window" in items[at].fixturenames}
    sorted_items = sorted((items[at] for at in ours), key=lambda item: item.path not in shared)
    for at, item in zip(ours, sorted_items, strict=True):
        items[at] = item
        # The offscreen platform prints this warning for every window. It concerns the platform and not the window.
        item.add_marker(pytest.mark.qt_log_ignore("This plugin does not support propagateSizeHints"))
