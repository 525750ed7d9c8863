"""A launch that is right where C has one block or two, and wrong where it has more: then the kernel is wrong."""

from collections.abc import Callable
from dataclasses import replace

from gemmviz.catalogue.guessing.certainty import has_whole_blocks, is_known
from gemmviz.catalogue.guessing.guessed_kernel import guessed_kernel
from gemmviz.catalogue.guessing.guessed_matter import Guess
from gemmviz.catalogue.guessing.one_step import RIGHT_AT_ONE
from gemmviz.catalogue.guessing.renamed_sizes import exchanged
from gemmviz.catalogue.guessing.trial_sizes import MOST_PRODUCTS, broad_size
from gemmviz.catalogue.guessing.trials import OWN_LAUNCH_IS_WRONG
from gemmviz.catalogue.launch import nearest_size
from gemmviz.catalogue.problem import Problem
from gemmviz.language import tr

_DEEP = Problem(96, 128, 128)


def or_wrong_at_large(found: Guess, size: Problem, wrong_at: Callable[[Problem], str]) -> Guess:
    """Return a launch that is right at small sizes; with its fault, if it is wrong at a size with more blocks.

    Parameters
    ----------
    found, size
        The launch, and a size at which it is right.
    wrong_at
        Returns its fault at another size; an empty text for none.
    """
    if not found.right:
        return found
    kernel = guessed_kernel(found)
    broad, deep = broad_size(kernel), nearest_size(kernel, _DEEP, kernel.defaults)
    wrong = wrong_at(broad) if broad else ""
    # A launch that is only wrong where K is small may be one for a large K.
    if broad is None or not wrong or deep is None or deep.m * deep.n * deep.k > MOST_PRODUCTS or not wrong_at(deep):
        return found
    settled = tr(RIGHT_AT_ONE, size=size, other=broad, fault=wrong)
    sure = size.m != size.n or not any(exchanged(found))  # the names of its sizes may mean others
    own = sure and is_known(found) and has_whole_blocks(found, broad)
    settled = f"{settled}; {tr(OWN_LAUNCH_IS_WRONG)}" if own else settled
    return replace(found, settled=settled, right=False, wrong_itself=own)
