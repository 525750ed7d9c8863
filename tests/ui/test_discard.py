"""A discarded widget leaves nothing behind, neither in Qt's style nor in the layout that held it."""

import ctypes

import pytest
from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from gemmviz.catalogue.ladder import ladder
from gemmviz.sandbox import heap
from gemmviz.ui.look.style import style_sheet
from gemmviz.ui.look.theme import DARK
from gemmviz.ui.panels.controls import ParamsRow

TIMES = 12


def used() -> int:
    """Return how many bytes of the C library's heap are in use."""
    ask = ctypes.CDLL(None).mallinfo2
    ask.restype = heap._Heap
    found = ask()
    return found.uordblks + found.hblkhd


@pytest.mark.skipif(not heap.free_bytes(), reason="only glibc 2.33 and later say how much of the heap is in use")
def test_boxes_of_parameters_leave_no_memory(qtbot):
    """Each change left 1 to 2 KiB for each part of a combo box that has no style of its own."""
    window = QWidget()
    qtbot.addWidget(window)
    window.setStyleSheet(style_sheet(DARK))
    row = ParamsRow()
    QVBoxLayout(window).addWidget(row)
    window.show()
    kernels = [kernel for kernel in ladder() if len(kernel.params) > 3][:2]

    def change():
        for kernel in kernels:
            row.show_params(kernel, kernel.defaults)
            QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
            QCoreApplication.processEvents()

    for _ in range(3):  # fonts, style rules and tables of the first time
        change()
    before = used()
    for _ in range(TIMES):
        change()
    boxes = 2 * TIMES * min(len(kernel.params) for kernel in kernels)
    assert used() - before < 512 * boxes
