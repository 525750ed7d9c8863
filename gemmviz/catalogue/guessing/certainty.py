"""Whether a file gives every argument of a launch: only then a wrong C is the kernel's own fault."""

import re

from gemmviz.catalogue.guessing.candidates import is_launched_so, is_said
from gemmviz.catalogue.guessing.guessed_matter import SURE, Guess
from gemmviz.catalogue.guessing.roles import GuessReason

_MATRICES = ("A", "B", "C")
_SIZES = ("M", "N", "K")
_SCALES = re.compile(r"(?i).*(?:alpha|beta).*")
_LEAST_SURE_OF_MATRIX = 0.6


def is_known(made: Guess) -> bool:
    """Return whether the file has the whole launch, and no argument of it is only guessed.

    The grid has to cover C at any size: the blocks of a constant grid compute a C of one size, which nobody knows.

    Parameters
    ----------
    made
        The launch.
    """
    sized = {name for side in made.grid for name in re.findall(r"\b[MNK]\b", side)}
    arguments = zip((name for name, _ in made.parameters), made.roles, strict=True)
    return is_launched_so(made) and {"M", "N"} <= sized and all(_is_known(made, *one) for one in arguments)


def is_whole(made: Guess) -> bool:
    """Return whether the file itself gives every part of a launch, its values and its shared memory, too."""
    parts = ("params",) * bool(made.params) + ("shared",) * (made.shared != "0")
    return is_known(made) and all(is_said(made, part) for part in parts)


def _is_known(made: Guess, name: str, role: str) -> bool:
    confidence = made.why.get(name, GuessReason(0, "")).confidence
    if role in _MATRICES:
        return confidence >= _LEAST_SURE_OF_MATRIX
    if role in ("alpha", "beta"):
        return _SCALES.fullmatch(name) is not None
    # A number, or no role: with another value C may be right.
    return (role in _SIZES or role.startswith("ld") or not role.isdecimal()) and bool(role) and confidence >= SURE
