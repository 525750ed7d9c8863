"""Asks the scheduler and the workers of a cluster, and waits for nobody longer than some seconds.

Dask itself waits for ever for a process that was stopped, and half a minute for one whose network is cut.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from gemmviz.catalogue.errors import Unavailable
from gemmviz.language import tr

_SCHEDULER_S = 15.0
# For all workers; and for each one when not all have answered. A worker imports gemmviz for its first answer.
_ALL_S, _EACH_S = 10.0, 20.0


def workers(client: Any) -> dict[str, Any]:
    """Return what the scheduler knows about its workers, by their addresses.

    Parameters
    ----------
    client
        A `distributed.Client`.

    Raises
    ------
    Unavailable
        When the scheduler does not answer.
    """

    async def ask() -> Any:
        return await client.scheduler.identity(n_workers=-1)

    try:
        found: dict[str, Any] = client.sync(ask, callback_timeout=_SCHEDULER_S)["workers"]
    except TimeoutError:
        raise Unavailable(tr("the scheduler does not answer")) from None
    except OSError:
        raise Unavailable(tr("the connection to the cluster was lost")) from None
    return found


def answers(client: Any, function: Callable[..., bytes], addresses: Sequence[str]) -> dict[str, object]:
    """Run a function on workers; return the result or the error of each one that answers in time.

    Parameters
    ----------
    client
        A `distributed.Client`.
    function
        A function of a module that the workers have.
    addresses
        Of the workers.

    Raises
    ------
    Unavailable
        When the connection to the scheduler is lost.
    """
    try:
        found: dict[str, object] = client.sync(_asked, client, function, list(addresses))
    except OSError:
        raise Unavailable(tr("the connection to the cluster was lost")) from None
    return found


async def _asked(client: Any, function: Callable[..., bytes], addresses: list[str]) -> dict[str, object]:
    together = asyncio.ensure_future(client.run(function, workers=addresses, on_error="return"))
    await asyncio.wait([together], timeout=_ALL_S)
    found: dict[str, object] = {}
    if together.done():
        found = together.result()
    else:
        together.cancel()
    # One of them keeps all answers back, or its connection was lost and the scheduler makes a new one: now each one is
    # asked for itself.
    left = [at for at in addresses if isinstance(found.get(at), OSError | None)]
    if not left:
        return found
    each = [asyncio.ensure_future(client.run(function, workers=[at], on_error="return")) for at in left]
    done, late = await asyncio.wait(each, timeout=_EACH_S)
    for one in late:
        one.cancel()
    return found | {at: answer for one in done for at, answer in one.result().items()}
