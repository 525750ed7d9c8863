"""Builds the objects of the window and hands them to each other."""

import argparse
import os
from pathlib import Path

from gemmviz.catalogue.errors import Unavailable
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.problem import Problem
from gemmviz.engine.supervisor import Engine
from gemmviz.session import Session

_FIRST = "gputiled"
_FIRST_SIZE = 8


def new_session(theme: str | None = None) -> Session:
    """Return a session that opens on a small tiled recording: 8 x 8 x 8 in 2 x 2 blocks."""
    kernels = ladder()
    session = Session(kernels, theme or "dark")
    session.choose(problem=Problem.cube(_FIRST_SIZE))
    session.choose_kernel(find(_FIRST, kernels))
    return session


def run_window(args: argparse.Namespace) -> int:
    """Open the window and stay until it is closed.

    Parameters
    ----------
    args
        ``file``: a kernel file to open, or None; ``theme``: ``"dark"``, ``"light"`` or None.

    Returns
    -------
    int
        The exit code.

    Raises
    ------
    Unavailable
        When there is no display or Qt lacks a system library; the message says what to do.
    """
    from gemmviz.ui.display import missing

    problem = missing(os.environ)
    if problem is not None:
        raise Unavailable(problem)
    from gemmviz.ui import application  # late: Qt is known to load now

    return application.show(new_session(args.theme), Engine, Path(args.file) if args.file else None)
