"""Tries a guess with random numbers: whole numbers hide that a kernel rounds its operands or its sums.

A kernel that quantises A and B to eight bits computes small whole numbers exactly. With random numbers the error of C
shows it. If the sums are kept in a type of 16 bits, or the operands have the bits of tf32, of half
precision or of bfloat16, the front matter can say so, and C is right.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from gemmviz.catalogue.errors import GemmvizError
from gemmviz.catalogue.guessing.flaw import Flaw
from gemmviz.catalogue.guessing.guessed_kernel import guessed_kernel
from gemmviz.catalogue.guessing.guessed_matter import Guess
from gemmviz.catalogue.guessing.kernel_text import kernel_line, kernel_text
from gemmviz.catalogue.guessing.verdict import Verdict
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.plain_code import without_comments
from gemmviz.catalogue.problem import Problem
from gemmviz.language import mark, tr

_OPERANDS = {
    name: re.compile(rf"(?i)(?<![a-z])(?:{word})")
    for name, word in (
        ("tf32", "tf32"),
        ("bf16", "(?:__nv_)?bf(?:loat)?_?16"),
        ("fp16", "(?:__)?half|f(?:p|loat)?_?16"),
    )
}
ROUNDS_MORE = mark(
    "it rounds its numbers more than its types do, as a kernel does that quantises them: front matter cannot say so"
)


def with_random_numbers(found: Guess, size: Problem, try_random: Callable[[Kernel, Problem], str]) -> Guess:
    """Return a guess that is right for whole numbers, with the types that are right for random numbers, too.

    Where none are, it is not right any more.

    Parameters
    ----------
    found
        It is right at a size.
    size
        This size.
    try_random
        Runs a kernel with random numbers at a size, and returns as a sentence that C is further from A B than rounding
        explains. A run that does not end shows nothing.
    """
    first = _fault(found, size, try_random)
    if not first:
        return found
    # A bias may make all of C positive for whole numbers: then they do not show whether negative elements are cut.
    other = replace(found, epilogue="" if found.epilogue else "relu")
    if not _fault(other, size, try_random):
        cuts = mark("random numbers show that it cuts negative elements")
        cuts_none = mark("random numbers show that it does not cut negative elements")
        return replace(other, settled=f"{found.settled}; {tr(cuts if other.epilogue else cuts_none)}")
    for other in _coarser(found):
        if not _fault(other, size, try_random):
            changed = other.accumulate if other.accumulate != found.accumulate else other.math
            shown = tr("random numbers show that it rounds to {type}", type=changed)
            return replace(other, settled=f"{found.settled}; {shown}")
    outcome = tr("but with random numbers {fault}: {reason}", fault=first, reason=tr(ROUNDS_MORE))
    computes = first.computes if isinstance(first, Verdict) else ""
    flaws = (Flaw("another result", kernel_line(found), computes),) if computes else ()
    return replace(found, settled=f"{found.settled}; {outcome}", right=False, flaws=flaws)


def _coarser(found: Guess) -> Iterator[Guess]:
    """Yield the guess with less exact sums or operands."""
    if found.dtype == "float32" and not found.math:
        yield from (replace(found, math=name) for name in _named(found))
    for kind in ("float16", "bfloat16"):
        if kind in (found.dtype, found.stores) and found.accumulate == "float32":
            yield replace(found, accumulate=kind)


def _named(found: Guess) -> list[str]:
    """Return the types of operands that the kernel names, or else its file; and tf32, which hardware makes of floats.

    With few terms the error of one type is within the bound of another, too: the kernel's own words come first.
    """
    texts = (without_comments(text) for text in (kernel_text(found), found.text))
    named = ([name for name, word in _OPERANDS.items() if word.search(text)] for text in texts)
    return list(dict.fromkeys([*next(filter(None, named), []), "tf32"]))


def _fault(made: Guess, size: Problem, try_random: Callable[[Kernel, Problem], str]) -> str:
    try:
        wrong = try_random(guessed_kernel(made), size)
    except GemmvizError:
        return ""
    return wrong if not isinstance(wrong, Verdict) or wrong.ended else ""
