"""The chapters of the ladder: kernels that teach one idea, in the order in which they are taught."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from gemmviz import data
from gemmviz.catalogue.kernel import Kernel
from gemmviz.language import mark


@dataclass(frozen=True)
class Chapter:
    """A chapter.

    Attributes
    ----------
    id
        Its name in files and tests.
    title
        In English, marked for translation.
    first
        The number at the start of the file name of its first kernel. The chapter ends before the next chapter's number.
    idea
        Its new idea, in a sentence, marked for translation.
    """

    id: str
    title: str
    first: int
    idea: str = ""


TAUGHT = (
    Chapter("cpu", mark("CPU loops"), 10),
    Chapter("element", mark("One element each"), 20, mark("A GPU computes every element of C in a thread of its own.")),
    Chapter(
        "tiles",
        mark("Shared tiles"),
        25,
        mark("The threads of a block share tiles of A and B in fast memory, so each value is fetched less often."),
    ),
    Chapter(
        "banks",
        mark("Banks"),
        33,
        mark("A tile can be stored so that 32 threads read it at once, without waiting for each other."),
    ),
    Chapter(
        "work",
        mark("Work per thread"),
        40,
        mark("Each thread computes several elements, so a value in a register serves several products."),
    ),
    Chapter("ahead", mark("Copy ahead"), 46, mark("The next tile is copied while the current one is multiplied.")),
    Chapter(
        "tensor", mark("Tensor cores"), 50, mark("A tensor core multiplies two small matrices with one instruction.")
    ),
    Chapter(
        "hopper",
        mark("Hopper"),
        60,
        mark("A copy engine brings the tiles, and warpgroups multiply them directly from shared memory."),
    ),
    Chapter(
        "gpus",
        mark("Several GPUs"),
        80,
        mark("Several GPUs share one product, and what one of them lacks crosses the link between them."),
    ),
)
LIBRARIES = Chapter("libraries", mark("Libraries"), 90)
OWN = Chapter("own", mark("Your kernels"), 100)


def chapter_of(kernel: Kernel) -> Chapter:
    """Return the chapter of a shipped kernel, by its file's number.

    Parameters
    ----------
    kernel
        Any kernel.
    """
    return _chapter(kernel.path, kernel.recordable, data.root("kernels"))


@lru_cache(maxsize=1024)  # the charts ask for each kernel at each change
def _chapter(path: Path, recordable: bool, shipped: Path) -> Chapter:
    if not path.is_relative_to(shipped):
        return OWN
    if not recordable:
        return LIBRARIES
    number = int(path.name[:2])
    return next(chapter for chapter in reversed(TAUGHT) if chapter.first <= number)


def by_chapter(kernels: Sequence[Kernel]) -> list[tuple[Chapter, list[Kernel]]]:
    """Return the chapters that have kernels, each with them in their order."""
    found: dict[Chapter, list[Kernel]] = {}
    for kernel in kernels:
        found.setdefault(chapter_of(kernel), []).append(kernel)
    order = (OWN, *TAUGHT, LIBRARIES)
    return sorted(found.items(), key=lambda item: order.index(item[0]))
