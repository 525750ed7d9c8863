"""A second size for a launch that is right at one: multiples of its divisors that are no larger powers of two."""

import math
import re
from dataclasses import replace

from gemmviz.catalogue.errors import FrontMatterError
from gemmviz.catalogue.expression import Expression
from gemmviz.catalogue.guessing.candidates import MOST_DIVISOR
from gemmviz.catalogue.guessing.folding import bracket
from gemmviz.catalogue.guessing.guessed_kernel import guessed_kernel
from gemmviz.catalogue.guessing.guessed_matter import Guess
from gemmviz.catalogue.guessing.kernel_text import kernel_text
from gemmviz.catalogue.guessing.trial_sizes import MOST_PRODUCTS, UNEVEN, has_blocks
from gemmviz.catalogue.launch import nearest_size
from gemmviz.catalogue.problem import Problem

_MOST_OF_LARGE_TILES = 2**22
_WIDE = 64
_LEAST_DIVISOR = 8
_INDEX = re.compile(r"\b(?:threadIdx|blockIdx)\b")


def is_one_element(made: Guess) -> bool:
    """Return whether a launch is one thread for a C with one element, of a kernel that is written for many threads.

    Whatever such a kernel computes, its first thread may have the right element.

    Parameters
    ----------
    made
        The launch.
    """
    fixed = sum(one in made.requires for one in ("M == 1", "N == 1", "M == N")) > 1
    return fixed and {*made.block, *made.grid} == {"1"} and _INDEX.search(kernel_text(made)) is not None


def odd_size(made: Guess, names: str, size: Problem) -> Problem | None:
    """Return a size with some extents that are odd multiples of their required divisors; None where there is none.

    The multiple is two or more, so that there is more than one step; one, if the recording would take long.

    Parameters
    ----------
    made
        A launch that is right at a size.
    names
        The extents, such as ``"MNK"``.
    size
        The size.
    """
    kernel = guessed_kernel(made)
    small, large = {}, {}
    for name, even, uneven in zip("MNK", (size.m, size.n, size.k), (UNEVEN.m, UNEVEN.n, UNEVEN.k), strict=True):
        divisor = math.lcm(*(number for _, number in _divisors(made, name)))
        times = max(3, uneven // divisor)
        # Several steps of a sum may have to be even; of rows and columns two wide tiles are enough.
        times = 2 if divisor >= _WIDE and name != "K" else times + 1 - times % 2
        large[name] = divisor * times if name in names else even
        small[name] = divisor if name in names else even
    least, tall = (small["M"], small["N"]), (large["M"], small["N"])
    deep, two_steps = large["K"], min(large["K"], 2 * small["K"])
    usual = [((large["M"], large["N"]), deep), (tall, deep), (least, deep)]
    # Of a kernel with large tiles even the smallest size has more products, or room for two steps only.
    of_large_tiles = [(least, deep), (least, two_steps)]
    # Square matrices do not show which size is M and which is N.
    unequal = [(tall, deep)] if small["M"] == small["N"] else []
    limits = [*[MOST_PRODUCTS] * 2, *[_MOST_OF_LARGE_TILES] * len(unequal), MOST_PRODUCTS, *[_MOST_OF_LARGE_TILES] * 2]
    for ((m, n), k), most in zip([*usual[:2], *unequal, *usual[2:], *of_large_tiles], limits, strict=True):
        found = nearest_size(kernel, Problem(m, n, k), kernel.defaults)
        if found is not None and found.m * found.n * found.k <= most and has_blocks(kernel, found):
            return found
    return None


def with_larger_divisor(made: Guess, name: str) -> Guess | None:
    """Require a larger divisor of a size: the tile if it is a multiple of the current divisor, else twice as much.

    None where the divisor would be too large.

    Parameters
    ----------
    made, name
        A launch, and the size.
    """
    divisors = _divisors(made, name)
    number = math.lcm(*(value for _, value in divisors))
    tile = made.tiles.get(name, "1")
    try:
        extent = Expression(tile).evaluate(guessed_kernel(made).defaults)
    except FrontMatterError:
        extent = 1
    basis = next((condition for condition, value in divisors if value == number), "")
    if extent > number and extent % number == 0:
        asked = bracket(tile)
    else:
        text = basis.removeprefix(f"{name} % ").removesuffix(" == 0")
        # The usual vectors and fragments have eight elements or more.
        extent = max(2 * number, _LEAST_DIVISOR)
        asked = str(extent) if text.isdecimal() or not text else f"({extent // number} * {text})"
    if extent > MOST_DIVISOR:
        return None
    kept = (condition for condition in made.requires if condition != basis)
    return replace(made, requires=(*kept, f"{name} % {asked} == 0"))


def _divisors(made: Guess, name: str) -> list[tuple[str, int]]:
    """Return the divisors of a size: each condition of the guess, and its divisor as a number."""
    kernel = guessed_kernel(made)
    values: dict[str, int] = {"M": 1, "N": 1, "K": 1, **kernel.defaults}
    found = []
    for condition in made.requires:
        asked = re.fullmatch(rf"{name} % (\w+|\(.*\)) == 0", condition)
        value = Expression(asked[1]).evaluate(values) if asked else 0
        if value >= 1 and value == int(value):
            found.append((condition, int(value)))
    return found
