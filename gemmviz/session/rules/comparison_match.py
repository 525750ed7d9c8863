"""Chooses the second rung of a comparison, and the size at which both can be recorded."""

from collections.abc import Iterator
from dataclasses import dataclass

from gemmviz.catalogue.breaks import Break, broken, fitting
from gemmviz.catalogue.errors import GemmvizError
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.ladder import find
from gemmviz.catalogue.launch import launch, nearest_size
from gemmviz.catalogue.problem import Problem
from gemmviz.session.models.choice import Choice
from gemmviz.session.tour.lessons import find_lesson
from gemmviz.session.values.picture_size import picture_params
from gemmviz.trace.playable import Playable

MOST_BYTES = 2_500_000_000
"""Memory that the recordings of a pair may take together, with all derived data of the stages, in bytes."""
# The memory per access (measured): more on a CPU, where each access is a separate step.
_BYTES_EACH = {"cuda": 100, "c": 370}
_SIZES = (16, 32, 64, 128)
_ROUNDS = 4
_STEP = 16


@dataclass(frozen=True)
class Fit:
    """A size and parameters that two kernels both take.

    Attributes
    ----------
    problem
        The size of both.
    params
        Parameters of the second kernel.
    why
        The reason for another size than the wanted one; empty if it is the wanted size.
    """

    problem: Problem
    params: dict[str, int]
    why: str = ""


@dataclass(frozen=True)
class Offer:
    """A candidate for the second stage: a rung, or a rung with one of its declared changes.

    Attributes
    ----------
    base
        The rung with the text of its file.
    change
        The change to make; None: no change.
    """

    base: Kernel
    change: Break | None = None

    @property
    def name(self) -> str:
        """The kernel's name."""
        return f"{self.base.name}~{self.change.id}" if self.change is not None else self.base.name

    def kernel(self) -> Kernel:
        """Return the kernel: a variant's text is made from its rung's text on demand."""
        return broken(self.base, [self.change.id]) if self.change is not None else self.base


def next_to(choice: Choice) -> Kernel | None:
    """Return the rung to compare with by default: the base of a variant, else the next rung.

    The next rung is the one named by the lesson, or else the next rung of the ladder with a source; for the last rung
    it is the previous one. The previous one is also taken if only that has the same elements and the same device.
    """
    base = choice.base
    if choice.variant:
        return base
    rungs = [k for k in choice.kernels if (k.recordable and not k.exhibit) or k is base]
    at = next((i for i, k in enumerate(rungs) if k is base), -1)
    after, before = ([k for k in some if k.recordable] for some in (rungs[at + 1 :], rungs[: max(at, 0)]))
    following = _of_lesson(choice) or (after[0] if after else None)
    if before and (following is None or (not _alike(following, base) and _alike(before[-1], base))):
        return before[-1]
    return following


def _of_lesson(choice: Choice) -> Kernel | None:
    """Return the rung that the lesson of the chosen one names as the next; None if there is none."""
    try:
        lesson = find_lesson(choice.base)
        return find(lesson.next, choice.kernels) if lesson is not None and lesson.next else None
    except GemmvizError:
        return None  # the message about a lesson that cannot be read appears when it is opened


def _alike(one: Kernel, other: Kernel) -> bool:
    return (one.backend, one.dtype) == (other.backend, other.dtype)


def offers(choice: Choice, first: Kernel | None = None) -> list[Offer]:
    """Return the candidates for the second stage, the most likely first, each name once.

    The order is: the rung given as the first, or else the next one, the rung with its file's text and its broken
    variants, the ladder, variants of other rungs.
    """
    first = first or next_to(choice)
    rungs = [kernel for kernel in choice.kernels if kernel.recordable]
    others = [kernel for kernel in rungs if kernel is not choice.base]
    found = [Offer(kernel) for kernel in ([first] if first is not None else [])]
    found += [Offer(choice.base), *_variants(choice.base), *map(Offer, others)]
    found += [variant for kernel in others for variant in _variants(kernel)]
    once: dict[str, Offer] = {}
    for offer in found:
        once.setdefault(offer.name, offer)
    return [offer for name, offer in once.items() if name != choice.kernel.name]


def _variants(base: Kernel) -> list[Offer]:
    return [Offer(base, change) for change in fitting(base)]


def fit(mine: Kernel, params: dict[str, int], other: Kernel, wanted: Problem) -> Fit | None:
    """Return the size nearest to the wanted one that both kernels take; None if none is found.

    Parameters
    ----------
    mine, params
        The chosen kernel, with its chosen parameters.
    other
        The second kernel. Parameters that both have get the same value, others get values that show some blocks.
    wanted
        The size.
    """
    why = ""
    for problem in _sizes(mine, params, other, wanted):
        refused = _refused(mine, problem, params)
        own = None if refused else _params(other, problem, params)
        if own is not None:
            return Fit(problem, own, why)
        why = why or refused or _refused(other, problem, other.defaults | picture_params(other, problem))
    return None


def _sizes(mine: Kernel, params: dict[str, int], other: Kernel, wanted: Problem) -> Iterator[Problem]:
    yield wanted
    size = wanted
    for _ in range(_ROUNDS):
        for kernel, values in ((other, other.defaults | picture_params(other, size)), (mine, params)):
            size = nearest_size(kernel, size, values) or size
        yield size
    yield from map(Problem.cube, _SIZES)


def _params(kernel: Kernel, problem: Problem, like: dict[str, int]) -> dict[str, int] | None:
    shown = kernel.defaults | picture_params(kernel, problem)
    same = {name: value for name, value in like.items() if name in kernel.params}
    return next((values for values in (shown | same, shown) if not _refused(kernel, problem, values)), None)


def _refused(kernel: Kernel, problem: Problem, params: dict[str, int]) -> str:
    try:
        launch(kernel, problem, params)
    except GemmvizError as error:
        return str(error)
    return ""


def weight(playable: Playable) -> int:
    """Return the approximate memory of a recording on a stage, in bytes."""
    return len(playable.recording.accesses) * _BYTES_EACH[playable.recording.backend]


def room_beside(playable: Playable | None, kernel: Kernel) -> int:
    """Return the largest number of accesses of a second recording in the remaining memory; less than 1: none."""
    return (MOST_BYTES - (weight(playable) if playable is not None else 0)) // _BYTES_EACH[kernel.backend]


def smaller(playable: Playable) -> Problem:
    """Return the approximate size at which two recordings like this fit: a multiple of 16 in M, N and K."""
    recording = playable.recording
    scale = (MOST_BYTES / 2 / max(weight(playable), 1)) ** (1 / 3)
    m, n, k = (max(_STEP, int(length * scale) // _STEP * _STEP) for length in (recording.m, recording.n, recording.k))
    return Problem(m, n, k)
