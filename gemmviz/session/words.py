"""Names of kernels and of what was done to them, in the language that is spoken."""

from gemmviz.catalogue.kernel import Kernel
from gemmviz.language import tr

_EDITED = "edited"


def changes(kernel: Kernel) -> list[str]:
    """Return what was done to the kernel on file, as `Kernel.changes` does, translated."""
    made = kernel.name.partition("~")[2].split("+")
    titles = {change.id: tr(change.title) for change in kernel.breaks}
    titles[_EDITED] = tr("edited")
    return [titles[one][:1].lower() + titles[one][1:] if one in titles else one for one in made if one]
