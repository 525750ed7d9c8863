"""The ladder: all kernels that gemmviz ships, in the order in which they are taught."""

import difflib
from pathlib import Path

from gemmviz import data
from gemmviz.catalogue import kept_ladder, renamed
from gemmviz.catalogue.breaks import broken
from gemmviz.catalogue.errors import GemmvizError, UnknownKernel
from gemmviz.catalogue.kernel import Kernel, load
from gemmviz.catalogue.source_files import SOURCES
from gemmviz.catalogue.user_file import why_no_file
from gemmviz.language import tr

SUFFIXES = (".c", ".cu", ".toml")


def ladder(folder: Path | None = None) -> list[Kernel]:
    """Return every kernel below `folder` that can be read; see `read_ladder`."""
    return read_ladder(folder)[0]


def read_ladder(folder: Path | None = None) -> tuple[list[Kernel], list[str]]:
    """Return every kernel below `folder`, in the order of the numbers that their files' names begin with.

    Parameters
    ----------
    folder
        By default the ``kernels`` folder that gemmviz ships.

    Returns
    -------
    tuple
        The kernels, and a sentence for each file that is left out: it cannot be read, does not describe itself
        correctly, or has the name of another one before it.

    Raises
    ------
    GemmvizError
        When there is not one kernel.
    """
    shipped, folder = folder is None, folder or data.root("kernels")
    files = sorted((f for f in folder.rglob("*") if f.suffix in SUFFIXES and not f.is_dir()), key=lambda f: f.name)
    if shipped and (kept := kept_ladder.find(files)) is not None:
        return kept, []
    kernels: dict[str, Kernel] = {}
    faults = []
    for file in files:
        try:
            kernel = load(file)
            if kernel.name in kernels:
                raise GemmvizError(tr("two kernel files are named {name}: rename one", name=repr(kernel.name)))
            kernels[kernel.name] = kernel
        except OSError as error:
            faults.append(tr("{file} is left out: {why}", file=file, why=error.strerror or error))
        except GemmvizError as error:
            faults.append(tr("{file} is left out: {why}", file=file, why=error))
    if not kernels:
        raise GemmvizError("\n".join([tr("there is no kernel in {folder}", folder=folder), *faults]))
    if shipped and not faults:
        kept_ladder.keep(list(kernels.values()))
    return list(kernels.values()), faults


def find(name: str, kernels: list[Kernel]) -> Kernel:
    """Return the kernel called `name` (its name, its alias or a name from before), or the one in the file of that path.

    After a ``~`` follow some of the changes that the kernel declares: ``gputiled~no-second-barrier``, or
    ``gputiled~no-first-barrier+no-second-barrier``.

    Raises
    ------
    UnknownKernel
        When there is none; the message gives similar names, or the known changes.
    """
    for kernel in kernels:
        if name in (kernel.name, kernel.alias):
            return kernel
    for kernel in kernels:
        if name in renamed.before(kernel.name):
            return kernel
    path = Path(name)
    if path.suffix in (*SUFFIXES, *SOURCES):
        try:
            return load(path)
        except FileNotFoundError:
            raise UnknownKernel(why_no_file(path)) from None
        except OSError as error:
            raise UnknownKernel(tr("cannot open {path}: {reason}", path=name, reason=error.strerror or error)) from None
    base, mark, ids = name.rpartition("~")
    if mark and base:
        return broken(find(base, kernels), ids.split("+"))
    near = difflib.get_close_matches(name, dict.fromkeys(word for k in kernels for word in (k.name, k.alias)))
    text = tr(
        "no kernel '{name}': `gemmviz list` lists the names; the path of a .cu or .c file is taken, too", name=name
    )
    if near:
        text = tr("no kernel '{name}'. Is it {near}? `gemmviz list` lists all names", name=name, near=", ".join(near))
    raise UnknownKernel(text)
