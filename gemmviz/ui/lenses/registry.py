"""All lenses, by their names."""

from gemmviz.catalogue.lens_names import LensName
from gemmviz.trace.playable import Playable
from gemmviz.ui.lenses.banks import BanksLens
from gemmviz.ui.lenses.coalescing import CoalescingLens
from gemmviz.ui.lenses.lens import Lens
from gemmviz.ui.lenses.memory_order import MemoryOrderLens
from gemmviz.ui.lenses.owners import OwnersLens
from gemmviz.ui.lenses.pipeline import PipelineLens
from gemmviz.ui.lenses.reuse import ReuseLens
from gemmviz.ui.lenses.stream_k import StreamKLens
from gemmviz.ui.lenses.tensor_core import TensorCoreLens
from gemmviz.ui.lenses.thread_tile import ThreadTileLens

LENSES: tuple[Lens, ...] = (
    CoalescingLens(),
    BanksLens(),
    MemoryOrderLens(),
    ThreadTileLens(),
    PipelineLens(),
    StreamKLens(),
    TensorCoreLens(),
    ReuseLens(),
    OwnersLens(),
)
"""In the order of `gemmviz.catalogue.lens_names.LENSES`."""
LENSES_BY_NAME: dict[LensName, Lens] = {lens.name: lens for lens in LENSES}


def suiting(playable: Playable | None) -> list[LensName]:
    """Return the names of the lenses that have something to show in a recording."""
    return [lens.name for lens in LENSES if lens.suits(playable)] if playable is not None else []


def lens_for(name: LensName | None, playable: Playable) -> Lens | None:
    """Return the lens with a name; None if there is none, or where it has nothing to show."""
    lens = LENSES_BY_NAME.get(name) if name is not None else None
    return lens if lens is not None and lens.suits(playable) else None
