"""Questions about the next event of a recording, with four answers, which are guessed before the answer is shown.

A pure function of recording, step and seed. The right answer and its reason come from the recording; wrong answers are
usual mistakes: rows instead of columns, a neighbour, a separate transfer for every lane.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from random import Random

import numpy as np

from gemmviz.trace.playable import Playable
from gemmviz.trace.quiz import question_kinds
from gemmviz.trace.quiz.question_kinds import Cell, Event, QuestionText
from gemmviz.trace.recording.recording import WARP

KINDS: dict[str, Callable[[Event, Random, Cell | None], QuestionText | None]] = {
    "owner": question_kinds.owner,
    "bank": question_kinds.bank,
    "cost": question_kinds.cost,
    "element": question_kinds.element,
    "barrier": question_kinds.barrier,
    "loop": question_kinds.loop,
}
"""The kinds of questions, by name."""


@dataclass(frozen=True)
class Question:
    """One question.

    Attributes
    ----------
    kind
        One of `KINDS`.
    step
        The step that shows the answer: later than the step of the question.
    block, warp
        The block and warp of that step, if the question names them.
    line
        The source line that executes at that step, from 1; 0 if unknown.
    lead, text
        The next event (may be empty), and the question about it.
    answers, right
        Four different answers, and the index of the right one.
    why
        The reason.
    """

    kind: str
    step: int
    block: int
    warp: int
    line: int
    lead: str
    text: str
    answers: tuple[str, str, str, str]
    right: int
    why: str


def question(
    playable: Playable,
    step: int,
    block: int,
    warp: int,
    seed: int,
    cell: Cell | None = None,
    rather: Collection[str] = (),
) -> Question | None:
    """Return a question about the event after a step; None if no event makes a question.

    Parameters
    ----------
    playable
        The recording.
    step
        The step that is shown.
    block, warp
        The block and the warp of the next event; if they have no more events, those of others.
    seed
        Chooses among the suitable questions: the same seed gives the same question.
    cell
        The chosen cell (array, element in memory order): there is no question about it, as the stage shows its owner.
    rather
        The kinds of `KINDS` that are asked if they suit the event; others only if none of these does.
    """
    event = next_event(playable, step, block, warp)
    if event is None:
        return None
    rng = Random(f"{seed} {event.step}")
    names = list(KINDS)
    rng.shuffle(names)
    for name in sorted(names, key=lambda name: name not in rather):
        guess = KINDS[name](event, rng, cell)
        if guess is not None:
            line = playable.line(event.step)
            return Question(name, event.step, event.block, event.warp, line, *guess)
    return None


def next_event(playable: Playable, step: int, block: int, warp: int) -> Event | None:
    """Return the next event of a warp of a block after a step; if it has none, that of other warps."""
    recording, timeline = playable.recording, playable.timeline
    log = recording.accesses
    if step + 1 >= timeline.steps:
        return None
    if recording.backend == "cuda":
        # Rows are sorted by block.
        begin, end = np.searchsorted(log.block, np.array([block, block + 1], log.block.dtype))
        later = timeline.step_of_row[begin:end][log.thread[begin:end] // WARP == warp]
        later = later[later > step]
        if len(later):
            at = int(later.min())
            return Event(playable, at, block, warp, playable.warp_rows(at, block, warp))
    first = timeline.rows(step + 1)[0]
    block, warp = int(log.block[first]), int(log.thread[first]) // WARP
    return Event(playable, step + 1, block, warp, playable.warp_rows(step + 1, block, warp))
