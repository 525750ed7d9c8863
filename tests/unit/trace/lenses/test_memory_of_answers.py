"""Results about a recording are computed once, and dropped with the recording."""

import gc
import weakref

from demo_recordings import at_demo

from gemmviz.trace.lenses.per_recording import latest, per_recording
from gemmviz.trace.playable import Playable


def copy_of(playable: Playable) -> Playable:
    return Playable(playable.recording, playable.timeline, playable.traffic)


def test_the_same_question_is_answered_from_memory_and_another_recording_is_another_question() -> None:
    asked = []

    @per_recording
    def find(playable: Playable, block: int, step: int = 0) -> int:
        asked.append((playable, block, step))
        return 10 * block + step

    one = at_demo("gputiled")
    other = copy_of(one)
    assert [find(one, 1), find(one, 1), find(one, 1, step=3), find(one, 1, step=3), find(other, 1)] == [
        10,
        10,
        13,
        13,
        10,
    ]
    assert [(of is one, block, step) for of, block, step in asked] == [(True, 1, 0), (True, 1, 3), (False, 1, 0)]


def test_only_the_latest_answers_are_kept() -> None:
    asked = []

    @latest(2)
    def find(playable: Playable, block: int) -> int:
        asked.append(block)
        return block

    of = at_demo("gputiled")
    assert [find(of, block) for block in (0, 1, 1, 2, 1, 0)] == [0, 1, 1, 2, 1, 0]
    assert asked == [0, 1, 2, 0]


def test_answers_go_with_their_recording() -> None:
    class Answer:
        pass

    @per_recording
    def find(playable: Playable) -> Answer:
        return Answer()

    playable = copy_of(at_demo("gputiled"))
    gone = weakref.ref(find(playable))
    assert gone() is not None
    del playable
    gc.collect()
    assert gone() is None
