"""What the form for a kernel without front matter says about its guess: whether it was tried, and how that ended."""

from gemmviz.catalogue.guessing.candidates import is_flag
from gemmviz.catalogue.guessing.guessed_matter import Guess
from gemmviz.language import tr
from gemmviz.ui.look.theme import Theme


def outcome(guess: Guess, trying: bool, may_run: bool, theme: Theme) -> tuple[str, str]:
    """Return a sentence about a guess, and its colour.

    Parameters
    ----------
    guess
        The guess with the present values of the form.
    trying
        Whether small problems are being recorded.
    may_run
        Whether the file may run.
    theme
        The colours of the window.
    """
    if not may_run:
        return (
            tr(
                "This file has not run: it does not come with gemmviz. “Run it” compiles it and runs small "
                "problems on this machine. Read it first."
            ),
            theme.warn,
        )
    if trying:
        return tr("Recording small problems …"), theme.muted
    if guess.settled:
        flaws = (str(one) for one in guess.flaws if one.text not in guess.settled)
        said = "; ".join([*flaws, guess.settled])  # the reason first: the rest is about the launch
        return ("✓ " if guess.right else "✗ ") + said, theme.good if guess.right else theme.bad
    return tr("Not tried yet with these values."), theme.muted


def has_open_flags(guess: Guess) -> bool:
    """Return whether a trial may show what all open arguments of a guess are: it tries values of flags."""
    kinds = [kind for (_, kind), role in zip(guess.parameters, guess.roles, strict=True) if not role]
    return bool(kinds) and all(is_flag(kind, "") for kind in kinds) and not guess.settled


def asked(name: str, untried: bool) -> str:
    """Return the request to choose what an argument is; a trial that has not been made may find it out."""
    if untried:
        return tr("{name} is not known yet. F5 tries values for it; or choose one on the left.", name=name)
    return tr("Choose what {name} is, on the left, in place of “?”.", name=name)
