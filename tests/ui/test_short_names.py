# ruff: noqa: E402  (modules that need Qt are imported after `need_qt`)
"""Names of kernels in little room."""

import pytest
from window_driving import need_qt

need_qt()

from PySide6.QtGui import QFont, QFontMetricsF

from gemmviz.ui.look.short_names import shortened


@pytest.fixture
def metrics(qapp):
    return QFontMetricsF(QFont())


def test_a_name_with_room_is_whole(metrics):
    assert shortened("gputiled", metrics, metrics.horizontalAdvance("gputiled")) == "gputiled"


def test_the_end_of_an_identifier_stays(metrics):
    """Cut in the middle, both kernels were "matmul_k…d_tiling"."""
    room = metrics.horizontalAdvance("…2d_thread_tiling") + 1
    assert shortened("matmul_kernel_2d_thread_tiling", metrics, room) == "…2d_thread_tiling"
    assert shortened("matmul_kernel_thread_tiling", metrics, room) == "…thread_tiling"


@pytest.mark.parametrize("name", ["gputiled1 (as printed)", "unbreakableidentifier", "a_unbreakableidentifier"])
def test_another_text_is_cut_in_the_middle(metrics, name):
    short = shortened(name, metrics, metrics.horizontalAdvance("mmmmmmmm"))
    assert short[0] == name[0] and short[-1] == name[-1] and len(short) < len(name)


def test_the_digits_of_intrinsics_have_no_empty_part(metrics):
    assert shortened("__fmul_rn", metrics, metrics.horizontalAdvance("…fmul_rn")) == "…fmul_rn"
