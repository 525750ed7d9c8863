"""Names of kernels and of their changes, in the chosen language."""

from gemmviz.catalogue.kernel import Kernel
from gemmviz.language import tr

_EDITED = "edited"


def changes(kernel: Kernel) -> list[str]:
    """Return the translated names of a kernel's changes: see `Kernel.changes`."""
    made = kernel.name.partition("~")[2].split("+")
    titles = {change.id: tr(change.title) for change in kernel.breaks}
    titles[_EDITED] = tr("edited")
    return [titles[one][:1].lower() + titles[one][1:] if one in titles else one for one in made if one]


def no_source(kernel: Kernel) -> str:
    """Return a sentence that a library call cannot be recorded, with the remedy; empty for a kernel with a source."""
    if kernel.recordable:
        return ""
    return tr(
        "{kernel} is a library call: it has no source to record. Choose a kernel with a source.", kernel=kernel.alias
    )
