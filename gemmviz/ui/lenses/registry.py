"""All lenses; one of them alone is in `by_name`."""

from gemmviz.catalogue.lens_names import LENSES as NAMES
from gemmviz.catalogue.lens_names import LensName
from gemmviz.trace.playable import Playable
from gemmviz.ui.lenses.by_name import lens
from gemmviz.ui.lenses.lens import Lens

LENSES_BY_NAME: dict[LensName, Lens] = {name: lens(name) for name in NAMES}
LENSES: tuple[Lens, ...] = tuple(LENSES_BY_NAME.values())


def suiting(playable: Playable | None) -> list[LensName]:
    """Return the names of the lenses that have something to show in a recording."""
    return [one.name for one in LENSES if one.suits(playable)] if playable is not None else []
