"""Variants of a kernel: its text with some of the changes that it declares, as a separate kernel."""

from collections.abc import Iterable, Iterator
from itertools import pairwise

from gemmviz.catalogue.errors import UnknownKernel
from gemmviz.catalogue.guessing.tokens import tokens_of, without_comments
from gemmviz.catalogue.kernel import Kernel, code, parse
from gemmviz.catalogue.switches import Break, Edit

__all__ = ["Break", "Edit", "broken", "changed_lines", "fitting", "removes"]


def broken(kernel: Kernel, ids: Iterable[str]) -> Kernel:
    """Return a kernel with some of its declared changes made.

    Its name joins both names: ``gputiled~no-second-barrier``. Its path has this name, too, in the folder of the kernel,
    so that headers there are found; the file need not exist. Every line keeps its number.

    Parameters
    ----------
    kernel
        The kernel as on file.
    ids
        Ids of the changes, in any order.

    Raises
    ------
    UnknownKernel
        When the kernel declares no such change, or its code no longer has the text that a change replaces, or two of
        them overlap.
    """
    wanted = set(ids)
    known = {change.id: change for change in kernel.breaks}
    for name in sorted(wanted - known.keys()):
        choice = ", ".join(known) or "none"
        raise UnknownKernel(f"{kernel.name} has no change {name!r}; it has: {choice}")
    # In the order in which they are declared: one variant has one name.
    chosen = [change for change in kernel.breaks if change.id in wanted]
    places = sorted(place for change in chosen for place in _places(kernel, change))
    for (_, end, _, one), (start, _, _, other) in pairwise(places):
        if start < end:
            raise UnknownKernel(f"{kernel.name}: {one} and {other} change the same place, take one of them")
    text = kernel.text
    for start, end, replacement, _ in reversed(places):
        text = text[:start] + replacement + text[end:]
    suffix = "+".join(change.id for change in chosen)
    return parse(text, kernel.path.with_stem(f"{kernel.path.stem}~{suffix}"), kernel.folders)


def fitting(kernel: Kernel) -> tuple[Break, ...]:
    """Return the declared changes that still fit the kernel's code, which may have been edited."""
    return tuple(change for change in kernel.breaks if all(_find(kernel, edit) is not None for edit in change.edits))


def removes(change: Break) -> bool:
    """Return whether a change only removes code: each replacement is some of the tokens that it replaces, in order."""
    for edit in change.edits:
        before = iter(tokens_of(without_comments(edit.find)))
        # `in` consumes the iterator up to the token that it finds, so that the order counts.
        if not all(token in before for token in tokens_of(without_comments(edit.replace))):
            return False
    return True


def changed_lines(before: str, after: str) -> list[int]:
    """Return the lines, from 1, in which a variant's text differs from the original."""
    lines = zip(before.split("\n"), after.split("\n"), strict=False)
    return [number for number, (old, new) in enumerate(lines, 1) if old != new]


def _places(kernel: Kernel, change: Break) -> Iterator[tuple[int, int, str, str]]:
    """Yield (start, end, replacement, id) of a change's edits."""
    for edit in change.edits:
        start = _find(kernel, edit)
        if start is None:
            first = edit.find.split("\n")[0].strip()
            times = f"{edit.nth} times" if edit.nth > 1 else "any more"
            raise UnknownKernel(f"{kernel.path.name}: {change.id} changes {first!r}, which is not in the code {times}")
        yield start, start + len(edit.find), edit.replace, change.id


def _find(kernel: Kernel, edit: Edit) -> int | None:
    # The declarations hold the same texts: they are not searched.
    end, last = code(kernel.text)
    for _ in range(edit.nth):
        start = kernel.text.find(edit.find, end, last)
        if start < 0:
            return None
        end = start + len(edit.find)
    return start
