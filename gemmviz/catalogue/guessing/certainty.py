"""Whether a file gives every argument of a launch: only then a wrong C is the kernel's own fault."""

import re
from dataclasses import replace
from math import prod

from gemmviz.catalogue.guessing.candidates import SQUARE, is_launched_so, is_started_so, whole_grid
from gemmviz.catalogue.guessing.element_types import ELEMENTS
from gemmviz.catalogue.guessing.folding import evaluate
from gemmviz.catalogue.guessing.guessed_matter import SURE, Guess, is_stated
from gemmviz.catalogue.guessing.kernel_text import kernel_text
from gemmviz.catalogue.guessing.other_grids import QUOTIENT
from gemmviz.catalogue.guessing.roles import GuessReason
from gemmviz.catalogue.guessing.tokens import without_comments
from gemmviz.catalogue.matrices import MATRICES
from gemmviz.catalogue.problem import Problem

_SIZES = ("M", "N", "K")
_SCALES = re.compile(r"(?i).*(?:alpha|beta).*")
_LEAST_SURE_OF_MATRIX = 0.6
# Elements of such a type are several values, bits of another type, or of no type.
_HIDES_VALUES = re.compile(
    r"\b(?:void|unsigned|u?short\d?|uint(?:16|32|64)_t|int(?:16|64)_t|uint\d?|u?(?:char|int|long|longlong)[1-4]|ulong\w*|"
    r"(?:float|double|half|__half|bfloat16)_?[2-4]|\w*bfloat162|half2|__half2|u?char[24])\b"
)
# The host may have put the elements of a matrix in another order, or left some out.
_PACKED = re.compile(r"(?i)pack|swizzled|reorder|interleav|permut|shuffled|sparse|compress|blocked_layout|prepro")
# Products of numbers of 1 or 4 bits: a byte of the matrices holds several of them.
_BELOW_BYTES = re.compile(r"mma\S*\.(?:[su]4|b1|e2m1)\b|\bprecision\s*::\s*(?:[su]4|b1)\b")


def is_known(made: Guess) -> bool:
    """Return whether the file has the whole launch, and no argument of it is only guessed.

    The grid has to cover C at any size: the blocks of a constant grid compute a C of one size, which nobody knows.

    Parameters
    ----------
    made
        The launch.
    """
    sized = {name for side in made.grid for name in re.findall(r"\b[MNK]\b", side)}
    given = {*made.roles} & {"M", "N", "K"}
    if SQUARE[0] in made.requires and (given == {"N"} or (not given and [*made.constants.values()] == ["N"])):
        # One parameter is the only size. Both sides of the grid have to grow with it.
        sized |= {"M"} if sum("N" in re.findall(r"\b[MNK]\b", side) for side in made.grid) > 1 else set()
    return {"M", "N"} <= sized and has_known_arguments(made)


def has_known_arguments(made: Guess) -> bool:
    """Return whether the file has a launch, and no argument of it is only guessed; its grid may be for one size.

    Parameters
    ----------
    made
        The launch.
    """
    # With another type of its elements C may be right. So it may at the file's own size, if only some of the constants
    # that say it were found.
    if ELEMENTS in made.why or (made.constants and not _has_known_sides(made)):
        return False
    if _BELOW_BYTES.search(made.text) or _PACKED.search(" ".join((made.entry, *(name for name, _ in made.parameters)))):
        return False
    arguments = zip(made.parameters, made.roles, strict=True)
    return (
        is_launched_so(made)
        and _has_own_values(made)
        and all(_is_known(made, name, kind, role) for (name, kind), role in arguments)
    )


def _has_known_sides(made: Guess) -> bool:
    """Return whether constants or arguments give both sides of C; one for both counts where the grid has it twice."""
    by_constants = {name for value in made.constants.values() for name in re.findall(r"\b[MNK]\b", value)}
    one = SQUARE[0] in made.requires and sum("N" in re.findall(r"\b[MNK]\b", side) for side in made.grid) > 1
    return {"M", "N"} <= by_constants | {*made.roles} | ({"M"} if one else set())


def has_known_depth(guess: Guess) -> bool:
    """Return whether the kernel has a parameter for K, or its own code shows what K is equal to.

    A kernel whose only size is N may have sums of one tile: K is then the width of its block.

    Parameters
    ----------
    guess
        The guess before any trial: a trial adds conditions.
    """
    return "K" in guess.roles or any(re.search(r"\bK ==|== K\b", one) for one in guess.requires)


def has_whole_blocks(made: Guess, size: Problem) -> bool:
    """Return whether the blocks of a launch end where C ends: a file whose sizes are multiples has no others.

    Parameters
    ----------
    made, size
        The launch.
    """
    values = {name: given[0] for name, given in made.params.items()} | {"M": size.m, "N": size.n, "K": size.k}
    return all(evaluate(condition, values) for condition in whole_grid(made))


def has_whole_groups(made: Guess, size: Problem) -> bool:
    """Return whether the blocks of a launch end where C ends, but for blocks that make a group of them whole.

    A grid of 16 x ceil(N / 2048) blocks has blocks of 128 columns: the last group of 16 may have some beyond C. They
    store nothing, or the recording of such a launch shows that they miss C.

    Parameters
    ----------
    made, size
        The launch.
    """
    values = {name: given[0] for name, given in made.params.items()}
    groups = [value for side in made.grid if (value := evaluate(side, values)) and value > 1]
    for at, side in enumerate(made.grid):
        found = QUOTIENT.fullmatch(side)
        width = evaluate(found[2], values) if found else None
        if not found or not width or getattr(size, found[1].lower()) % width == 0:
            continue
        group = next((one for one in groups if width % one == 0), 0)
        if group:
            one_block = f"ceil({found[1]} / {width // group})"
            made = replace(made, grid=(*made.grid[:at], one_block, *made.grid[at + 1 :]))
            groups.remove(group)
    return has_whole_blocks(made, size)


def constant_threads(made: Guess) -> int:
    """Return the number of threads of a block; 0 where it depends on a size."""
    values = {name: given[0] for name, given in made.params.items()}
    sides = [evaluate(side, values) for side in made.block]
    return int(prod(side for side in sides if side)) if all(sides) else 0


def counts_products(name: str, role: str) -> bool:
    """Return whether an argument is the number of products, and one is computed."""
    return role == "1" and "batch" in name.lower()


def is_whole(made: Guess) -> bool:
    """Return whether the file itself gives every part of a launch, its values and its shared memory, too."""
    return is_known(made) and is_whole_at_one_size(made)


def is_whole_at_one_size(made: Guess) -> bool:
    """Return whether the file itself gives every part of a launch; its grid may be for one size.

    Parameters
    ----------
    made
        The launch.
    """
    return has_known_arguments(made) and (made.shared == "0" or is_stated(made, "shared"))


def is_given(made: Guess) -> bool:
    """Return whether the file gives every part of a launch, whatever its arguments mean: a race is a fault then.

    Parameters
    ----------
    made
        The launch.
    """
    some = ((name, kind) for (name, kind), role in made.arguments if not role or role.isdecimal())
    # Of a flag the host passes either value, unless it computes it.
    numbers = (name for name, kind in some if kind != "bool" and not _is_unused(made, name, kind))
    return (
        is_started_so(made)
        and ELEMENTS not in made.why
        and _has_own_values(made)
        and all(is_stated(made, name) and name in made.why for name in numbers)
        and (made.shared == "0" or is_stated(made, "shared"))
    )


def _has_own_values(made: Guess) -> bool:
    """Return whether the file gives every value that the kernel and its launch name: with another C may be right."""
    own = " ".join((kernel_text(made), made.entry, *made.block, *made.grid))
    # A macro around the kernel, such as USE_GPU, is no value of its launch.
    return is_stated(made, "params") or not any(re.search(rf"\b{re.escape(name)}\b", own) for name in made.params)


def _is_known(made: Guess, name: str, kind: str, role: str) -> bool:
    confidence = made.why.get(name, GuessReason(0, "")).confidence
    if role in MATRICES:
        return confidence >= _LEAST_SURE_OF_MATRIX and not _HIDES_VALUES.search(kind)
    if role in ("alpha", "beta"):
        return _SCALES.fullmatch(name) is not None
    if counts_products(name, role) or (role == "0" and _is_unused(made, name, kind)):
        return True
    # A number, or no role: with another value C may be right.
    return (role in _SIZES or role.startswith("ld") or not role.isdecimal()) and bool(role) and confidence >= SURE


def _is_unused(made: Guess, name: str, kind: str) -> bool:
    """Return whether a pointer stands only in the kernel's head: no value of it makes a difference.

    A whole number may also be the number of blocks.
    """
    return "*" in kind and len(re.findall(rf"\b{re.escape(name)}\b", without_comments(kernel_text(made)))) == 1
