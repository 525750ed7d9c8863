"""The engine that serves the pieces of a worker: one at a time.

The pieces of one course follow each other in one engine, as the sizes of a command do on one machine: its start, with
the device's context, takes longer than a small piece. A piece with texts that are not shipped has an engine of its own,
which ends with it.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from gemmviz.cluster.piece import Piece
from gemmviz.engine.consent import Consent
from gemmviz.engine.supervisor import Engine

# The next piece of a course arrives within this time, or there is none for this worker.
_IDLE_S = 5.0


@dataclass
class _Texts:
    """The consent to the texts of all pieces that an engine has served."""

    pieces: list[Consent] = field(default_factory=list)

    def allows(self, path: Path, text: str) -> bool:
        return any(one.allows(path, text) for one in self.pieces)


class _Serving:
    """An engine that serves the pieces of a course."""

    def __init__(self, course: str) -> None:
        self.course = course
        self.texts = _Texts()
        self.engine = Engine(self.texts)


_waiting: _Serving | None = None
_lock = threading.Lock()


@contextmanager
def of(piece: Piece, consent: Consent) -> Iterator[Engine]:
    """Provide the engine for a piece; no other piece of this worker may be served at the same time.

    Parameters
    ----------
    piece
        The piece.
    consent
        To its texts.
    """
    sent = piece.sources
    own = bool(sent.files or sent.include or not all(kernel.name for kernel in sent.kernels))
    serving = _taken()
    if serving is not None and (own or serving.course != piece.course):
        serving.engine.close()
        serving = None
    serving = serving or _Serving(piece.course)
    serving.texts.pieces.append(consent)
    try:
        yield serving.engine
    except BaseException:
        serving.engine.close()
        raise
    if own:
        serving.engine.close()
    else:
        _keep(serving)


def _taken() -> _Serving | None:
    """Take the engine that waits for a piece, if there is one."""
    global _waiting
    with _lock:
        found, _waiting = _waiting, None
    return found


def _keep(serving: _Serving) -> None:
    """Let an engine wait for the next piece of its course; it ends if none arrives."""
    global _waiting

    def end() -> None:
        global _waiting
        with _lock:
            if _waiting is not serving or served != len(serving.texts.pieces):
                return
            _waiting = None
        serving.engine.close()

    served = len(serving.texts.pieces)
    with _lock:
        _waiting = serving
    timer = threading.Timer(_IDLE_S, end)
    timer.daemon = True
    timer.start()
