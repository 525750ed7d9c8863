"""``gemmviz cluster``: starts the scheduler and the workers of a cluster."""

import argparse
import os
import shlex
from pathlib import Path
from typing import Any

from gemmviz.catalogue.errors import ConstraintError
from gemmviz.cli import cluster_options, options


def add(commands: Any, summary: str) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "cluster",
        help=summary,
        description="Starts workers that serve `gemmviz bench`, `tune`, `check`, `claims` and `prove` with --cluster "
        "ADDRESS. A worker is a worker of Dask (pip install 'gemmviz[cluster]'), one per GPU. Whoever can connect to "
        "it can run code there: so beyond this machine's loopback address, TLS with certificates is required. "
        "docs/cluster.md shows how to make them.",
    )
    kinds = parser.add_subparsers(metavar="KIND", required=True)

    local = kinds.add_parser("local", help="a scheduler and workers on this machine, until Ctrl-C")
    _add_place(local, "127.0.0.1")
    _add_workers(local, "; 0: the scheduler only")
    local.set_defaults(run=_local)

    worker = kinds.add_parser("worker", help="workers of this machine, for a scheduler elsewhere, until it ends")
    _add_workers(worker)
    cluster_options.add_certificates(worker)
    worker.add_argument("address", metavar="ADDRESS", help="of the scheduler, for example tls://HOST:8786")
    worker.set_defaults(run=_worker)

    ssh = kinds.add_parser(
        "ssh",
        help="a scheduler on this machine, and workers on other hosts that ssh reaches, until Ctrl-C",
        description="Runs `gemmviz cluster worker` on each host by ssh. The hosts must reach this machine at --host, "
        "and must have the certificates in files of the same names.",
    )
    ssh.add_argument("hosts", nargs="+", metavar="HOST", help="as for ssh: [USER@]HOST, or a name in ~/.ssh/config")
    _add_place(ssh, os.uname().nodename)
    _add_workers(ssh)
    ssh.add_argument(
        "--command", default="gemmviz", metavar="PROGRAM", help="gemmviz on the hosts (default gemmviz; may be a path)"
    )
    ssh.set_defaults(run=_ssh)


def _add_place(parser: argparse.ArgumentParser, host: str) -> None:
    parser.add_argument("--host", default=host, help=f"the address that the scheduler listens at (default {host})")
    parser.add_argument(
        "--port", type=options.whole, default=8786, help="the port of the scheduler (default 8786; 0: any free one)"
    )
    cluster_options.add_certificates(parser)


def _add_workers(parser: argparse.ArgumentParser, further: str = "") -> None:
    parser.add_argument(
        "--workers",
        type=options.whole,
        metavar="N",
        help=f"how many on each machine (default: one per GPU, or one if there is no GPU{further}). Several workers "
        "without a GPU disturb each other's figures",
    )


def _local(args: argparse.Namespace) -> int:
    from gemmviz.cluster import serving  # late: --help needs no cluster

    tls = cluster_options.tls(args)
    serving.serve(serving.Place(args.host, args.port), tls, serving.workers(_count(args, 0)))
    return 0


def _worker(args: argparse.Namespace) -> int:
    from gemmviz.cluster import connection, serving  # late: --help needs no cluster

    tls, count = cluster_options.tls(args), _count(args)
    connection.need_dask()
    address = connection.address(args.address, tls)
    connection.wait_for_scheduler(address, tls)
    while serving.serve(str(address), tls, serving.workers(count)):
        connection.wait_for_scheduler(address, tls)
    return 0


def _ssh(args: argparse.Namespace) -> int:
    from gemmviz.cluster import serving  # late: --help needs no cluster

    tls = cluster_options.tls(args)
    remote = [*shlex.split(args.command), "cluster", "worker"]
    if _count(args):
        remote += ["--workers", str(args.workers)]
    if tls:
        for name, file in (("ca", tls.ca), ("certificate", tls.certificate), ("key", tls.key)):
            remote += [f"--{name}", str(Path(file).absolute())]
    # With a terminal on the other side (-tt), the workers end when ssh does.
    elsewhere = [
        serving.Elsewhere(host, ["ssh", "-tt", "-o", "BatchMode=yes", host, *map(shlex.quote, remote)])
        for host in args.hosts
    ]
    serving.serve(serving.Place(args.host, args.port), tls, [], elsewhere)
    return 0


def _count(args: argparse.Namespace, least: int = 1) -> int | None:
    if args.workers is not None and not least <= args.workers <= 1024:
        raise ConstraintError(f"--workers takes a number from {least} to 1024")
    count: int | None = args.workers
    return count
