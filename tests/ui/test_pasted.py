# ruff: noqa: E402  (modules that need Qt are imported after `need_qt`)
"""Texts of kernels from the clipboard, and pictures for it."""

import pytest
from window_driving import need_qt

need_qt()

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication

from gemmviz.catalogue.errors import GemmvizError
from gemmviz.catalogue.user_file import KERNEL_BYTES
from gemmviz.ui.source import pasted


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(pasted, "folder", lambda: tmp_path / "pasted")
    return tmp_path / "pasted"


def test_a_pasted_text_has_a_file_of_its_own_with_the_name_of_its_kernel(folder):
    text = "template <int T>\n__global__ void\nsgemm(const float *A)\n{\n}"
    assert pasted.keep(text) == pasted.keep(text.replace("\n", "\r\n") + "\n\n") == folder / "sgemm.cu"
    assert (folder / "sgemm.cu").read_text() == text + "\n"
    assert pasted.keep(text + "// another") == folder / "sgemm_2.cu"
    assert pasted.keep(text) == folder / "sgemm.cu" and (folder / "sgemm.cu").read_text() == text + "\n"
    assert pasted.keep("void gemm(float *A) {}") == folder / "pasted.c"


@pytest.mark.parametrize("text", ["", " \n", "a" * (KERNEL_BYTES + 1)])
def test_what_cannot_be_a_kernel_is_not_kept(folder, text):
    with pytest.raises(GemmvizError, match=r"no text|too long"):
        pasted.keep(text)
    assert not folder.exists()


def test_a_folder_that_cannot_be_made_is_named(folder):
    folder.write_text("in the way")
    with pytest.raises(GemmvizError, match="pasted"):
        pasted.keep("__global__ void k(float *C) {}")


def test_the_stage_and_a_chart_are_copied_as_pictures(window, qtbot):
    clipboard = QGuiApplication.clipboard()
    clipboard.clear()
    qtbot.keyClick(window.stage, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert clipboard.image().size() == window.stage.size() * window.devicePixelRatioF()
    assert window.session.messages.current.text == "Copied as a picture."
    window.pages.turn_to("charts")
    window.copy_picture()
    assert clipboard.image().size() == window.charts.currentWidget().size() * window.devicePixelRatioF()
