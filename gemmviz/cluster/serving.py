"""Starts the scheduler and the workers of a cluster on this machine, until they are stopped."""

import asyncio
import logging
import os
import signal
import subprocess
from collections.abc import Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from gemmviz.backends.driver import driver
from gemmviz.catalogue.errors import Unavailable
from gemmviz.cluster.connection import is_loopback, need_dask, require_tls, security
from gemmviz.cluster.course import GPU
from gemmviz.cluster.tls import Tls
from gemmviz.language import mark, tr

_VISIBLE = "CUDA_VISIBLE_DEVICES"
# A worker that finds no scheduler for so long ends; its machine may have been started earlier.
_PATIENCE_S = "120 s"
_LOOK_S = 0.5
# A worker that measures would end after its piece: Dask waits 4 s for it, and only then kills it.
_ENDING_S = 0.5
# Dask's reason for the end of a worker whose scheduler ends all its workers.
_SCHEDULER_ENDS = "scheduler-close"
# What a worker imports at its start: else all workers import it at the start of the first command, while it waits.
_FIRST = ["gemmviz.cluster.work"]
# Dask's pages about a scheduler and its workers have no certificates: there are none, and nobody outside could ask.
_HTTP = "127.0.0.1:0"
_SETTINGS: dict[str, object] = {
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
    # A scheduler keeps so many reports of each course for its developers, after it has passed them on.
    "distributed.admin.low-level-log-length": 100,
}


@dataclass(frozen=True)
class Place:
    """Where a scheduler listens."""

    host: str
    port: int


def gpus() -> list[str]:
    """Return the GPUs that this process may use, each as a value of ``CUDA_VISIBLE_DEVICES``."""
    named = [name for name in os.environ.get(_VISIBLE, "").split(",") if name]
    count = driver().count
    return named[:count] if named else list(map(str, range(count)))


def workers(count: int | None) -> list[dict[str, Any]]:
    """Return the settings of this machine's workers: one per GPU, or one for the CPU if there is no GPU.

    Parameters
    ----------
    count
        The number of workers; None: one per GPU. Further ones have no GPU.
    """
    found = gpus()
    wanted = max(len(found), 1) if count is None else count
    return [
        {"env": {_VISIBLE: found[number]}, "resources": {GPU: 1}} if number < len(found) else {"env": {_VISIBLE: ""}}
        for number in range(wanted)
    ]


@dataclass(frozen=True)
class Elsewhere:
    """The workers of another host: its name for people, and the program that starts them there and ends with them."""

    host: str
    command: list[str]


def serve(
    scheduler: Place | str, tls: Tls | None, settings: Sequence[dict[str, Any]], elsewhere: Sequence[Elsewhere] = ()
) -> bool:
    """Run a scheduler and workers until Ctrl-C; or only workers, until their scheduler ends or cannot be reached.

    Parameters
    ----------
    scheduler
        Where to start one, or the address of a running one.
    tls
        The certificates.
    settings
        The workers of this machine, from `workers`.
    elsewhere
        The workers of other hosts: their programs are started with the scheduler and ended with it. Their last argument
        is the address.

    Returns
    -------
    bool
        Whether the workers have lost the connection to a scheduler that did not end them.

    Raises
    ------
    Unavailable
        When Dask is not installed, a certificate cannot be used, or the address is taken or cannot be reached.
    ConstraintError
        When TLS is missing.
    """
    need_dask()
    if isinstance(scheduler, Place):
        require_tls(scheduler.host, tls)
    if tls is not None:
        tls.context()  # a file that is missing or damaged becomes a sentence
    import dask  # late: it is installed on demand

    with dask.config.set(_SETTINGS), suppress(KeyboardInterrupt, asyncio.CancelledError):
        try:
            return asyncio.run(_serve(scheduler, tls, settings, elsewhere))
        except RuntimeError as error:
            first: BaseException = error
            while first.__cause__ is not None:
                first = first.__cause__
            why = getattr(first, "strerror", None) or str(first) or type(first).__name__
            if isinstance(scheduler, Place):
                place = f"{scheduler.host}:{scheduler.port}"
                raise Unavailable(tr("the cluster cannot be started at {place}: {why}", place=place, why=why)) from None
            raise Unavailable(tr("no worker can be started for {place}: {why}", place=scheduler, why=why)) from None
    return False


async def _serve(
    scheduler: Place | str, tls: Tls | None, settings: Sequence[dict[str, Any]], elsewhere: Sequence[Elsewhere]
) -> bool:
    from distributed import Nanny, Scheduler  # late: Dask is installed on demand

    class OwnNanny(Nanny):  # type: ignore[misc]
        """A nanny that knows why its worker ended."""

        why = ""

        def close_gracefully(self, reason: str = "") -> None:
            self.why = reason
            super().close_gracefully(reason)

    here = asyncio.current_task()
    assert here is not None
    # As at Ctrl-C: the workers are ended, too.
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, here.cancel)
    secure = security(tls)
    async with AsyncExitStack() as stack:
        at = scheduler
        if isinstance(at, Place):
            options = {"host": at.host, "port": at.port, "dashboard": False, "security": secure}
            options["dashboard_address"] = _HTTP
            options["protocol"] = "tls://" if tls else "tcp://"
            started = await stack.enter_async_context(Scheduler(**options))
            at = str(started.address)
        nannies = [
            OwnNanny(
                at,
                nthreads=1,
                memory_limit=0,
                security=secure,
                name=_name(number),
                death_timeout=_PATIENCE_S,
                silence_logs=logging.CRITICAL,
                dashboard_address=_HTTP,
                preload=_FIRST,
                **one,
            )
            for number, one in enumerate(settings)
        ]
        await asyncio.gather(*map(stack.enter_async_context, nannies))
        stack.push_async_callback(_end, nannies)
        children = [subprocess.Popen([*one.command, at]) for one in elsewhere]
        try:
            _say(at, len(nannies), len(children))
            if isinstance(scheduler, Place):
                _say_unreachable(scheduler.host, at)
            watch = asyncio.create_task(_say_ended(elsewhere, children))
            if isinstance(scheduler, Place):
                await asyncio.Event().wait()
            await asyncio.gather(*(nanny.finished() for nanny in nannies))
            if any(nanny.why == _SCHEDULER_ENDS for nanny in nannies):
                print(tr("The workers have ended with their scheduler, {address}.", address=at), flush=True)
                return False
            lost = mark("The connection to {address} was lost: for two minutes the workers try to join it again.")
            print(tr(lost, address=at), flush=True)
            return True
        finally:
            watch.cancel()
            for child in children:
                child.terminate()
            for child in children:
                child.wait()


async def _end(nannies: Sequence[Any]) -> None:
    """End the workers of this machine at the same time; one that goes on is killed, and its engines end with it."""
    closing = asyncio.gather(*(nanny.close() for nanny in nannies))
    await asyncio.wait([closing], timeout=_ENDING_S)
    for pid in filter(None, (nanny.pid for nanny in nannies)):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    await closing


async def _say_ended(elsewhere: Sequence[Elsewhere], children: Sequence[subprocess.Popen[bytes]]) -> None:
    """Report each host whose program has ended: it has no workers."""
    left = dict(enumerate(children))
    while left:
        await asyncio.sleep(_LOOK_S)
        for number in [number for number, child in left.items() if child.poll() is not None]:
            host, code = elsewhere[number].host, left.pop(number).returncode
            print(tr("{host} has no workers: ssh ended with code {code}", host=host, code=code), flush=True)


def _name(number: int) -> str:
    return f"{os.uname().nodename}-{os.getpid()}-{number}"


def _say(at: str, here: int, elsewhere: int) -> None:
    print(
        tr(
            "The scheduler is {address}; workers: {here} here, {elsewhere} hosts.",
            address=at,
            here=here,
            elsewhere=elsewhere,
        ),
        flush=True,
    )


def _say_unreachable(host: str, at: str) -> None:
    """Report a host name that is a loopback address here; Debian gives 127.0.1.1 to a machine's own name."""
    found = urlsplit(at).hostname or ""
    if is_loopback(found) and not is_loopback(host):
        print(
            tr(
                "On this machine {host} is {address}, which no other machine reaches: give its address in the network "
                "as --host.",
                host=host,
                address=found,
            ),
            flush=True,
        )
