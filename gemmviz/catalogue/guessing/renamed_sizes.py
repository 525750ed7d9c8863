"""Variants of a guess with other names for its sizes: people give the letters M, N and K to other sizes, too."""

import re
from collections.abc import Iterator
from dataclasses import replace

from gemmviz.catalogue.guessing.guessed_matter import Guess, is_stated
from gemmviz.catalogue.guessing.roles import LEFT_OVER, GuessReason

# With less confidence only its name says which size a parameter is.
_BY_USE = 0.9


def named_by_grid(guess: Guess) -> Guess:
    """Return a guess whose sizes have the roles that the host's grid shows: blocks divide rows and columns, not K.

    People also call the rows of B ``N`` or ``M``, and its columns ``K``.

    Parameters
    ----------
    guess
        A launch.
    """
    names = {name for text in guess.grid for name in re.findall(r"\b[MNK]\b", text)}
    if not is_stated(guess, "grid") or "K" not in names or len(names) != 2 or not {"M", "N", "K"} <= {*guess.roles}:
        return guess
    (other,) = {"M", "N"} - names
    # Blocks along N and K: N are the rows then, M is the depth of the sum, and K are the columns.
    named = {"K": "N", "N": "K"} if other == "N" else {"K": "N", "N": "M", "M": "K"}
    depth = guess.parameters[guess.roles.index("K")][0]
    if guess.why.get(depth, GuessReason(1, "")).confidence <= LEFT_OVER:  # the other two have their roles by their uses
        named = {"K": other, other: "K"}
    return _with_names(guess, named)


def named_by_parameters(guess: Guess) -> Iterator[Guess]:
    """Yield a guess that takes M, N and K from the parameters' names, where their uses say something else.

    Parameters
    ----------
    guess
        A launch.
    """
    meant = {role: name.upper() for (name, _), role in zip(guess.parameters, guess.roles, strict=True)}
    names = {role: meant[role] for role in "MNK" if role in meant}
    if sorted(names) == sorted(names.values()) == ["K", "M", "N"] and any(role != name for role, name in names.items()):
        yield _with_names(guess, names)


def exchanged(guess: Guess) -> Iterator[Guess]:
    """Yield a guess with M and N exchanged everywhere, where only the names of the parameters say which is which.

    People also call the rows of C ``N`` and its columns ``M``.

    Parameters
    ----------
    guess
        A launch.
    """
    given = [name for (name, _), role in zip(guess.parameters, guess.roles, strict=True) if role in ("M", "N")]
    if len(given) == 2 and all(guess.why.get(name, GuessReason(1, "")).confidence < _BY_USE for name in given):
        yield _with_names(guess, {"M": "N", "N": "M"})


def _with_names(made: Guess, names: dict[str, str]) -> Guess:
    """Return a guess with other names for its sizes, in its roles and in its launch."""

    def named(text: str) -> str:
        return re.sub(r"\b[MNK]\b", lambda word: names.get(word[0], word[0]), text)

    return replace(
        made,
        roles=tuple(named(role) for role in made.roles),
        block=tuple(map(named, made.block)),
        grid=tuple(map(named, made.grid)),
        requires=tuple(map(named, made.requires)),
        tiles={names.get(size, size): tile for size, tile in made.tiles.items()},
        others=(),
    )
