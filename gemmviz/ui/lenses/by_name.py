"""A lens by its name: only its own modules are imported, as those of all lenses together would stop the window."""

from importlib import import_module

from gemmviz.catalogue.lens_names import LensName
from gemmviz.trace.playable import Playable
from gemmviz.ui.lenses.lens import Lens


def module_of(name: LensName) -> str:
    """Return the name of the module of a lens."""
    return f"{__package__}.{name.replace(' ', '_').replace('-', '_').lower()}"


def lens(name: LensName) -> Lens:
    """Return the lens with a name."""
    found: Lens = import_module(module_of(name)).LENS
    return found


def lens_for(name: LensName | None, playable: Playable) -> Lens | None:
    """Return the lens with a name; None if there is none, or where it has nothing to show."""
    if name is None:
        return None
    found = lens(name)
    return found if found.suits(playable) else None
