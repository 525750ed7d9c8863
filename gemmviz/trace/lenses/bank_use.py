"""The words and banks of one request to shared memory, and the wavefronts that serve them.

Addresses are *recorded*; their distribution to wavefronts is *modelled* (see `gemmviz.trace.cost.wavefronts`).
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gemmviz.trace.cost.warp_request import WarpRequest
from gemmviz.trace.cost.wavefronts import BANKS, parts
from gemmviz.trace.distinct import distinct
from gemmviz.trace.order.requests import Ints


@dataclass(frozen=True)
class BankUse:
    """The words of a request.

    Attributes
    ----------
    request
        A request to shared memory.
    word, served
        int64, per served word of four bytes: its number from the array's first word, and its wavefront,
        from 0. A word that two parts of the warp ask for is listed twice.
    first_lane, lanes
        int64, the lowest lane that asks for the word in that wavefront, and the number of these lanes.
    late
        bool, per wavefront: whether it is caused by a bank conflict.
    """

    request: WarpRequest
    word: Ints
    served: Ints
    first_lane: Ints
    lanes: Ints
    late: npt.NDArray[np.bool_]

    @property
    def bank(self) -> Ints:
        """The bank of each word."""
        return self.word % BANKS

    @property
    def ways(self) -> int:
        """The largest number of words that one bank serves for lanes that are served together: 1 means no conflict."""
        first = np.flatnonzero(~self.late)
        return int(np.diff(first, append=len(self.late)).max(initial=1))

    def first_words(self) -> list[tuple[int, int, bool]]:
        """Return for each active lane, ascending: its number, the bank of its first word, and whether that is late."""
        asked = self.request
        which, first = np.unique(asked.access, return_index=True)
        banks, late = asked.place[first] % BANKS, self.late[asked.served[first]]
        return list(zip(asked.lane[which].tolist(), banks.tolist(), late.tolist(), strict=True))

    def lanes_of(self, wavefront: int) -> list[int]:
        """Return the lanes that a wavefront serves, ascending."""
        asked = self.request
        lanes: list[int] = distinct(asked.lane[asked.access[asked.served == wavefront]]).tolist()
        return lanes


@dataclass(frozen=True)
class BankFormula:
    """The banks of a request's lanes as ``(step * (lane mod period) + start) mod 32``.

    Attributes
    ----------
    step, start
        In banks, from 0 to 31.
    period
        A power of two from 2 to 32: from this lane on, the banks are those of the first lanes again.
    """

    step: int
    start: int
    period: int


def bank_formula(banks: dict[int, int]) -> BankFormula | None:
    """Return the formula with the longest period that gives the bank of every lane; None if there is none.

    Parameters
    ----------
    banks
        The bank of each active lane. Lanes 0 and 1 have to be among them.
    """
    if not {0, 1} <= banks.keys():
        return None
    start = banks[0]
    step = (banks[1] - start) % BANKS
    for period in (32, 16, 8, 4, 2):
        if all((step * (lane % period) + start) % BANKS == bank for lane, bank in banks.items()):
            return BankFormula(step, start, period)
    return None


def bank_use(request: WarpRequest, itemsize: int) -> BankUse:
    """Return the words of a request to shared memory.

    Parameters
    ----------
    request
        The request.
    itemsize
        Bytes per element of its array.
    """
    key = request.served * (int(request.place.max(initial=0)) + 1) + request.place
    _, first, count = np.unique(key, return_index=True, return_counts=True)
    part = parts(request.lane, request.element * itemsize, request.width, request.write)[request.access]
    late = np.ones(request.units, bool)
    for number in distinct(part).tolist():
        late[int(request.served[part == number].min())] = False
    return BankUse(
        request, request.place[first], request.served[first], request.lane[request.access[first]], count, late
    )
