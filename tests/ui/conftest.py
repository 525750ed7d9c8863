"""Chooses the offscreen platform before anything imports Qt; without Qt, every test here is skipped with the reason."""

import os

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import pytest

try:
    import pytestqt
    from window_fixtures import (
        charts,
        charts_in_window,
        make_inspector,
        make_window,
        own_data_folder,
        qapp,
        qtbot,
        usual_type,
        window,
        window_of_the_file,
    )

    __all__ = [
        "charts",
        "charts_in_window",
        "make_inspector",
        "make_window",
        "own_data_folder",
        "pytestqt",
        "qapp",
        "qtbot",
        "usual_type",
        "window",
        "window_of_the_file",
    ]
except ImportError:
    # Each test file gives the reason why it is skipped: see `window_driving.need_qt`.
    pass


def pytest_collection_modifyitems(items):
    # The offscreen platform prints this warning for every window. It concerns the platform and not the window.
    for item in items:
        if item.path.parent.name == "ui":
            item.add_marker(pytest.mark.qt_log_ignore("This plugin does not support propagateSizeHints"))
