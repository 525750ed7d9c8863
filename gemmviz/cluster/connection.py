"""Connects to the scheduler of a cluster, or says in one sentence why that fails."""

import ipaddress
import logging
import socket
import ssl
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any
from urllib.parse import urlsplit

from gemmviz.catalogue.errors import ConstraintError, Unavailable
from gemmviz.cluster.tls import Tls
from gemmviz.language import tr

PORT = 8786
"""The usual port of a scheduler."""
_CONNECT_S = 10.0
# A scheduler sends its first bytes at once, and an alert about a certificate, too.
_ANSWER_S = 5.0
# A worker may be started earlier than its scheduler.
_PATIENCE_S, _AGAIN_S = 120.0, 1.0


class _NoAnswer(Unavailable):
    """Nothing answers at an address, so far."""


@dataclass(frozen=True)
class Address:
    """The address of a scheduler."""

    scheme: str
    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}"


def address(text: str, tls: Tls | None) -> Address:
    """Read the address of a scheduler.

    Parameters
    ----------
    text
        ``tcp://HOST:PORT`` or ``tls://HOST:PORT``. Without a scheme, certificates decide; without a port, it is `PORT`.
    tls
        The certificates, or None.

    Raises
    ------
    ConstraintError
        When it is no address, or when TLS is missing: only loopback may go without.
    """
    try:
        parts = urlsplit(text if "://" in text else f"{'tls' if tls else 'tcp'}://{text}")
        found = Address(parts.scheme, parts.hostname or "", parts.port or PORT)
    except ValueError:
        found = Address("", "", 0)
    if found.scheme not in ("tcp", "tls") or not found.host:
        raise ConstraintError(
            tr("{text} is not the address of a scheduler: write tls://HOST:PORT, or tcp://127.0.0.1:PORT", text=text)
        )
    if found.scheme == "tcp":
        require_tls(found.host, None)
    if found.scheme == "tls" and tls is None:
        raise ConstraintError(
            tr("{address} needs certificates: give --ca, --certificate and --key", address=str(found))
        )
    return found


def require_tls(host: str, tls: Tls | None) -> None:
    """Refuse to use another machine without certificates: whoever reaches a worker can run code there.

    Raises
    ------
    ConstraintError
        When the host is not this machine's loopback and there are no certificates.
    """
    if tls is None and not is_loopback(host):
        raise ConstraintError(
            tr(
                "{host} is not this machine's loopback address, so TLS is required: give --ca, --certificate and --key",
                host=host,
            )
        )


def is_loopback(host: str) -> bool:
    """Return whether a host is this machine's loopback: nobody outside can reach it."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def need_dask() -> None:
    """Refuse to go on without Dask's `distributed`.

    Raises
    ------
    Unavailable
        With the line that installs it.
    """
    if find_spec("distributed") is None:
        raise Unavailable(
            tr(
                "Dask's distributed is not installed, and a cluster needs it: {line}",
                line="python -m pip install 'gemmviz[cluster]'",
            )
        )
    quieten()


def quieten() -> None:
    """Let Dask print no messages in this process: they are for its developers. A user gets a sentence instead."""
    import distributed  # noqa: F401 (its import sets the levels of its loggers)

    for name in list(logging.root.manager.loggerDict):
        if name.partition(".")[0] in ("distributed", "tornado"):
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)


def security(tls: Tls | None) -> Any:
    """Return the settings for Dask: `distributed.Security`, with one certificate for all roles."""
    from distributed import Security  # late: Dask is installed on demand

    if tls is None:
        return Security()
    roles = {
        f"tls_{role}_{part}": str(file)
        for role in ("client", "scheduler", "worker")
        for part, file in (("cert", tls.certificate), ("key", tls.key))
    }
    return Security(require_encryption=True, tls_ca_file=str(tls.ca), **roles)


@contextmanager
def connected(text: str, tls: Tls | None) -> Iterator[Any]:
    """Provide a `distributed.Client`.

    Parameters
    ----------
    text, tls
        As for `address`.

    Raises
    ------
    ConstraintError
        When the address is wrong, or TLS is missing.
    Unavailable
        When Dask is not installed, or the scheduler does not answer, or one side refuses the other's certificate.
    """
    need_dask()
    at = address(text, tls)
    _try(at, tls if at.scheme == "tls" else None)
    from distributed import Client  # late: Dask is installed on demand

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about versions: they are compared by `gemmviz.cluster.software`
        try:
            client = Client(str(at), security=security(tls), timeout=_CONNECT_S, set_as_default=False, name="gemmviz")
        except OSError:
            raise Unavailable(
                tr("{address} answers, but it is not a scheduler of Dask that takes this client", address=str(at))
            ) from None
    try:
        yield client
    finally:
        with suppress(Exception):  # the scheduler may be gone, which is no news any more
            client.close(timeout=2)


def wait_for_scheduler(at: Address, tls: Tls | None) -> None:
    """Return as soon as a scheduler answers that takes the certificate of this side.

    Parameters
    ----------
    at, tls
        From `address`, and as for it.

    Raises
    ------
    Unavailable
        When one side refuses the other's certificate, or when nothing has answered for two minutes.
    """
    end, said = time.monotonic() + _PATIENCE_S, ""
    while True:
        try:
            _try(at, tls if at.scheme == "tls" else None)
            return
        except _NoAnswer as error:
            if time.monotonic() > end:
                raise
            if str(error) != said:
                said = str(error)
                print(tr("{why}; waiting for it", why=said), flush=True)
            time.sleep(_AGAIN_S)


def _try(at: Address, tls: Tls | None) -> None:
    """Open a connection and read the first byte: this shows which side refuses the other."""
    try:
        with socket.create_connection((at.host, at.port), _CONNECT_S) as plain:
            plain.settimeout(_ANSWER_S)
            if tls is None:
                plain.recv(1)
                return
            with tls.context().wrap_socket(plain) as encrypted:
                encrypted.recv(1)  # with TLS 1.3, a client learns only now that its certificate was refused
    except ssl.SSLCertVerificationError as error:
        text = tr("the certificate of {address} is not accepted: {why}", address=str(at), why=error.verify_message)
        raise Unavailable(text) from None
    except ssl.SSLError as error:
        reason = (error.reason or str(error)).lower().replace("_", " ")
        if "alert" in reason:
            text = tr("{address} does not accept this certificate ({why})", address=str(at), why=reason)
        else:
            text = tr("{address} does not speak TLS ({why})", address=str(at), why=reason)
        raise Unavailable(text) from None
    except TimeoutError:
        raise _NoAnswer(tr("{address} does not answer", address=str(at))) from None
    except OSError as error:
        why = error.strerror or error
        raise _NoAnswer(tr("there is no scheduler at {address}: {why}", address=str(at), why=why)) from None
