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


def guessed_below(made: Guess, matter: str = "") -> Kernel:
    """Return the kernel of a file with front matter below its code: each line keeps its number of the file on disk.

    Parameters
    ----------
    made
        A guess.
    matter
        The front matter, which ends with a new line; empty: the guess.

    Raises
    ------
    FrontMatterError
        When the front matter is not valid.
    """
    text = made.text.removeprefix("\ufeff")
    end = "" if text.endswith("\n") else "\n"
    return parse(f"{text}{end}{matter or made.front_matter()}", made.path)


def valid(made: Guess) -> str:
    """Return the error in the front matter of a guess; an empty text when it is valid."""
    try:
        guessed_kernel(made)
    except FrontMatterError as error:
        return str(error)
    return ""
