"""The kernel that a guess describes, and a check that the guess is valid front matter."""

from gemmviz.catalogue.errors import FrontMatterError
from gemmviz.catalogue.guessing.guessed_matter import Guess
from gemmviz.catalogue.kernel import Kernel, parse


def guessed_kernel(made: Guess) -> Kernel:
    """Return the kernel that a guess describes.

    Raises
    ------
    FrontMatterError
        When the guess is not valid front matter, for example because the role of a parameter is unknown.
    """
    return parse(made.described(), made.path)


def valid(made: Guess) -> str:
    """Return the error in the front matter of a guess; an empty text when it is valid."""
    try:
        guessed_kernel(made)
    except FrontMatterError as error:
        return str(error)
    return ""
