"""One door of the first view: its picture, texts and button in a frame."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QLabel, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from gemmviz.ui.look.style import scaled

GAP = 24
"""Pixels between the doors, and between their parts and frames."""
PICTURE = 220
"""The usual height of a picture, in pixels at a scale of type of 1."""
_LEAST_PICTURE = 110  # in a low window


def add_card(
    doors: QGridLayout, number: int, picture: QWidget, texts: tuple[str, str, str], button: QPushButton
) -> QFrame:
    """Add one door as a column: its picture, texts, button and key; the same parts of all doors are in one row.

    The texts are its heading, a sentence about the page behind it, and the kernel in a few words. The result is the
    frame around them.
    """
    at, frame = number - 1, QFrame()
    frame.setObjectName("door")
    (title, body, info), key = (QLabel(text) for text in texts), QLabel(str(number))
    title.setObjectName("heading")
    body.setObjectName("body")
    info.setObjectName("info")
    key.setObjectName("key")
    key.setAlignment(Qt.AlignmentFlag.AlignCenter)
    frame.setProperty("first", "true" if number == 1 else "false")
    for label in (title, body, info):
        label.setWordWrap(True)
        label.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        label.setIndent(0)  # a line above a label would indent its text
    button.setObjectName("primary" if number == 1 else "")
    button.setAccessibleDescription(texts[1])
    button.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
    row = QHBoxLayout()
    row.setSpacing(GAP // 2)
    row.addWidget(button, 1)
    row.addWidget(key)
    picture.setMinimumHeight(round(scaled(_LEAST_PICTURE)))
    picture.setMaximumHeight(round(scaled(PICTURE)))
    parts = [_boxed(part) for part in (picture, title, body, info)]
    doors.addWidget(frame, 0, at, len(parts) + 1, 1)
    for line, part in enumerate((*parts, row)):
        left, top, right, bottom = GAP, 0 if line else GAP, GAP, GAP if part is row else 0
        part.setContentsMargins(left, top, right, bottom)
        doors.addLayout(part, line, at)
    doors.setColumnStretch(at, 1)
    for widget in (frame, picture, title, body, info):
        widget.setCursor(Qt.CursorShape.PointingHandCursor)
    return frame


def _boxed(part: QWidget) -> QVBoxLayout:
    column = QVBoxLayout()
    column.addWidget(part)
    return column
