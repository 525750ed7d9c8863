"""Makes a guess sure: tries it, and what is nearly as likely, until one of them computes the right C."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from gemmviz.catalogue.errors import BuildError, FrontMatterError, GemmvizError
from gemmviz.catalogue.guessing.guess import Guess
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.launch import nearest_size
from gemmviz.catalogue.problem import Problem

# M, N and K differ, so that a launch that mixes them up is found out; and one that no tile divides.
_EVEN, _UNEVEN = Problem(48, 32, 64), Problem(37, 45, 41)
_MOST_TRIES = 12
_MOST_ELEMENTS = 512 * 512
TryOne = Callable[[Kernel, Problem], str]


def settle(guess: Guess, try_one: TryOne, *, alternatives: bool = True) -> Guess:
    """Return the first of the likely guesses that is right, with the sizes at which it was; else the guess as it is.

    Parameters
    ----------
    guess
        From `gemmviz.catalogue.guessing.guess.guess`.
    try_one
        Runs a kernel at a size and returns what is wrong, in a sentence; nothing when C is right. It may raise
        `BuildError` when the compiler refuses the source: then no other launch helps.
    alternatives
        Whether to go on with what is nearly as likely where the guess is wrong.
    """
    first = ""
    tried = 0
    for candidate in _candidates(guess) if alternatives else [guess]:
        try:
            kernel = candidate.kernel()
            size = nearest_size(kernel, _EVEN, kernel.defaults)
        except FrontMatterError as error:
            first = first or str(error)
            continue
        if size is None or size.m * size.n > _MOST_ELEMENTS:
            first = first or f"no small size near {_EVEN} keeps what the launch requires"
            continue
        tried += 1
        try:
            wrong = try_one(kernel, size)
        except BuildError as error:
            return replace(guess, settled=f"it cannot be compiled: {error}")
        except GemmvizError as error:
            wrong = str(error)
        if not wrong:
            return _any_size(candidate, size, try_one)
        first = first or f"at {size}: {wrong}"
        if tried >= _MOST_TRIES:
            break
    also = f"; {tried - 1} other launches are wrong too" if tried > 1 else ""
    return replace(guess, settled=f"recorded {first}{also}" if tried else first)


def _any_size(right: Guess, size: Problem, try_one: TryOne) -> Guess:
    """Try a size that no tile divides, where the guess allows one; where it is wrong, ask for whole tiles."""
    said = f"recorded: C is right at {size}"
    uneven = nearest_size(right.kernel(), _UNEVEN, right.kernel().defaults)
    if uneven is None or uneven == size or uneven.m * uneven.n > _MOST_ELEMENTS:
        return replace(right, settled=said, right=True)
    try:
        wrong = try_one(right.kernel(), uneven)
    except GemmvizError as error:
        wrong = str(error)
    if not wrong:
        return replace(right, settled=f"{said} and at {uneven}", right=True)
    asked = [
        f"{name} % {tile if tile.isalnum() else f'({tile})'} == 0"
        for name, tile in right.tiles.items()
        if tile != "1" and not any(r.startswith(f"{name} % ") for r in right.requires)
    ]
    if not asked:
        return replace(right, settled=f"{said}, but at {uneven}: {wrong}")
    return replace(
        right,
        requires=(*right.requires, *asked),
        settled=f"{said}; at {uneven} it is wrong, so tiles must divide",
        right=True,
    )


def _candidates(guess: Guess) -> Iterator[Guess]:
    """Return the guess, and then what it may have mixed up."""
    launches = [guess, *guess.others]
    yield from launches
    for one in launches:
        if len(one.grid) == 2 and one.grid[0] != one.grid[1]:
            yield replace(one, grid=one.grid[::-1])
    for first, second in (("A", "B"), ("M", "N"), ("N", "K"), ("M", "K")):
        if {first, second} <= set(guess.roles):
            swap = {first: second, second: first}
            for one in launches:
                turned = replace(one, roles=tuple(swap.get(role, role) for role in one.roles))
                yield turned
                if first == "A" and len(one.grid) == 2:
                    yield replace(turned, grid=one.grid[::-1])
    for matrix in "BAC":
        yield replace(guess, column_major=guess.column_major ^ {matrix})
