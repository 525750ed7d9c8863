"""The certificates of one side of a cluster."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from gemmviz.catalogue.errors import Unavailable
from gemmviz.language import tr

if TYPE_CHECKING:
    from ssl import SSLContext


@dataclass(frozen=True)
class Tls:
    """The files of one side of a TLS connection, in PEM: the authority of both sides, own certificate, own key."""

    ca: Path
    certificate: Path
    key: Path

    def context(self) -> "SSLContext":
        """Return the settings of a client: as Dask's, the other side's certificate counts, and not its host name.

        Raises
        ------
        Unavailable
            When a file is missing or has another content than a certificate or key.
        """
        import ssl  # late: few people have a cluster

        made = ssl.create_default_context(ssl.Purpose.SERVER_AUTH)
        made.check_hostname = False
        try:
            made.load_verify_locations(self.ca)
            made.load_cert_chain(self.certificate, self.key)
        except (ssl.SSLError, OSError) as error:
            names = f"{self.ca}, {self.certificate}, {self.key}"
            why = error.strerror or error
            raise Unavailable(tr("the certificates cannot be used ({why}): {files}", why=why, files=names)) from None
        return made
