"""The software of this side of a cluster, and how it differs from the other side's."""

from functools import cache
from importlib.metadata import PackageNotFoundError, version

from gemmviz import __version__
from gemmviz.bench.results import app_facts
from gemmviz.cluster.piece import Software
from gemmviz.language import tr


@cache
def software() -> Software:
    """Return the versions of this process."""
    try:
        installed = version("distributed")
    except PackageNotFoundError:
        installed = ""
    return Software(__version__, installed, app_facts()["git_sha"])


def difference(here: Software, there: Software) -> str:
    """Return the first difference between two sides as a phrase; empty if there is none.

    Parameters
    ----------
    here, there
        The sender's and the worker's software.
    """
    for name, ours, theirs in (
        ("gemmviz", here.gemmviz, there.gemmviz),
        ("distributed", here.distributed, there.distributed),
    ):
        if ours != theirs:
            return tr("it has {name} {theirs}, and this side has {ours}", name=name, theirs=theirs, ours=ours)
    if here.commit and there.commit and here.commit != there.commit:
        return tr("it has commit {theirs}, and this side has {ours}", theirs=there.commit[:12], ours=here.commit[:12])
    return ""
