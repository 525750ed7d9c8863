"""Sends a recording through a pair of sockets, as it arrives from the engine."""

import socket
import threading
from typing import Any

from gemmviz.engine.framing import Receiver, send
from gemmviz.engine.messages import Recorded

_WITHIN_S = 60


def arrived(recording: Any, timeline: Any = None, traffic: Any = None) -> Recorded:
    """Return the message as the other end reads it.

    Raises
    ------
    NotAMessage
        When a field has another type.
    """
    here, there = socket.socketpair()
    with here, there:
        sender = threading.Thread(target=send, args=(there.fileno(), Recorded(1, recording, timeline, traffic)))
        sender.start()
        try:
            found = Receiver(here.fileno(), (Recorded,)).receive(_WITHIN_S)
        finally:
            sender.join()
    assert isinstance(found, Recorded)
    return found
