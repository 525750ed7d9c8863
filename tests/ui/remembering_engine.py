"""An engine that answers a question only once per run of tests: windows that show the same recording share it."""

import os
import threading
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import shared_recordings

from gemmviz.data import root
from gemmviz.engine.consent import Consent, refused
from gemmviz.engine.messages import Probed, ProbeRequest, Recorded, RecordRequest, Reply, Request
from gemmviz.engine.supervisor import Engine
from gemmviz.language import language

_MOST = 12  # in memory; the others are read again from the run's folder
# Tests have folders of their own, which no recording depends on.
_OWN = (
    *("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", shared_recordings.VARIABLE),
    *("PYTEST_CURRENT_TEST", "PYTEST_XDIST_WORKER", "PYTEST_XDIST_WORKER_COUNT", "PYTEST_XDIST_TESTRUNUID"),
)
_kept: OrderedDict[tuple[Any, ...], list[Reply]] = OrderedDict()
_lock = threading.Lock()


class RememberingEngine(Engine):
    """A real engine, which starts no process for what was answered before.

    Kept are the facts of the machine, and recordings of texts from ``kernels/`` with their edits: these read no file
    that a test may change. An answer that failed or was cancelled is not kept. What one
    process has asked, the others find (`shared_recordings`).
    """

    def __init__(self, consent: Consent) -> None:
        super().__init__(consent)
        self._asks_before = consent

    def run(self, request: Request, cancel: threading.Event) -> Iterator[Reply]:
        """See `Engine.run`."""
        if not _is_repeatable(request) or refused(request, self._asks_before):
            yield from super().run(request, cancel)
            return
        key = _key(request)
        with _lock:
            known = _kept.get(key) or shared_recordings.kept(*key)
            if known is not None:
                _remember(key, known)
        if known is not None:
            yield from (replace(reply, run=request.run) for reply in known)
            return
        replies = []
        for reply in super().run(request, cancel):
            replies.append(reply)
            yield reply
        if isinstance(replies[-1], Recorded | Probed):
            with _lock:
                _remember(key, replies)
            shared_recordings.keep(replies, *key)


def _remember(key: tuple[Any, ...], replies: list[Reply]) -> None:
    _kept[key] = replies
    _kept.move_to_end(key)
    while len(_kept) > _MOST:
        _kept.popitem(last=False)


def ask_for_the_machine(consent: Consent) -> None:
    """Ask for the facts of the machine once, so that no window starts a process for them."""
    engine, request = RememberingEngine(consent), ProbeRequest(1)
    if _key(request) not in _kept:
        list(engine.run(request, threading.Event()))
        engine.close()


def _is_repeatable(request: Request) -> bool:
    if isinstance(request, RecordRequest):
        return root("kernels") in Path(request.path).parents
    return isinstance(request, ProbeRequest)


def _key(request: Request) -> tuple[Any, ...]:
    variables = tuple(sorted((name, value) for name, value in os.environ.items() if name not in _OWN))
    return repr(replace(request, run=0)), language(), variables
