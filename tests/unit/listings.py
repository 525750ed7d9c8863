"""A listing of `gputiled` with tiles of 8 x 8, compiled by NVRTC 13.5 for sm_80 and kept in ``assembly/listings``.

The compiler's folder is ``/build`` in it, and its second part is a kernel that shows the types of the parameters.
"""

from pathlib import Path

import pytest

from gemmviz.assembly.assemble import listed
from gemmviz.assembly.compiled import Compiled
from gemmviz.assembly.listing import Listing
from gemmviz.assembly.toolkit import toolkit
from gemmviz.catalogue.errors import Unavailable
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.launch import Launch, launch
from gemmviz.catalogue.problem import Problem

FOLDER = Path(__file__).parent / "assembly" / "listings"
ENTRY = "_Z8gputiledILi8EEvPfPKfS2_iii"
KNOWN = (75, 80, 90)


def kept(suffix: str) -> str:
    return (FOLDER / f"gputiled-sm_80.{suffix}").read_text(encoding="utf-8")


def tiled_launch(side: int = 8) -> Launch:
    return launch(find("gputiled", ladder()), Problem.cube(512), {"TS": side})


def tiled_listing() -> Listing:
    made = Compiled(Path("kernel.cubin"), kept("ptx"), kept("log"), ENTRY, "13.5", KNOWN)
    return listed(tiled_launch(), "sm_80", made, kept("sass"), Path("/build"))


def _missing() -> str:
    try:
        toolkit()
    except Unavailable as error:
        return str(error)
    return ""


HAS_TOOLS = not _missing()
needs_tools = pytest.mark.skipif(not HAS_TOOLS, reason=_missing() or "NVRTC and nvdisasm are here")
