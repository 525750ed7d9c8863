"""Qt's messages while a window is drawn with no display."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from PySide6.QtCore import qInstallMessageHandler

# Qt's platform without a display gives no hints to a window manager; nobody needs them.
_NO_HINTS = "This plugin does not support"


@contextmanager
def without_hints() -> Iterator[None]:
    """Leave out the message that the platform gives no hints about a window's size; all others are passed on."""

    def pass_on(kind: Any, context: Any, text: str) -> None:
        if text.startswith(_NO_HINTS):
            return
        if before is not None:
            before(kind, context, text)
        else:
            print(text, file=sys.stderr)

    before: Any = qInstallMessageHandler(pass_on)
    try:
        yield
    finally:
        qInstallMessageHandler(before)
