"""The kernel that a guess describes, and whether it is one."""

from gemmviz.catalogue.errors import FrontMatterError
from gemmviz.catalogue.guessing.guess import Guess
from gemmviz.catalogue.kernel import Kernel, parse


def guessed_kernel(made: Guess) -> Kernel:
    """Return the kernel that a guess describes.

    Raises
    ------
    FrontMatterError
        When the guess is no valid front matter, for example because a parameter stayed unknown.
    """
    return parse(made.described(), made.path)


def valid(made: Guess) -> str:
    """Return what is wrong with the front matter of a guess; nothing when it is valid."""
    try:
        guessed_kernel(made)
    except FrontMatterError as error:
        return str(error)
    return ""
