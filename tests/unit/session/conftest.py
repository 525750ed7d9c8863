"""A session that shows a small recording of gputiled."""

import pytest
from recordings import small_tiled

from gemmviz.catalogue.ladder import find, ladder
from gemmviz.session import Session
from gemmviz.trace.playable import Playable


@pytest.fixture
def playable() -> Playable:
    return small_tiled()


@pytest.fixture
def session(playable: Playable) -> Session:
    session = Session(ladder())
    session.choice.choose_kernel(find("gputiled", session.choice.kernels))
    session.cursor.show(playable)
    return session
