"""A network of several hosts on this machine, whose lines have a delay, lose packets, or are down.

Each host is a network namespace. Its only way out is a virtual device, whose packets a thread of this process reads and
passes on. So no module of the kernel for delays is needed.
"""

import fcntl
import heapq
import os
import random
import select
import struct
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass

_TUNSETIFF, _TUN, _NO_INFO = 0x400454CA, 0x0001, 0x1000
_LONGEST = 65536


@dataclass
class Host:
    """A host: its address, its namespace, and the state of its line, which may be changed at any time.

    Attributes
    ----------
    delay_s, jitter_s
        What it sends arrives so late: a uniform random time around ``delay_s``. So packets can overtake each other.
    loss
        The share of the packets that it sends which never arrive.
    is_up
        Whether it can send and receive.
    """

    address: str
    namespace: str
    delay_s: float = 0.0
    jitter_s: float = 0.0
    loss: float = 0.0
    is_up: bool = True

    @property
    def within(self) -> tuple[str, ...]:
        """The words in front of a command that runs it on this host."""
        return ("ip", "netns", "exec", self.namespace)

    def processes(self) -> list[int]:
        """Return the processes of this host."""
        # Without `Path`: tests look ten times a second, and a machine has hundreds of processes.
        own, found = os.stat(f"/run/netns/{self.namespace}").st_ino, []  # noqa: PTH116
        for entry in os.listdir("/proc"):  # noqa: PTH208
            with suppress(OSError):  # it has just ended
                if entry.isdecimal() and os.stat(f"/proc/{entry}/ns/net").st_ino == own:  # noqa: PTH116
                    found.append(int(entry))
        return found


class CannotBeMade(Exception):
    """This machine has no namespaces or virtual devices for this user; the text is the reason."""


@contextmanager
def network(names: Sequence[str], seed: int = 0) -> Iterator[list[Host]]:
    """Make a host for each name, and remove them afterwards, with all processes that still run there.

    Raises
    ------
    CannotBeMade
        When that needs other rights or another kernel.
    """
    hosts, devices = [], []
    try:
        try:
            for number, name in enumerate(names):
                host = Host(f"10.203.8.{number + 1}", f"gv{os.getpid() % 100000}-{name}")
                hosts.append(host)
                devices.append(_made(host, f"gv{os.getpid() % 100000}t{number}"))
        except (OSError, subprocess.CalledProcessError) as error:
            why = error.stderr.strip() if isinstance(error, subprocess.CalledProcessError) else error
            text = f"hosts of their own need root, the program ip, namespaces and /dev/net/tun: {why}"
            raise CannotBeMade(text) from error
        passing = _Passing(hosts, devices, seed)
        passing.start()
        try:
            yield hosts
        finally:
            passing.end()
    finally:
        for host in hosts:
            with suppress(subprocess.CalledProcessError, OSError):
                for pid in host.processes():
                    with suppress(ProcessLookupError):
                        os.kill(pid, 9)
                _ip("netns", "del", host.namespace)
        for device in devices:
            os.close(device)


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True, text=True)


def _made(host: Host, name: str) -> int:
    """Make a host's namespace and device; return the device's end on this side."""
    _ip("netns", "add", host.namespace)
    device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    try:
        fcntl.ioctl(device, _TUNSETIFF, struct.pack("16sH22x", name.encode(), _TUN | _NO_INFO))
        _ip("link", "set", name, "netns", host.namespace)
        for words in (
            ("addr", "add", f"{host.address}/24", "dev", name),
            ("link", "set", name, "up"),
            ("link", "set", "lo", "up"),
        ):
            _ip("-n", host.namespace, *words)
    except BaseException:
        os.close(device)
        raise
    return device


class _Passing(threading.Thread):
    """Passes packets on between the hosts."""

    def __init__(self, hosts: Sequence[Host], devices: Sequence[int], seed: int) -> None:
        super().__init__(name="passes packets on", daemon=True)
        self._hosts = dict(zip(devices, hosts, strict=True))
        self._to = {bytes(map(int, host.address.split("."))): device for device, host in self._hosts.items()}
        self._chance = random.Random(seed)
        self._due: list[tuple[float, int, int, bytes]] = []
        self._wake, self._end = os.pipe()
        self._count = 0

    def end(self) -> None:
        """End the thread."""
        os.close(self._end)
        self.join()
        os.close(self._wake)

    def run(self) -> None:
        """Pass packets on until `end`."""
        while True:
            wait = max(0.0, self._due[0][0] - time.monotonic()) if self._due else None
            ready, _, _ = select.select([self._wake, *self._hosts], [], [], wait)
            if self._wake in ready:
                return
            for device in ready:
                with suppress(OSError):
                    self._take(device, os.read(device, _LONGEST))
            while self._due and self._due[0][0] <= time.monotonic():
                _, _, target, packet = heapq.heappop(self._due)
                if self._hosts[target].is_up:
                    with suppress(OSError):  # its device takes no more just now: a packet that is lost
                        os.write(target, packet)

    def _take(self, device: int, packet: bytes) -> None:
        """Decide when a packet that a host has sent arrives, if it does."""
        sender = self._hosts[device]
        # Of version 4 of the protocol, bytes 16 to 19 are the address to which a packet goes.
        target = self._to.get(packet[16:20]) if packet[0] >> 4 == 4 else None
        if target is None or not sender.is_up or self._chance.random() < sender.loss:
            return
        late = sender.delay_s + self._chance.uniform(-1, 1) * sender.jitter_s
        self._count += 1
        heapq.heappush(self._due, (time.monotonic() + max(0.0, late), self._count, target, packet))
