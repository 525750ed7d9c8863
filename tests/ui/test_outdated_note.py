"""The note on an outdated picture stays within its box, however long the kernel's name is."""

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QFont, QFontMetricsF

from gemmviz.ui.stage.blank import within


def test_a_long_name_is_shortened_and_the_size_stays(qapp) -> None:
    metrics, box = QFontMetricsF(QFont()), QRectF(0, 0, 240, 40)
    assert within("still showing gpumult0 at 8 × 8 × 8", box, metrics) == "still showing gpumult0 at 8 × 8 × 8"
    shown = within(f"still showing {'hgemm_mma_stages_' * 8}<16, 8> at 8 × 8 × 9", box, metrics)
    needed = metrics.boundingRect(box, int(Qt.TextFlag.TextWordWrap), shown)
    assert needed.width() <= box.width() and needed.height() <= box.height()
    assert shown.startswith("still") and shown.endswith("8 × 9")
