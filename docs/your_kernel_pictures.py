"""Makes the pictures of ``docs/your-kernel.md``: the real window, offscreen, with the example of that page.

``python docs/your_kernel_pictures.py`` writes them to ``docs/images``. The settings of the user are neither read nor
changed.
"""

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

_DOCS = Path(__file__).parent
IMAGES = _DOCS / "images"
PICTURES = ("describe-form.png", "own-kernel-dark.png", "versions-light.png")
_SIZE = (1280, 800)
_PATIENCE_S, _REST_S = 300.0, 0.7


def main() -> int:
    """Drive the window through the page's steps, and save a picture of each."""
    with tempfile.TemporaryDirectory() as own:
        for variable in ("XDG_DATA_HOME", "XDG_CONFIG_HOME"):
            os.environ[variable] = str(Path(own, variable))
        os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
        folder = Path(own, "kernels")
        shutil.copytree(_DOCS / "examples", folder)
        _drive(folder)
    for name in PICTURES:
        print(f"{(IMAGES / name).stat().st_size / 1e3:6.0f} kB  {name}")
    return 0


def _drive(folder: Path) -> None:
    from PySide6.QtWidgets import QApplication, QWidget

    from gemmviz.app import new_session
    from gemmviz.catalogue.problem import Problem
    from gemmviz.control.controller import Controller
    from gemmviz.engine.supervisor import Engine
    from gemmviz.session.two_versions import Side
    from gemmviz.ui.source.describe_form import DescribeForm
    from gemmviz.ui.window.qt_loop import QtLoop
    from gemmviz.ui.window.window import Window

    qt = QApplication([])
    qt.setStyle("Fusion")
    session = new_session()
    window = Window(session, Controller(session, lambda: Engine(session.permission.trust), QtLoop()))
    window.resize(*_SIZE)
    window.show()

    def wait(there: Callable[[], bool]) -> None:
        """Wait until it is there, and then until the layout is at rest."""
        start = rest = time.monotonic()
        while time.monotonic() - rest < _REST_S:
            qt.processEvents()
            time.sleep(0.01)
            if not there():
                rest = time.monotonic()
            if rest - start > _PATIENCE_S:
                raise TimeoutError("the window is still busy")

    def save(widget: QWidget, name: str) -> None:
        widget.grab().save(str(IMAGES / name))

    def recorded() -> bool:
        playable, kernel = session.cursor.playable, session.choice.kernel
        at_rest = session.progress["record"] is None and playable is not None
        return at_rest and playable is not None and playable.recording.sha256 == kernel.sha256

    window.controller.recording.play_next = False
    window.controller.recording.record()
    try:
        wait(recorded)
        session.permission.trust.allow_folder(folder)
        window.open_file(folder / "matmul.cu")
        (form,) = window.findChildren(DescribeForm)
        wait(lambda: " x " in form.outcome.text())
        save(form, PICTURES[0])
        form.accept()
        wait(recorded)
        session.playback.pause()
        session.choice.choose(Problem.cube(32))
        wait(recorded)
        session.playback.seek_line(session.findings.entries()[0].lines[0])
        window.inspector.show_panel("findings")
        wait(recorded)
        save(window, PICTURES[1])
        session.preferences.set_theme("light")
        window.pages.turn_to("versions")
        versions = session.versions
        versions.choose(Side("matmul.cu", session.choice.kernel), None)
        window.files.open_version(folder / "coalesced.cu", True)
        (form,) = [one for one in window.findChildren(DescribeForm) if one.isVisible()]
        wait(lambda: " x " in form.outcome.text())
        form.accept()
        wait(lambda: versions.sides is not None)
        window.versions.compare.click()
        wait(lambda: not versions.busy)
        save(window, PICTURES[2])
    finally:
        window.end()


if __name__ == "__main__":
    sys.exit(main())
