"""The ladder: all kernels that gemmviz ships, in the order in which they are taught."""

from pathlib import Path

from gemmviz import data
from gemmviz.catalogue import renamed
from gemmviz.catalogue.breaks import broken
from gemmviz.catalogue.errors import GemmvizError, UnknownKernel
from gemmviz.catalogue.kernel import Kernel, load

SUFFIXES = (".c", ".cu", ".toml")


def ladder(folder: Path | None = None) -> list[Kernel]:
    """Return every kernel below `folder`, in the order of the numbers that their files' names begin with.

    Parameters
    ----------
    folder
        By default the ``kernels`` folder that gemmviz ships.

    Raises
    ------
    FrontMatterError
        When one of the files does not describe itself correctly.
    """
    folder = folder or data.root("kernels")
    files = [f for f in folder.rglob("*") if f.suffix in SUFFIXES and f.is_file()]
    kernels = [load(f) for f in sorted(files, key=lambda f: f.name)]
    names = [k.name for k in kernels]
    for name in names:
        if names.count(name) > 1:
            raise GemmvizError(f"two kernel files are named {name!r}: rename one")
    return kernels


def find(name: str, kernels: list[Kernel]) -> Kernel:
    """Return the kernel called `name` (its name, its alias or a name from before), or the one in the file of that path.

    Behind a ``~`` stand the changes to make of those that the kernel declares: ``gputiled~no-second-barrier``, or
    ``gputiled~no-first-barrier+no-second-barrier``.

    Raises
    ------
    UnknownKernel
        When there is none; the message lists the names, or the changes that there are.
    """
    for kernel in kernels:
        if name in (kernel.name, kernel.alias):
            return kernel
    for kernel in kernels:
        if name in renamed.before(kernel.name):
            return kernel
    path = Path(name)
    if path.suffix in SUFFIXES:
        if path.is_file():
            return load(path)
        raise UnknownKernel(f"no file {name}")
    base, mark, ids = name.rpartition("~")
    if mark and base:
        return broken(find(base, kernels), ids.split("+"))
    known = ", ".join(k.name for k in kernels)
    raise UnknownKernel(f"no kernel {name!r}. Known are: {known}; or give the path of a .cu or .c file")
