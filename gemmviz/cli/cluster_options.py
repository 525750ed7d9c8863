"""The options of commands that use a cluster."""

import argparse
from pathlib import Path

from gemmviz.catalogue.errors import ConstraintError
from gemmviz.cluster.tls import Tls


def add(parser: argparse.ArgumentParser) -> None:
    """Add --cluster and the certificates to a command's parser."""
    parser.add_argument(
        "--cluster",
        metavar="ADDRESS",
        help="work on the workers of a cluster: see `gemmviz cluster --help`",
    )
    add_certificates(parser)


def add_certificates(parser: argparse.ArgumentParser) -> None:
    """Add --ca, --certificate and --key."""
    for name, what in (
        ("ca", "the certificate of the authority that signed all certificates of the cluster"),
        ("certificate", "the certificate of this side"),
        ("key", "the key of this side's certificate"),
    ):
        parser.add_argument(f"--{name}", type=Path, metavar="FILE", help=f"{what}, in PEM; required beyond loopback")


def tls(args: argparse.Namespace) -> Tls | None:
    """Return the certificates that the options name, or None.

    Raises
    ------
    ConstraintError
        When only some of the three files are named.
    """
    given = [args.ca, args.certificate, args.key]
    if not any(given):
        return None
    if not all(given):
        raise ConstraintError("TLS needs three files: give --ca, --certificate and --key")
    return Tls(*given)
