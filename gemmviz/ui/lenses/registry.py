"""All lenses, by their names."""

from gemmviz.ui.lenses.banks import BanksLens
from gemmviz.ui.lenses.coalescing import CoalescingLens
from gemmviz.ui.lenses.lens import Lens
from gemmviz.ui.lenses.memory_order import MemoryOrderLens
from gemmviz.ui.lenses.reuse import ReuseLens

LENSES: tuple[Lens, ...] = (
    CoalescingLens(),
    BanksLens(),
    MemoryOrderLens(),
    ReuseLens(),
)
"""In the order of `gemmviz.catalogue.lens_names.LENSES`."""
LENSES_BY_NAME: dict[str, Lens] = {lens.name: lens for lens in LENSES}
