"""Builds the objects of the window and hands them to each other."""

import argparse
import os
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

from gemmviz import kept_code
from gemmviz.catalogue.errors import Unavailable
from gemmviz.catalogue.ladder import read_ladder
from gemmviz.control.stage_recorder import request_for
from gemmviz.engine.first_recording import FirstFromCache
from gemmviz.engine.supervisor import Engine
from gemmviz.session import Message, Session, preferences_file, snapshot
from gemmviz.session.preferences import ThemeName
from gemmviz.session.snapshot_form import Snapshot

_FIRST = "gputiled"


def new_session(theme: ThemeName | None = None) -> Session:
    """Return a session that opens on a small tiled recording: its demo, 8 x 8 x 8 in 2 x 2 blocks.

    Files of the ladder that cannot be read are left out, with a message.
    """
    kernels, faults = read_ladder()
    session = Session(kernels, theme or "dark")
    session.choice.choose_kernel(next((kernel for kernel in kernels if kernel.name == _FIRST), kernels[0]))
    _warn(session, faults)
    return session


def _warn(session: Session, faults: list[str]) -> None:
    """Name the files that were left out, below the present message."""
    if faults:
        before = [session.messages.current.text] if session.messages.current is not None else []
        session.messages.tell(Message("\n".join([*before, *faults]), "warning", lasting=True))


def run_window(args: argparse.Namespace, chosen: Snapshot) -> int:
    """Open the window and stay until it is closed.

    Parameters
    ----------
    args
        ``file``: a kernel, lesson or state file to open, or None; ``theme``: ``"dark"``, ``"light"`` or None.
    chosen
        The state to open: see `gemmviz.session.snapshot`; empty: the window's first state.

    Returns
    -------
    int
        The exit code.

    Raises
    ------
    GemmvizError
        When a chosen kernel or place does not exist, or the choices do not fit together.
    Unavailable
        When there is no display or Qt lacks a system library; the message gives a remedy.
    ModuleNotFoundError
        When a package of the window is not installed.
    """
    from gemmviz.ui.look.display import missing  # late: only the window needs it

    with kept_code.modules_from_cache():  # this imports Qt
        problem = missing(os.environ)
    kept_code.skip_feature_search()
    if problem is not None:
        raise Unavailable(problem)
    if find_spec("pyqtgraph") is None:  # some charts need it, and are made when they are first shown
        raise ModuleNotFoundError("pyqtgraph is missing", name="pyqtgraph")
    session = new_session()
    faults = preferences_file.restore(session.preferences, args.theme, args.language)
    session.places.name(session.preferences.cluster)
    snapshot.apply(session, chosen)
    _warn(session, faults)
    first = FirstFromCache(session.permission.trust)
    # Its process starts while this one imports Qt and builds the window.
    if args.file:
        first.prepare()
    else:
        first.prepare_for(request_for(session.choice))
    engines: list[Engine] = [first]

    def make_engine() -> Engine:
        return engines.pop() if engines else Engine(session.permission.trust)

    try:
        return _show(session, make_engine, args, chosen)
    finally:
        first.close()


def _show(session: Session, make_engine: Callable[[], Engine], args: argparse.Namespace, chosen: Snapshot) -> int:
    from gemmviz.ui.window import application  # late: only now it is certain that Qt can be loaded

    says_nothing = not args.file and not chosen.keys() - {"theme", "language", "type_scale", "calm"}
    file = Path(args.file) if args.file else None
    return application.show(session, make_engine, file, opens_with_doors=says_nothing)
