"""Follows which workers a cluster has, without waiting for the scheduler."""

import threading
import time
from typing import Any

from gemmviz.catalogue.errors import Unavailable
from gemmviz.cluster import asking


class Presence:
    """Asks the scheduler again and again, in threads: without a network it answers late, or never.

    Parameters
    ----------
    client
        A `distributed.Client`.
    every_s
        The time between an answer and the next question.
    """

    def __init__(self, client: Any, every_s: float) -> None:
        self._client, self._every_s = client, every_s
        self._answered = self._asked = time.monotonic()
        self._asks = False
        self._news: dict[str, Any] | None = None

    @property
    def silent_s(self) -> float:
        """How long ago the last answer arrived."""
        return time.monotonic() - self._answered

    def news(self) -> dict[str, Any] | None:
        """Return the workers, if an answer has arrived since the last call; ask again when it is time."""
        if not self._asks and time.monotonic() - self._asked > self._every_s:
            self._asks = True
            threading.Thread(target=self._ask, name="asks for workers", daemon=True).start()
        found, self._news = self._news, None
        return found

    def _ask(self) -> None:
        try:
            self._news = asking.workers(self._client)
            self._answered = time.monotonic()
        except Unavailable:
            pass  # if the connection is lost, Dask ends the pieces, with that reason
        finally:
            self._asked = time.monotonic()
            self._asks = False
