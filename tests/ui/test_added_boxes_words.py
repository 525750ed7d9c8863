"""A box that the copy engine adds to C: the texts of the caption and the lens."""

from pathlib import Path

import numpy as np
import pytest

from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.trace.cost.traffic import measure
from gemmviz.trace.hopper.tma_activity import tma_activity
from gemmviz.trace.order.timeline import build
from gemmviz.trace.playable import Playable
from gemmviz.trace.recording.record import record
from gemmviz.trace.recording.tma_boxes import ADDED
from gemmviz.ui.inspect.box_text import box_head, box_when
from gemmviz.ui.stage.caption import caption

PARTS = Path(__file__).parents[1] / "unit/hopper/two_parts.cu"


@pytest.fixture(scope="module")
def playable() -> Playable:
    recording = record(launch(parse(PARTS.read_text(), PARTS), Problem(16, 16, 8)))
    timeline = build(recording)
    return Playable(recording, timeline, measure(recording, timeline))


def test_the_caption_says_that_a_box_is_added(playable):
    boxes, step = playable.recording.boxes, playable.timeline.step_of_row
    (added,) = np.flatnonzero(boxes.store == ADDED)
    texts = [caption(playable, int(step[rows[added]])) for rows in (boxes.read, boxes.old, boxes.write)]
    assert "the copy engine reads 1 box from c" in texts[0]
    assert "the copy engine reads C where it adds 1 box" in texts[1]
    assert "the copy engine adds 1 box to C" in texts[2]


def test_the_lens_shows_one_box_while_it_is_added(playable):
    boxes, step = playable.recording.boxes, playable.timeline.step_of_row
    (added,) = np.flatnonzero(boxes.store == ADDED)
    for at in (int(step[boxes.old[added]]), int(step[boxes.write[added]])):
        (box,) = tma_activity(playable, at, int(boxes.block[added]))
        assert box_head(playable, box).startswith("The copy engine adds a box to C: line")
        assert box_when(box, at) == []
