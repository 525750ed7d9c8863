"""Parameters that say how often a kernel computes the same product: ``for (int l = 0; l < nIter; l++) { ... }``."""

import re

from gemmviz.catalogue.guessing.functions import Function
from gemmviz.catalogue.guessing.roles import WHOLE
from gemmviz.catalogue.guessing.tokens import closing

_CALLED = re.compile(
    r"(?i)(?:n|num|number_?of|no_?of)?_?(?:iter(?:ation)?s?|reps?|repeats?|repetitions?|runs?|loops?|times|trials?)_?(?:num|count)?"
)


def repeats(function: Function) -> list[str]:
    """Return the parameters that are called so and bound a loop whose own variable nothing in the loop uses.

    Parameters
    ----------
    function
        The kernel.
    """
    body = function.body
    return [
        p.name
        for p in function.parameters
        if not p.pointer
        and p.type in WHOLE
        and _CALLED.fullmatch(p.name)
        and body.count(p.name) == 1
        and _only_counts(body, body.index(p.name))
    ]


def _only_counts(body: tuple[str, ...], place: int) -> bool:
    """Return whether a name at a place bounds a loop that only counts: ``l < nIter``."""
    start = max((at for at in range(place) if body[at] == "for"), default=-1)
    if start < 0 or body[place - 1] not in ("<", "<=") or body[place + 1 : place + 2] != (";",):
        return False
    end = closing(body, start + 1)
    opens = body[end + 1 : end + 2] == ("{",)
    behind = closing(body, end + 1) if opens else next((at for at in range(end, len(body)) if body[at] == ";"), end)
    return place < end and body[place - 2] not in body[end:behind]
