"""Builds the objects of the window and hands them to each other."""

import argparse
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gemmviz.catalogue.errors import Unavailable
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.engine.supervisor import Engine
from gemmviz.session import Session, preferences, snapshot

_FIRST = "gputiled"


def new_session(theme: str | None = None) -> Session:
    """Return a session that opens on a small tiled recording: its demo, 8 x 8 x 8 in 2 x 2 blocks."""
    kernels = ladder()
    session = Session(kernels, theme or "dark")
    session.choose_kernel(find(_FIRST, kernels))
    return session


def run_window(args: argparse.Namespace, chosen: Mapping[str, Any]) -> int:
    """Open the window and stay until it is closed.

    Parameters
    ----------
    args
        ``file``: a kernel, lesson or state file to open, or None; ``theme``: ``"dark"``, ``"light"`` or None.
    chosen
        What is to be on screen: see `gemmviz.session.snapshot`; empty: as the window opens first.

    Returns
    -------
    int
        The exit code.

    Raises
    ------
    GemmvizError
        When what is chosen does not exist, or does not fit together.
    Unavailable
        When there is no display or Qt lacks a system library; the message says what to do.
    """
    from gemmviz.ui.look.display import missing

    problem = missing(os.environ)
    if problem is not None:
        raise Unavailable(problem)
    from gemmviz.ui.window import application  # late: Qt is known to load now

    session = new_session()
    preferences.restore(session, args.theme, args.language)
    snapshot.apply(session, chosen)
    return application.show(session, lambda: Engine(session.trust), Path(args.file) if args.file else None)
