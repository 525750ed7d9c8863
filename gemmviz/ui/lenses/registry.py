"""All lenses, by their names."""

from gemmviz.ui.lenses.lens import Lens
from gemmviz.ui.lenses.pipeline import PipelineLens
from gemmviz.ui.lenses.stream_k import StreamKLens
from gemmviz.ui.lenses.tensor_core import TensorCoreLens
from gemmviz.ui.lenses.thread_tile import ThreadTileLens

LENSES: tuple[Lens, ...] = (
    ThreadTileLens(),
    PipelineLens(),
    StreamKLens(),
    TensorCoreLens(),
)
"""In the order of `gemmviz.catalogue.lens_names.LENSES`."""
LENSES_BY_NAME: dict[str, Lens] = {lens.name: lens for lens in LENSES}
