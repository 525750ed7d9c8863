"""A recording from a process in which a stranger's kernel ran: right ones pass, damaged ones are refused."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from arriving import arrived
from recordings import rung

from gemmviz.catalogue.problem import Problem
from gemmviz.engine.framing import NotAMessage
from gemmviz.trace import untrusted
from gemmviz.trace.cost.traffic import measure
from gemmviz.trace.order.timeline import build
from gemmviz.trace.untrusted import Damaged, checked_recording, checked_timeline, checked_traffic


@pytest.mark.parametrize("name", ["hostmult0", "packed", "gputiled", "matmul_tc", "async_pipeline", "persistent"])
def test_a_right_recording_passes(name: str) -> None:
    recording = rung(name, Problem.cube(16))
    timeline = build(recording)
    traffic = measure(recording, timeline)
    _ = recording.owners, timeline.step_of_row  # what is computed later does not travel
    reply = arrived(recording, timeline, traffic)
    found = checked_recording(reply.recording)
    assert found.label == recording.label and (found.accesses.element == recording.accesses.element).all()
    assert (found.arrays, found.sites, found.block) == (recording.arrays, recording.sites, recording.block)
    order = checked_timeline(reply.timeline, found)
    assert order.steps == timeline.steps and "step_of_row" not in vars(order)
    assert checked_traffic(reply.traffic, found, order).accesses == traffic.accesses


@pytest.fixture(scope="module")
def tiled() -> Any:
    return rung("gputiled", Problem.cube(16))


@pytest.mark.parametrize("name", ["site", "array", "element", "block", "thread"])
def test_a_number_that_points_to_nothing_is_refused(tiled: Any, name: str) -> None:
    column = getattr(tiled.accesses, name).copy()
    column[len(column) // 2] = np.iinfo(column.dtype).max
    with pytest.raises(Damaged):
        checked_recording(replace(tiled, accesses=replace(tiled.accesses, **{name: column})))


def test_panels_without_three_sides_are_refused(tiled: Any) -> None:
    *others, tile = tiled.arrays
    assert len(tile.shape) == 2
    with pytest.raises(Damaged):
        checked_recording(replace(tiled, arrays=(*others, replace(tile, panels=True))))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("m", -1),
        ("m", 1 << 62),
        ("block", (0, 1, 1)),
        ("block", (1024, 1024, 64)),
        ("a", np.zeros((2, 2))),
        ("arrays", ()),
        ("sites", ()),
        ("scope", (5, 2)),
    ],
)
def test_a_field_that_contradicts_the_others_is_refused(tiled: Any, name: str, value: Any) -> None:
    reply = arrived(replace(tiled, **{name: value}))
    with pytest.raises(Damaged, match="contradicts itself"):
        checked_recording(reply.recording)


@pytest.mark.parametrize(
    ("name", "value"), [("n", "eight"), ("grid", (1,)), ("text", 7), ("c", None), ("accesses", {}), ("arrays", [1])]
)
def test_a_field_of_another_type_is_no_message(tiled: Any, name: str, value: Any) -> None:
    with pytest.raises(NotAMessage):
        arrived(replace(tiled, **{name: value}))


@pytest.mark.parametrize("name", ["site", "write", "value", "turn"])
def test_columns_of_different_lengths_are_refused(tiled: Any, name: str) -> None:
    shorter = replace(tiled.accesses, **{name: getattr(tiled.accesses, name)[:-1]})
    with pytest.raises(Damaged):
        checked_recording(replace(tiled, accesses=shorter))


def test_an_order_of_other_rows_is_refused(tiled: Any) -> None:
    right = build(tiled)
    twice = right.order.copy()
    twice[0] = twice[1]
    far = right.order.copy()
    far[0] = len(far)
    wrong: tuple[dict[str, Any], ...] = (
        {"order": twice},
        {"order": far},
        {"order": right.order[:-1]},
        {"start": right.start[:-1]},
        {"site": right.site + len(tiled.sites)},
        {"order_by": "time"},
    )
    for fields in wrong:
        with pytest.raises(Damaged):
            checked_timeline(replace(right, **fields), tiled)
    with pytest.raises(Damaged):
        checked_timeline(None, tiled)


def test_sums_of_another_recording_are_refused(tiled: Any) -> None:
    timeline = build(tiled)
    right = measure(tiled, timeline)
    for wrong, order in (
        (right, None),
        (replace(right, running=right.running[:-1]), timeline),
        (replace(right, arrays=right.arrays[:1]), timeline),
        (None, timeline),
    ):
        with pytest.raises(Damaged):
            checked_traffic(wrong, tiled, order)


def test_an_order_is_checked_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(untrusted, "ROWS_AT_ONCE", 3)
    order = np.array([4, 0, 6, 2, 1, 3, 5])
    assert untrusted._has_each_once(order) and untrusted._has_each_once(order[:0])
    for place in range(len(order) - 1):
        twice = order.copy()
        twice[place] = order[-1]
        assert not untrusted._has_each_once(twice)
