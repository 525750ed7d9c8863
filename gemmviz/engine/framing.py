"""Sends messages through a pipe: large arrays travel as they lie in memory, beside the message and not in it.

A recording has a gigabyte of arrays. Unpacked from one pickle they would be copied twice while nothing else can run in
the process, and the window would stand still; read straight into new arrays they are copied once, and Python goes on.
"""

import os
import pickle
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

_CHUNK = 1 << 22  # bytes read at once


def send(connection: Connection, plain: Any) -> None:
    """Send plain data with its arrays.

    Parameters
    ----------
    connection
        One end of a pipe; nobody else may send meanwhile.
    plain
        What can be pickled.

    Raises
    ------
    OSError
        When the other end is gone.
    """
    arrays: list[pickle.PickleBuffer] = []
    body = pickle.dumps(plain, protocol=5, buffer_callback=arrays.append)
    parts = [array.raw() for array in arrays]
    connection.send((body, [part.nbytes for part in parts]))
    for part in parts:
        sent = 0
        while sent < part.nbytes:
            sent += os.write(connection.fileno(), part[sent : sent + _CHUNK])


def receive(connection: Connection) -> Any:
    """Receive what was sent by `send`.

    Raises
    ------
    EOFError, OSError
        When the other end is gone, or goes meanwhile.
    """
    body, sizes = connection.recv()
    return pickle.loads(body, buffers=[_read(connection.fileno(), size) for size in sizes])


def _read(descriptor: int, size: int) -> Any:
    found = np.empty(size, np.uint8)
    left = found.data
    while len(left):
        count = os.readv(descriptor, [left[:_CHUNK]])
        if not count:
            raise EOFError
        left = left[count:]
    return found
