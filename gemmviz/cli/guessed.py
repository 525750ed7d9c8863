"""Finds the two kernels that a command names; if a file has no front matter, it is guessed and tried."""

import sys
from pathlib import Path

from gemmviz.backends.surroundings import surroundings
from gemmviz.catalogue.errors import GemmvizError, NoFrontMatter
from gemmviz.catalogue.front_matter import FENCE
from gemmviz.catalogue.guessing.guess import guess
from gemmviz.catalogue.guessing.guessed_kernel import guessed_below
from gemmviz.catalogue.guessing.guessed_matter import Guess
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.ladder import find
from gemmviz.catalogue.user_file import read_source
from gemmviz.cli.describe import tried


def find_versions(names: tuple[str, str], known: list[Kernel]) -> tuple[Kernel, Kernel]:
    """Return two versions of a kernel, by their names or files.

    If a file has no front matter, it is guessed, and recordings of small problems have to confirm the guess. If no
    guess is confirmed, because this version is wrong, it gets the launch of the other version, if its kernel has the
    same name and parameters. A line on standard error reports this.

    Raises
    ------
    GemmvizError
        As `gemmviz.catalogue.ladder.find` does, or when no launch is found in either way.
    """
    found: list[Kernel | Guess] = [_found(name, known) for name in names]
    for at in (0, 1):
        one, other, name, partner = found[at], found[1 - at], names[at], names[1 - at]
        if isinstance(one, Guess) and isinstance(other, Guess):
            raise _no_guess(name, one)
        if isinstance(one, Guess) and isinstance(other, Kernel):
            if not _same_call(one, other):
                raise _no_guess(name, one)
            print(f"gemmviz: no guess is right for {name} ({one.settled}); launched like {partner}", file=sys.stderr)
            matter = FENCE.search(other.text)
            assert matter is not None
            found[at] = guessed_below(one, f"{matter[0]}\n")
    before, after = found
    assert isinstance(before, Kernel) and isinstance(after, Kernel)
    return before, after


def _found(name: str, known: list[Kernel]) -> Kernel | Guess:
    """Return a kernel, or a guess that no recording has confirmed."""
    try:
        return find(name, known)
    except NoFrontMatter:
        path = Path(name)
        text = read_source(path)
        made = guess(text, path, around=surroundings(path, text))
        if not made.entry:
            raise
    made = tried(made)
    if not made.right:
        return made
    print(f"gemmviz: {name} has no front matter; guessed: {made.entry}, {made.settled}", file=sys.stderr)
    return guessed_below(made)


def _same_call(made: Guess, kernel: Kernel) -> bool:
    """Return whether a kernel's function has the name and the parameters that a guess found."""
    if FENCE.search(kernel.text) is None:
        return False
    around = surroundings(kernel.path, kernel.text)
    other = guess(kernel.text, kernel.path, kernel.entry.partition("<")[0], around)
    return (made.entry.partition("<")[0], made.parameters) == (other.entry.partition("<")[0], other.parameters)


def _no_guess(name: str, made: Guess) -> GemmvizError:
    return GemmvizError(
        f"{name} has no front matter, and no guess is right ({made.settled}): see `gemmviz describe {name}`"
    )
