"""Confirms a guess: tries it, then the next likely guesses, until one of them computes the right C."""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace

from gemmviz.catalogue.dtypes import is_float
from gemmviz.catalogue.errors import BuildError, FrontMatterError, GemmvizError
from gemmviz.catalogue.guessing.at_large import or_wrong_at_large
from gemmviz.catalogue.guessing.block_sides import beyond_grid, doubled, in_groups, several_blocks
from gemmviz.catalogue.guessing.candidates import (
    SHARED,
    SQUARE,
    candidates,
    guessed_shared,
    is_launched_so,
    relaxed,
    whole_grid,
)
from gemmviz.catalogue.guessing.certainty import is_known
from gemmviz.catalogue.guessing.guessed_kernel import guessed_kernel
from gemmviz.catalogue.guessing.guessed_matter import Guess, is_stated
from gemmviz.catalogue.guessing.odd_sizes import is_one_element, odd_size, with_larger_divisor
from gemmviz.catalogue.guessing.one_block_limit import RIGHT_AT_TWO, SO_IT_ASKS, in_one_block
from gemmviz.catalogue.guessing.one_step import RIGHT_AT_ONE
from gemmviz.catalogue.guessing.opening_size import with_opening_size
from gemmviz.catalogue.guessing.other_grids import grid_lacks_a_side
from gemmviz.catalogue.guessing.other_sizes import with_shown_sizes
from gemmviz.catalogue.guessing.own_size import at_its_own_size, broken_conditions
from gemmviz.catalogue.guessing.random_trial import with_random_numbers
from gemmviz.catalogue.guessing.renamed_sizes import exchanged
from gemmviz.catalogue.guessing.split_sums import or_wrong_in_parts
from gemmviz.catalogue.guessing.trial_sizes import EVEN, MOST_PRODUCTS, broad_size, first_size, has_blocks
from gemmviz.catalogue.guessing.trials import OWN_LAUNCH_IS_WRONG, Trials, TryDevice, TryRace
from gemmviz.catalogue.guessing.untried import Untried
from gemmviz.catalogue.guessing.verdict import Verdict, or_reads
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.launch import launch, nearest_size
from gemmviz.catalogue.problem import Problem
from gemmviz.language import mark, tr

_MOST_VALUES, _MOST_DIVISORS = 8, 20
_MOST_ELEMENTS = 512 * 512
_MOST_IN_ONE_TRIAL = 8 * 2**19
_MANY, _FEW = 3, 16
C_IS_ZERO_BEFORE = mark("C is zero before the launch: the kernel reads it, and nothing in the files was seen to set it")
ONLY_WHERE_EQUAL = mark("unless {conditions}, C is wrong with the launch in the file itself")
GRID_IS_TURNED = mark("the sides of the grid are exchanged: as the file itself has them, it is wrong")
GRID_LACKS_A_SIDE = mark(
    "the grid grows with M and N: as the file itself has it, it leaves out elements of C where the sizes differ"
)
ONLY_ONE_ELEMENT = mark("recorded: C is right at {size}, but only there: no launch with more than one thread is right")
TryOne = Callable[[Kernel, Problem], str]


def settle(
    guess: Guess,
    try_one: TryOne,
    *,
    try_random: TryOne | None = None,
    try_device: TryDevice | None = None,
    try_race: TryRace | None = None,
    alternatives: bool = True,
    spent: Callable[[], float] = time.monotonic,
    clock: Callable[[], float] = time.monotonic,
) -> Guess:
    """Return the first likely guess that is right, with the sizes at which it was right.

    Where none is, the guess is unchanged, or it is the first launch of the file's own that ran to its end.

    Parameters
    ----------
    guess
        From `gemmviz.catalogue.guessing.guess.guess`.
    try_one
        Runs a kernel at a size and returns the error as a sentence; an empty text when C is right. It may raise
        `BuildError` when the compiler refuses the source: then only launches with other parameters are tried.
    try_random
        The same with random numbers, whose C may be rounded; None: they are not tried.
    try_device
        Compiles a kernel that `try_one` refused with the GPU's compiler, and returns its error, if there is one.
    try_race
        Returns a race of a launch, if it has one: asked where C is wrong with the launch in the file.
    alternatives
        Whether to try the next likely guesses when the guess is wrong.
    spent, clock
        Return the processor time and the time, in seconds. After one minute, or five, no further launch is tried.
    """
    found = _for_whole_numbers(guess, try_one, alternatives, Trials(guess, spent, clock, try_device, try_race))
    size = first_size(guessed_kernel(found)) if found.right else None
    if size:
        found = or_wrong_in_parts(found, size, lambda at: _wrong(found, at, try_one))
        size = size if found.right else None
    found = with_opening_size(found, size, try_one) if size else found
    return with_random_numbers(found, size, try_random) if size and try_random and is_float(found.dtype) else found


def _for_whole_numbers(guess: Guess, try_one: TryOne, alternatives: bool, trials: Trials) -> Guess:
    """Return the outcome of `settle` for inputs of whole numbers."""
    for candidate in (untried := Untried(candidates(guess) if alternatives else [guess])):
        if repr(candidate.params) in trials.refused:
            continue
        try:
            kernel = guessed_kernel(candidate)
            size = first_size(kernel)
        except FrontMatterError as error:
            trials.unmade = trials.unmade or str(error)
            continue
        if size is None or not trials.takes(size):
            trials.first = trials.first or tr("no small size near {size} meets the conditions of the launch", size=EVEN)
            continue
        trials.tried, at = trials.tried + 1, size
        try:
            wrong = try_one(kernel, size)
        except BuildError as error:
            if trials.refuse(candidate, error, size):
                break
            continue
        except GemmvizError as error:
            wrong = str(error)
        larger = trials.larger(candidate, wrong, try_one)
        if larger is not None:
            return _for_whole_numbers(larger, try_one, alternatives, trials)
        if not wrong:
            broad = broad_size(kernel)
            wrong = _wrong(candidate, broad, try_one) if broad else ""
            if isinstance(wrong, Verdict) and wrong.refused:  # the size is too large for it, which is no fault
                broad, wrong = None, ""
            beyond = None if wrong else beyond_grid(candidate, broad or size)
            if beyond and (wrong := _wrong(candidate, beyond, try_one)):
                broad = beyond
            odd = odd_size(candidate, "MNK", size) if trials.partly else None
            wrong = wrong or (_wrong(candidate, odd, try_one) if odd else "")
            if not wrong and (broad or not trials.narrow):
                found = _settled(candidate, guess, size, try_one)
                if found.right or found.wrong_itself:
                    return found
                trials.partly = trials.partly or found  # the next launches may be right at other sizes, too
            if not wrong and {*SQUARE} <= {*candidate.requires}:  # it has no broad size
                trials.square = trials.square or (candidate, size)
            trials.narrow, at = trials.narrow or (candidate, size, trials.tried), odd or broad or size
        trials.note(candidate, size, at, wrong)
        untried.learn(candidate, at, wrong)
        if trials.over:
            break
    if trials.partly:
        return _or_square(in_one_block(trials.partly, try_one), guess, trials, try_one)
    if trials.narrow:
        found = in_one_block(_settled(trials.narrow[0], guess, trials.narrow[1], try_one), try_one)
        made = or_wrong_at_large(found, trials.narrow[1], lambda at: _wrong(found, at, try_one))
        return _or_square(made, guess, trials, try_one)
    if trials.spare:
        own = at_its_own_size(guess, try_one, with_reads=False) if alternatives else None
        if own is not None and own.right:
            return own
        candidate, size, wrong = trials.spare
        found = _settled(candidate, guess, size, lambda kernel, at: or_reads(try_one(kernel, at)))
        return replace(found, settled="; ".join((found.settled, tr("but at {size}: {fault}", size=size, fault=wrong))))
    return trials.ending(try_one if alternatives else None, _for_whole_numbers)


def _or_square(found: Guess, guess: Guess, trials: Trials, try_one: TryOne) -> Guess:
    """Return a guess; where it is wrong, the launch for square matrices that is right, if there is one."""
    if found.right or found.wrong_itself or trials.square is None:
        return found
    made = _settled(trials.square[0], guess, trials.square[1], try_one)
    return made if made.right else found


def _settled(right: Guess, guess: Guess, size: Problem, try_one: TryOne) -> Guess:
    """Return a launch that is right at a size, with the sizes and values at which it is right, too."""
    made = _least_shared(_relaxed(right, guess, try_one), size, try_one)
    size = first_size(guessed_kernel(made)) or size
    found = _offered(_other_values(_any_size(made, size, try_one), try_one), try_one)
    if found.right and is_one_element(found):
        return replace(found, right=False, settled=tr(ONLY_ONE_ELEMENT, size=size))
    return replace(found, settled="; ".join([found.settled, *_notes(found, guess)])) if found.right else found


def _notes(found: Guess, guess: Guess) -> Iterator[str]:
    """Yield the parts of the file that the right launch does not have."""
    if found.roles == guess.roles and found.grid == guess.grid[::-1] != guess.grid and is_launched_so(guess):
        yield tr(GRID_IS_TURNED)
    if found.roles == guess.roles and grid_lacks_a_side(guess, found):
        yield tr(GRID_LACKS_A_SIDE)
    if found.adds and not guess.adds:
        yield tr(C_IS_ZERO_BEFORE)
    narrow = [one for one in SQUARE if one in found.requires and one not in guess.requires]
    sure = is_known(guess) and not any(exchanged(guess))  # square matrices do not show which size is M and which is N
    if narrow and found.roles == guess.roles and {"M", "N", "K"} <= {*guess.roles} and sure:
        yield tr(ONLY_WHERE_EQUAL, conditions=tr(" and ").join(narrow))
    yield from broken_conditions(found)


def _any_size(right: Guess, size: Problem, try_one: TryOne) -> Guess:
    """Try sizes that are multiples of the required divisors and of no larger ones; require more if one is wrong."""
    odd = odd_size(right, "MNK", size)
    if odd is None or odd == size:
        return replace(
            with_shown_sizes(right, size), settled=tr("recorded: C is right at {size}", size=size), right=True
        )
    wrong, odd = _wrong_somewhere(right, odd, try_one)
    # With large tiles only a small K leaves room for several blocks, and a pipeline may need a larger one.
    large = odd.m * odd.n * odd.k > MOST_PRODUCTS
    several = None if wrong or large else several_blocks(right, odd)
    if several is not None and (wrong := _wrong(right, several, try_one)):
        turned = replace(right, grid=right.grid[::-1])
        if turned.grid != right.grid and not _wrong(turned, several, try_one):
            return replace(turned, settled=tr(RIGHT_AT_TWO, size=size, other=several), right=True)
        if grouped := in_groups(right, size, lambda one, at: _wrong(one, at, try_one)):
            return replace(grouped[0], settled=tr(RIGHT_AT_TWO, size=size, other=grouped[1]), right=True)
        template = mark("recorded: C is right at {size} and at {other}, but at {third}: {fault}")
        return replace(right, settled=tr(template, size=size, other=odd, third=several, fault=wrong))
    if not wrong:
        return replace(right, settled=tr(RIGHT_AT_TWO, size=size, other=odd), right=True)
    if isinstance(wrong, Verdict) and wrong.only_reads and is_stated(right, "block"):
        template = mark("recorded: C is right at {size}, and at {other} too, but there {fault}")
        return replace(right, settled=tr(template, size=size, other=odd, fault=wrong), right=True)
    made, last = _turned(right, size, try_one)
    if last is not None:
        return replace(made, settled=tr(RIGHT_AT_TWO, size=size, other=last), right=True)
    tried = 0
    for name in "MNK":
        alone = odd_size(made, name, size)
        while alone is not None and tried < _MOST_DIVISORS and _wrong(made, alone, try_one):
            tried += 1
            more = with_larger_divisor(made, name)
            if more is None:
                break
            made, alone = more, odd_size(more, name, size)
    last = odd_size(made, "MNK", size)
    if last is not None and last.m == last.n and odd.m != odd.n:
        last = doubled(guessed_kernel(made), last) or last
    square = last is not None and last.m == last.n and odd.m != odd.n  # it may need equal sizes, and no multiples
    if made is right or last is None or square or _wrong_somewhere(made, last, try_one)[0]:
        grouped = in_groups(right, size, lambda one, at: _wrong(one, at, try_one)) if "gridDim" in right.text else None
        made, last = grouped or _equal(right, size, try_one)
    if last is None:
        made, last = _on_whole_grid(right, try_one)
    if last is None:
        own = isinstance(wrong, Verdict) and wrong.comparable and is_known(right)
        outcome = tr(RIGHT_AT_ONE, size=size, other=odd, fault=wrong)
        settled = f"{outcome}; {tr(OWN_LAUNCH_IS_WRONG)}" if own else outcome
        return replace(right, settled=settled, wrong_itself=own)
    asked = tr(" and ").join(condition for condition in made.requires if condition not in right.requires)
    outcome = tr(SO_IT_ASKS, size=odd, conditions=asked)
    return replace(made, settled=f"{tr(RIGHT_AT_TWO, size=size, other=last)}; {outcome}", right=True)


def _wrong_somewhere(made: Guess, size: Problem, try_one: TryOne) -> tuple[str, Problem]:
    """Return the fault at a size, or at one with more rows if this one has few; and that size.

    A condition that makes N large may only hide that the grid leaves out rows.
    """
    wrong = _wrong(made, size, try_one)
    if wrong or size.n < _MANY * size.m:
        return wrong, size
    kernel = guessed_kernel(made)
    tall = nearest_size(kernel, Problem(size.n, size.n, _FEW), kernel.defaults)
    if tall is None or tall.m * tall.n * tall.k > _MOST_IN_ONE_TRIAL or not has_blocks(kernel, tall):
        return "", size
    wrong = _wrong(made, tall, try_one)
    return wrong, tall if wrong else size


def _turned(right: Guess, size: Problem, try_one: TryOne) -> tuple[Guess, Problem | None]:
    """Return the guess with M and N, or the sides of its grid, exchanged, if it is right at a second size so.

    The first size cannot tell: square matrices are no taller than wide, and one block has no sides.
    """
    made = replace(right, grid=right.grid[::-1])
    blind = len(right.grid) == 2 and made.grid != right.grid and max(launch(guessed_kernel(right), size).grid) == 1
    renamed = [*exchanged(right)] if size.m == size.n else []
    for other in (*[made] * blind, *renamed, *(replace(one, grid=one.grid[::-1]) for one in renamed if blind)):
        odd = odd_size(other, "MNK", size)
        if odd is not None and not _wrong(other, odd, try_one):
            return other, odd
    return right, None


def _on_whole_grid(right: Guess, try_one: TryOne) -> tuple[Guess, Problem | None]:
    """Return the guess for sizes of whole blocks only, and another such size at which it is right; None without one."""
    made = replace(right, requires=whole_grid(right))
    size = first_size(guessed_kernel(made)) if made.requires != right.requires else None
    odd = odd_size(made, "MNK", size) if size is not None else None
    at = odd or size
    fits = at is not None and at.m * at.n <= _MOST_ELEMENTS
    return (made, at) if fits and at and not _wrong_somewhere(made, at, try_one)[0] else (right, None)


def _equal(right: Guess, size: Problem, try_one: TryOne) -> tuple[Guess, Problem | None]:
    """Return the guess that requires the fewest equal sizes and is right at a second size; None without one."""
    for equal in (("M == N",), ("K == N",), ("M == N", "K == N")):
        made = replace(right, requires=tuple(dict.fromkeys((*right.requires, *equal))))
        odd = odd_size(made, "MNK", size)
        odd = doubled(guessed_kernel(made), size) if odd == size else odd
        if odd is not None and odd != size and not _wrong_somewhere(made, odd, try_one)[0]:
            return made, odd
    return right, None


def _relaxed(right: Guess, guess: Guess, try_one: TryOne) -> Guess:
    """Return a right launch with as few conditions on its sizes as are right at the first size and at a broad one."""
    for one in relaxed(right, guess):
        kernel = guessed_kernel(one)
        size = first_size(kernel)
        # At the first size K is larger than M: a condition may be needed where it is not.
        sizes = filter(None, (size, broad_size(kernel))) if size else ()
        if size is not None and not any(_wrong(one, at, try_one) for at in sizes):
            return one
    return right


def _least_shared(right: Guess, size: Problem, try_one: TryOne) -> Guess:
    """Return a launch with the smallest usual shared memory that is right, where nothing says how much it needs."""
    if not guessed_shared(right) or right.shared != SHARED[-1]:
        return right
    smaller = (replace(right, shared=size_) for size_ in SHARED[:-1])
    return next((one for one in smaller if not _wrong(one, size, try_one)), right)


def _offered(right: Guess, try_one: TryOne) -> Guess:
    """Leave out the parameter values that were not recorded or gave a wrong C."""
    tied = {name for pair in _pairs(right) for name in pair}
    made, tried = right, 0
    for name, values in right.params.items():
        if not right.right or name in tied:
            continue
        kept = [values[0]]
        for value in values[1:]:
            other = replace(made, params=made.params | {name: (value, *kept)})
            kernel = guessed_kernel(other)
            size = nearest_size(kernel, EVEN, kernel.defaults)
            tried += 1
            fits = size is not None and size.m * size.n <= _MOST_ELEMENTS and tried <= _MOST_VALUES
            if fits and size and not _wrong(other, size, try_one):
                kept.append(value)
        made = replace(made, params=made.params | {name: tuple(kept)})
    return made


def _pairs(made: Guess) -> list[list[str]]:
    """Return the pairs of parameters that a condition makes equal."""
    pairs = [condition.split(" == ") for condition in made.requires if " == " in condition]
    return [pair for pair in pairs if set(pair) <= made.params.keys()]


def _other_values(right: Guess, try_one: TryOne) -> Guess:
    """Try the parameter values of the other launches in the file, and report the wrong ones."""
    tied = {name for pair in _pairs(right) for name in pair}
    if not right.right or not tied:
        return right
    summary = right.settled
    left_out: set[int] = set()
    for at in range(1, min(len(right.params[name]) for name in tied)):
        moved = {name: (right.params[name][at], *right.params[name]) for name in sorted(tied)}
        other = replace(right, params=right.params | moved)
        kernel = guessed_kernel(other)
        size = nearest_size(kernel, EVEN, kernel.defaults)
        wrong = _wrong(other, size, try_one) if size else ""
        if wrong:
            left_out.add(at)
            given = ", ".join(f"{name} = {values[0]}" for name, values in moved.items())
            template = mark("with {values}, as the file launches it too, it is wrong at {size}: {fault}")
            summary += "; " + tr(template, values=given, size=size, fault=wrong)
    kept = {name: tuple(v for at, v in enumerate(right.params[name]) if at not in left_out) for name in sorted(tied)}
    return replace(right, params=right.params | kept, settled=summary)


def _wrong(made: Guess, size: Problem, try_one: TryOne) -> str:
    try:
        return try_one(guessed_kernel(made), size)
    except GemmvizError as error:
        return str(error)
