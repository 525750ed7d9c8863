"""Finds the lines of a kernel that waste memory traffic."""

from collections.abc import Iterable

from gemmviz.trace.cost.narrow_blocks import with_narrow
from gemmviz.trace.cost.sites import SiteTraffic, by_line
from gemmviz.trace.recording.recording import Recording

# Below this a request needs little more than necessary: at an edge of a matrix, or in a row that begins in a sector.
_WASTEFUL = 1.5


def wasted(sites: Iterable[SiteTraffic], recording: Recording) -> list[SiteTraffic]:
    """Return the lines whose requests take at least one and a half times the units that they need.

    Parameters
    ----------
    sites
        The traffic of a recording.
    recording
        That recording: it shows whether a line is wasteful only because blocks are narrow.
    """
    return with_narrow([site for site in by_line(list(sites)) if site.degree >= _WASTEFUL], recording)
