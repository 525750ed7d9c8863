"""Makes the pictures of ``docs/your-kernel.md``: the real window, offscreen, with the example of that page.

``python docs/your_kernel_pictures.py`` writes them to ``docs/images``. The settings of the user are neither read nor
changed.
"""

import shutil
import sys
import tempfile
from pathlib import Path

from driven_window import DrivenWindow, driven_window

_DOCS = Path(__file__).parent
PICTURES = ("describe-form.png", "own-kernel-dark.png", "versions-light.png")
_SIZE = (1280, 800)


def main() -> int:
    """Drive the window through the page's steps, and save a picture of each."""
    with tempfile.TemporaryDirectory() as own, driven_window(*_SIZE) as driven:
        folder = Path(own, "kernels")
        shutil.copytree(_DOCS / "examples", folder)
        _draw(driven, folder)
    return 0


def _draw(driven: DrivenWindow, folder: Path) -> None:
    from gemmviz.catalogue.problem import Problem
    from gemmviz.session.models.two_versions import Side
    from gemmviz.ui.source.describe_form import DescribeForm

    session, window = driven.session, driven.window
    session.permission.trust.allow_folder(folder)
    window.open_file(folder / "matmul.cu")
    driven.wait(driven.recorded)
    window.message_bar.answer(0)
    (form,) = window.findChildren(DescribeForm)
    driven.wait(lambda: " x " in form.outcome.text())
    driven.save(PICTURES[0], form)
    form.reject()
    session.playback.pause()
    session.choice.choose(Problem.cube(32))
    driven.wait(driven.recorded)
    session.player.seek_line(session.findings.entries()[0].lines[0])
    window.inspector.show_panel("findings")
    driven.wait(driven.recorded)
    driven.save(PICTURES[1])
    session.preferences.set_theme("light")
    window.pages.turn_to("versions")
    versions = session.versions
    versions.choose(Side("matmul.cu", session.choice.kernel), None)
    window.files.open_version(folder / "coalesced.cu", True)
    driven.wait(lambda: versions.sides is not None)
    session.messages.tell(None)
    window.versions.compare.click()
    driven.wait(lambda: not versions.busy)
    driven.save(PICTURES[2])


if __name__ == "__main__":
    sys.exit(main())
