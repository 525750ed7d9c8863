"""Which screen the audience sees."""

from PySide6.QtGui import QGuiApplication, QScreen


def screens() -> list[QScreen]:
    """Return the screens that are plugged in."""
    return QGuiApplication.screens()


def for_audience(console: QScreen | None) -> QScreen | None:
    """Return the first screen besides the teacher's; the teacher's own where there is no other."""
    return next((screen for screen in screens() if screen is not console), console)
