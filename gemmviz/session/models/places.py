"""Where kernels are measured: on this machine, or on a device of a cluster."""

from collections.abc import Sequence

from psygnal import Signal

from gemmviz.cluster.piece import Scheduler, Seat


class Places:
    """The cluster that the user has named, its devices, and the chosen one."""

    changed = Signal()
    """The cluster, its devices, whether they are being looked for, or why they cannot be used."""
    moved = Signal()
    """Another device is chosen."""

    def __init__(self) -> None:
        self.scheduler: Scheduler | None = None
        self.seats: list[Seat] = []
        self.chosen: Seat | None = None
        """The worker that measures; None: this machine."""
        self.beside: list[Seat] = []
        """Further workers that measure the same at the same time."""
        self.looking = False
        self.fault = ""
        """Why the cluster cannot be used, as a sentence; empty if it can."""

    @property
    def key(self) -> str:
        """A text that distinguishes the chosen place from all others; empty for this machine.

        A worker that is started again gets another address, but its device stays the same.
        """
        return "" if self.chosen is None else self.key_of(self.chosen)

    @staticmethod
    def key_of(seat: Seat) -> str:
        """Return `key` for a worker."""
        return seat.uuid or f"{seat.host} {seat.cpu}"

    def host(self, seat: Seat) -> str:
        """Return the name of a worker's machine, with a number if it has several devices of the same name."""
        same = [one for one in self.seats if (one.host, one.device) == (seat.host, seat.device)]
        numbers = {one.address: number for number, one in enumerate(sorted(same, key=lambda one: one.uuid), 1)}
        return f"{seat.host} #{numbers[seat.address]}" if len(same) > 1 and seat.address in numbers else seat.host

    @property
    def further(self) -> list[Seat]:
        """The workers on other devices than the chosen one, one for each device."""
        found = {self.key: self.chosen}
        for seat in [*self.beside, *self.seats]:
            found.setdefault(self.key_of(seat), seat)
        order = dict.fromkeys([*self.seats, *self.beside])
        return [seat for seat in order if seat != self.chosen and seat in found.values()]

    def name(self, scheduler: Scheduler | None) -> None:
        """Set the cluster; None: there is none."""
        self.scheduler, self.seats, self.beside, self.looking, self.fault = scheduler, [], [], False, ""
        self.changed.emit()

    def look(self) -> None:
        """Note that the devices are being looked for."""
        self.looking, self.fault = True, ""
        self.changed.emit()

    def found(self, seats: Sequence[Seat], fault: str = "") -> None:
        """Take the devices of the cluster, or the reason why there are none."""
        self.looking, self.seats, self.fault = False, list(seats), fault
        self.changed.emit()

    def choose(self, seat: Seat | None) -> None:
        """Choose a worker; None: this machine."""
        if seat != self.chosen:
            self.chosen = seat
            self.moved.emit()
        if seat is not None:
            self.measure_beside(seat, False)

    def measure_beside(self, seat: Seat, wanted: bool) -> None:
        """Let a further worker measure the same at the same time, or no longer. Each device measures once."""
        others = [one for one in self.beside if self.key_of(one) not in (self.key_of(seat), self.key)]
        beside = [*others, seat] if wanted and self.key_of(seat) != self.key else others
        if beside != self.beside:
            self.beside = beside
            self.changed.emit()
