"""The launches that a trial tries: the guess, then variants of it with likely errors corrected."""

import math
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, islice

import numpy as np

from gemmviz.catalogue.guessing.enumerations import ENUM
from gemmviz.catalogue.guessing.folding import bracket, evaluate
from gemmviz.catalogue.guessing.guessed_matter import SURE, Guess, is_stated
from gemmviz.catalogue.guessing.kernel_text import kernel_text
from gemmviz.catalogue.guessing.other_grids import (
    EXACT,
    QUOTIENT,
    by_element,
    by_own_code,
    one_block,
    one_product,
    one_tile,
)
from gemmviz.catalogue.guessing.other_sizes import (
    SIZES,
    as_deep_as_a_block,
    by_matrix_names,
    of_literal_rows,
    of_literal_size,
    of_one_term,
    of_one_tile,
)
from gemmviz.catalogue.guessing.renamed_sizes import exchanged, named_by_grid, named_by_parameters
from gemmviz.catalogue.guessing.roles import WHOLE, GuessReason
from gemmviz.catalogue.guessing.tokens import integer

MOST_DIVISOR = 256
# Bytes of shared memory per block: the default limit, and the limits of compute capability 8.6 and 9.0. Source: CUDA
# C++ Programming Guide, "Technical Specifications per Compute Capability".
SHARED = ("49152", "101376", "232448")
# Evidence from the host code has a higher confidence, and a launch with all arguments an even higher one.
_WHOLE = 0.94
# Blocks that people write, where nothing in the source says which one: along one side, and along two.
_LINES = ("256", "128", "32", "512", "1024", "64")
_WIDTHS = (16, 32, 8)
_PLANES = (("16", "16"), ("32", "32"), ("32", "8"), ("8", "8"), ("32", "4"), ("64", "4"))
LEAST_DEPTH = 128
"""The depth of a sum that has several steps for every usual tile."""
_MOST_TURNED = 8
_FIRST_WITH_FLAGS = 6
SQUARE = ("M == N", "K == N")
"""The conditions of a launch for square matrices."""
_OFFSET = re.compile(r"(?i)offset|start|begin|origin")
# Functions of an activation, of a norm, or of another product.
_MORE = re.compile(
    r"(?i)\b_*(?:exp|tanh|erf|log|sqrt|rsqrt|pow|fmax|max|sigmoid|relu|gelu|silu|swish|softmax|abs)f?\w*\s*\("
)
_PIPELINE = re.compile(r"(?i)stage|pipeline|cp_async|cp\.async")
_CUTS_AT_ZERO = re.compile(r"(?i)relu|\bf?maxf?\s*\(|[<>]=?\s*(?:\w+\()?0(?:\.0*)?f?\s*\)?\s*[?)]")
_TILE_SIDE = re.compile(r"(?i)^b_?[mnk]$|block|tile|^t[mnk]?$")
_ONE_SIZE = re.compile(r"[MN] == \d+")
# A grid of one side whose blocks share the elements of C: ``floor(M * N / 4096)``.
_AREA = re.compile(r"floor\((M \* N|N \* M) / (\d+)\)")
_LAYOUTS = ("B", "A", "C", "AB", "AC", "BC", "ABC")


def guessed_shared(made: Guess) -> bool:
    """Return whether the kernel uses dynamic shared memory and the host code does not give its size."""
    return made.shared != "0" and not is_stated(made, "shared")


def candidates(guess: Guess) -> Iterator[Guess]:
    """Yield a guess, then variants of it, the most likely first; none twice.

    Parameters
    ----------
    guess
        With the less likely launches in its `others`.
    """
    guess = named_by_grid(guess)
    seen: set[object] = set()
    flags = [name for (name, kind), role in zip(guess.parameters, guess.roles, strict=True) if is_flag(kind, role)]
    for one in _flagged(guess, flags) if flags else _all(guess):
        launched = (
            one.roles,
            repr(one.params),
            one.block,
            one.grid,
            one.shared,
            frozenset(one.requires),
            one.column_major,
        )
        key = *launched, one.adds, one.epilogue
        if key not in seen:
            seen.add(key)
            yield one


def is_flag(kind: str, role: str) -> bool:
    """Return whether a parameter without a role may be a flag, such as one for a layout: a number, an enumeration."""
    return not role and (kind in WHOLE or kind in ("bool", ENUM))


def _flagged(guess: Guess, flags: list[str]) -> Iterator[Guess]:
    """Yield the launches with 0 for each flag, then with 1: the first of them in this order, the others in turns."""
    for value in ("0", "1"):
        yield from (_with_flags(one, flags, value) for one in islice(_all(guess), _FIRST_WITH_FLAGS))
    yield from (_with_flags(one, flags, value) for one in _all(guess) for value in ("0", "1"))


def _with_flags(made: Guess, flags: list[str], value: str) -> Guess:
    roles = (value if name in flags else role for (name, _), role in zip(made.parameters, made.roles, strict=True))
    why = GuessReason(SURE, f"with {value} for it C is right: nothing else says what it is")
    return replace(made, roles=tuple(roles), why=made.why | dict.fromkeys(flags, why))


def _all(guess: Guess) -> Iterator[Guess]:
    launches = [guess, *guess.others]
    # The host code may compute the shared memory at run time: then nobody knows it, and too much harms nothing.
    roomy = [replace(one, shared=SHARED[-1]) if guessed_shared(one) else one for one in launches]
    stated = is_stated(guess, "block")
    yield guess
    yield from by_own_code(guess)
    yield from one_block(guess)
    yield from one_tile(guess)
    yield from by_element(guess)
    yield from one_product(guess)
    yield from _otherwise(guess)
    own = roomy[-1]
    if not stated and own.why.get("block", GuessReason(1, "")).confidence < SURE:
        yield own
        yield from _other_blocks(own)
    elif not stated and guess.others:  # the launch of another kernel, or one in a comment: this one's code may say more
        yield own
        yield from _otherwise(own)
    if not stated and not is_stated(guess, "params"):
        yield from _equal_tiles(guess)
    yield from named_by_parameters(guess)
    yield from _whole_product(guess)
    # The host code's launch at whole tiles is more likely than another launch at any size.
    if guess.others:
        yield replace(guess, requires=_whole_tiles(guess))
    yield roomy[0]
    whole = [replace(one, requires=_whole_blocks(one)) for one in roomy]
    yield whole[0]
    if stated:
        yield replace(roomy[0], requires=whole_grid(guess))
    deep = _deep(whole[0])
    yield deep
    if _PIPELINE.search(kernel_text(guess)):  # it may need more steps than it says
        yield replace(whole[0], requires=(*whole[0].requires, f"K % {4 * LEAST_DEPTH} == 0"))
    yield squared(deep)  # a recording of this size shows every layout that would be right
    if stated:
        yield from islice(_turned(deep), _MOST_TURNED)
    yield from exchanged(deep)
    yield from guess.others
    yield from (_deep(one) for one in whole[1:] if is_stated(one, "block"))
    yield from roomy
    yield from whole
    # A guard may be incomplete: then whole tiles are needed.
    yield from (replace(one, requires=_whole_tiles(one)) for one in roomy if _whole_tiles(one) != one.requires)
    if guessed_shared(guess):  # tiles may be larger than anything in the source shows
        yield from (replace(roomy[-1], requires=_common_tiles(roomy[-1], step)) for step in (64, 128))
    if not SIZES & set(guess.roles):
        fixed = [replace(one, requires=_fixed(one)) for one in roomy if _fixed(one)]
        yield from fixed
        yield from (replace(one, column_major=one.column_major ^ {"B"}) for one in fixed)
    turned = [[*_turned(one)] for one in roomy]
    yield from (made for number in range(3) for some in turned for made in some[number : number + 1])
    if not stated:
        yield from _other_blocks(roomy[-1])
    for first, second in (("A", "B"), ("M", "N"), ("N", "K"), ("M", "K")):
        if {first, second} <= set(guess.roles):
            swap = {first: second, second: first}
            for one in roomy:
                other = replace(one, roles=tuple(swap.get(role, role) for role in one.roles))
                yield other
                if first == "A" and len(one.grid) == 2:
                    yield replace(other, grid=one.grid[::-1])
    yield from map(squared, roomy)
    yield from chain(*turned)


def _otherwise(guess: Guess) -> Iterator[Guess]:
    """Yield a guess with another content of C, another function of the result, and other sizes for a single block."""
    if guess.reads_result and not guess.adds:
        yield replace(guess, adds=True)
    if not guess.epilogue and _CUTS_AT_ZERO.search(kernel_text(guess)):
        yield replace(guess, epilogue="relu")
    yield from of_one_tile(guess)
    yield from of_one_term(guess)
    yield from as_deep_as_a_block(guess)
    yield from by_matrix_names(guess)
    yield from of_literal_rows(guess)
    for one in of_literal_size(guess):
        yield one
        if one.reads_result and not one.adds:
            yield replace(one, adds=True)
    open_ = tuple(one for one in guess.requires if not _ONE_SIZE.fullmatch(one))
    if open_ != guess.requires:  # a recording of larger matrices shows the sizes that such a block computes
        yield replace(guess, requires=open_)


def _equal_tiles(guess: Guess) -> Iterator[Guess]:
    """Yield a guess with equal sides of its tile, where nothing gives their values: such a kernel may need them."""
    sides = [name for name, values in guess.params.items() if _TILE_SIDE.search(name) and values[0] > 1]
    for side in (16, 32) if len(sides) > 1 and len({guess.params[name][0] for name in sides}) > 1 else ():
        made = replace(guess, params=guess.params | dict.fromkeys(sides, (side,)))
        yield made
        yield squared(made)


def _whole_product(guess: Guess) -> Iterator[Guess]:
    """Yield a launch for all of C, where the host code launches a kernel for a part of it: at an offset."""
    names = {name for (name, _), role in zip(guess.parameters, guess.roles, strict=True) if "(" in role}
    if guess.others and any(_OFFSET.search(name) for name in names):
        named = zip((name for name, _ in guess.parameters), guess.others[-1].roles, strict=True)
        roles = tuple("0" if _OFFSET.search(name) else role for name, role in named)
        yield replace(guess.others[-1], roles=roles, others=())


def relaxed(right: Guess, guess: Guess) -> Iterator[Guess]:
    """Yield a right launch with fewer conditions on its sizes, the fewest first.

    Parameters
    ----------
    right
        The launch.
    guess
        The guess that it is a variant of.
    """
    # Without its condition a side such as M / 8 is no whole number.
    exact = [one for one in map(EXACT.fullmatch, right.grid) if one]
    asked = tuple(f"{one[1]} % {bracket(one[2])} == 0" for one in exact)
    plain = replace(right, requires=tuple(dict.fromkeys((*guess.requires, *asked))))
    loose = replace(right, requires=tuple(text for text in right.requires if text not in SQUARE))
    others = (plain, replace(plain, requires=_whole_blocks(plain)), loose)
    if any(text in right.requires and text not in guess.requires for text in SQUARE):
        for one in others:  # square matrices do not show which size is M and which is N
            yield from exchanged(one)
    for one in others:
        for equal in ((), *((text,) for text in SQUARE), SQUARE):
            made = replace(one, requires=tuple(dict.fromkeys((*one.requires, *equal))))
            if set(made.requires) < set(right.requires):
                yield made


def squared(made: Guess) -> Guess:
    """Return a launch for square matrices: a kernel may use the row stride of one matrix for another.

    Parameters
    ----------
    made
        The launch.
    """
    return replace(made, requires=tuple(dict.fromkeys((*made.requires, *SQUARE))))


def _deep(made: Guess) -> Guess:
    """Return a launch for sums of at least four steps: a pipeline loads the first steps without a test."""
    values = {name: given[0] for name, given in made.params.items()}
    found = (re.fullmatch(r"K % (.*) == 0", text) for text in made.requires)
    steps = [evaluate(one[1], values) or 1 for one in found if one]
    depth = max(LEAST_DEPTH, *(4 * int(step) for step in steps)) if steps else LEAST_DEPTH
    return replace(made, requires=(*made.requires, f"K % {depth} == 0"))


def is_started_so(made: Guess) -> bool:
    """Return whether the file itself has the whole launch, of whatever kernel.

    Parameters
    ----------
    made
        The launch.
    """
    return made.why.get("block", GuessReason(0, "")).confidence >= _WHOLE


def is_launched_so(made: Guess) -> bool:
    """Return whether the file itself has the whole launch of a plain product.

    The types of the matrices must be known, and the kernel must apply no function to their values.
    """
    whole = is_started_so(made) and not _MORE.search(kernel_text(made))
    return whole and (np.dtype(made.dtype).kind not in "iu" or np.dtype(made.stores).kind == "i")


def _turned(made: Guess) -> Iterator[Guess]:
    """Yield a launch with the sides of its grid exchanged, and with other layouts of the matrices."""
    swapped = [replace(made, grid=made.grid[::-1])] if len(made.grid) == 2 and made.grid[0] != made.grid[1] else []
    yield from swapped
    for matrices in _LAYOUTS:
        for one in (made, *swapped):
            yield replace(one, column_major=one.column_major ^ set(matrices))


def _other_blocks(made: Guess) -> Iterator[Guess]:
    """Yield a launch with other usual blocks, where its block is only derived from the arithmetic of the kernel."""
    names = {name for text in (*made.grid, *made.requires, made.shared) for name in re.findall(r"[A-Za-z_]\w*", text)}
    if any(name in names for extent in made.block for name in re.findall(r"[A-Za-z_]\w*", extent)):
        return  # the grid depends on the block
    blocks: list[tuple[str, ...]] = [(side,) for side in _LINES]
    if len(made.block) > 1:
        flat = set(made.block[1:]) == {"1"}
        blocks = [*(blocks[:3] if flat else ()), *_PLANES]
    elif made.block[0].isdecimal() and "threadIdx.y" in kernel_text(made):
        # The number of threads is known, and the kernel has two indices for them.
        threads = int(made.block[0])
        sides = [x for x in _WIDTHS if threads % x == 0 and threads > x]
        blocks = [*((str(x), str(threads // x)) for x in sides), *blocks]
    for block in blocks:
        if block != made.block:
            yield replace(made, block=block)


def _fixed(made: Guess) -> tuple[str, ...]:
    """Return the conditions of a kernel without size parameters: each size equals its required divisor."""
    found = [re.fullmatch(r"([MNK]) % (\w+) == 0", condition) for condition in made.requires]
    sizes = {match[1]: match[2] for match in found if match}
    return tuple(f"{name} == {size}" for name, size in sizes.items()) if len(sizes) == 3 else ()


def _whole_tiles(made: Guess) -> tuple[str, ...]:
    """Return the conditions of a guess and one more per size: it is a multiple of its tile."""
    tiles = {name: bracket(tile) for name, tile in made.tiles.items() if tile != "1"}
    return tuple(dict.fromkeys((*made.requires, *(f"{name} % {tile} == 0" for name, tile in tiles.items()))))


def _whole_blocks(made: Guess) -> tuple[str, ...]:
    """Return the conditions of a guess and one more per size: it is a multiple of its divisors in the grid.

    A grid with a fixed extent folds the blocks along one size into that many columns: the required divisor is then the
    grid's divisor over the number of columns.
    """
    fixed = math.prod(integer(extent) or 1 for extent in made.grid)
    asked: dict[str, int] = {}
    for extent in made.grid:
        divided = re.fullmatch(r"(?:(?:ceil|floor)\()?([MNK]) / (\d+)\)?", extent)
        if divided:
            number = integer(divided[2]) or 1
            number = number // fixed if number > MOST_DIVISOR and number % fixed == 0 else number
            asked[divided[1]] = math.lcm(number, asked.get(divided[1], 1))
    kept = [text for text in made.requires if not any(text.startswith(f"{name} % ") for name in asked)]
    return (*kept, *(f"{name} % {number} == 0" for name, number in asked.items()))


def whole_grid(made: Guess) -> tuple[str, ...]:
    """Return the conditions of a guess, and for each size that it is a multiple of its divisor in the grid."""
    found = [QUOTIENT.fullmatch(part) for text in made.grid for part in _factors(text)]
    asked = [f"{one[1]} % {bracket(one[2])} == 0" for one in found if one]
    areas = [_AREA.fullmatch(part) for text in made.grid for part in _factors(text)]
    asked += [f"{one[1]} % {one[2]} == 0" for one in areas if one]
    return tuple(dict.fromkeys((*made.requires, *asked)))


def _factors(text: str) -> list[str]:
    """Return the factors of an extent: ``ceil(M / 64) * ceil(N / 64)`` has two."""
    parts, depth, start = [], 0, 0
    for at, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if letter == "*" and depth == 0:
            parts.append(text[start:at].strip())
            start = at + 1
    return [*parts, text[start:].strip()]


def _common_tiles(made: Guess, step: int) -> tuple[str, ...]:
    """Return the conditions of a guess, and that each size is a multiple of the usual large tiles."""
    return tuple(dict.fromkeys((*made.requires, "M % 128 == 0", "N % 128 == 0", f"K % {step} == 0")))
