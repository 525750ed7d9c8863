# ruff: noqa: E402  (modules that need Qt are imported after `need_qt`)
"""A presenter over a small recording of gputiled, and its keys."""

from recordings import small_tiled
from window_driving import need_qt

need_qt()

from gemmviz.catalogue.ladder import find, ladder
from gemmviz.session import Session
from gemmviz.ui.present.presenter import Presenter


def tiled_session() -> Session:
    """Return a session that shows a small recording of gputiled."""
    session = Session(ladder())
    session.choice.choose_kernel(find("gputiled", session.choice.kernels), {"TS": 4})
    session.cursor.show(small_tiled())
    return session


def presenter_of(session: Session, qtbot) -> Presenter:
    """Return a presenter of a session, with the focus."""
    presenter = Presenter(session)
    qtbot.addWidget(presenter)
    presenter.resize(1280, 720)
    presenter.show()
    presenter.activateWindow()
    qtbot.waitUntil(presenter.isActiveWindow)
    return presenter


def press(presenter, qtbot, *keys):
    for key in keys:
        qtbot.keyClick(presenter, key)
