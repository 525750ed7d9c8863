"""The pieces of a course that are not sent yet, in the order in which workers get them."""

from collections.abc import Iterable, Mapping


class Line:
    """Pieces that wait until a worker is free.

    Dask gives each piece to a worker at once, without knowing how long one takes: a worker would be idle while another
    one still has several. So only as many pieces are sent as there are workers.
    """

    def __init__(self) -> None:
        self._waiting: list[tuple[int, int]] = []

    def fill(self, numbers: Iterable[int], flops: Mapping[int, int] | None = None) -> None:
        """Put pieces into the line, in place of those that it has.

        Parameters
        ----------
        numbers
            The pieces.
        flops
            Their operations: larger pieces go first, so that no worker begins the largest one when the others have
            nothing left to do. None keeps the order of the numbers, as for a single worker.
        """
        order = sorted(numbers)
        if flops is not None:
            order.sort(key=lambda number: -flops[number])
        self._waiting = [(-place, number) for place, number in enumerate(order)]

    def next(self, free: int) -> list[tuple[int, int]]:
        """Take the first pieces out: at most as many as workers are free. Each has Dask's priority and its number."""
        free = max(free, 0)
        now, self._waiting = self._waiting[:free], self._waiting[free:]
        return now

    def clear(self) -> list[int]:
        """Take all pieces out."""
        left, self._waiting = self._waiting, []
        return [number for _, number in left]
