"""A recording from a process in which a stranger's kernel ran: right ones pass, damaged ones are refused."""

from copy import deepcopy
from dataclasses import asdict
from typing import Any

import numpy as np
import pytest
from recordings import rung

from gemmviz.catalogue.problem import Problem
from gemmviz.trace import untrusted
from gemmviz.trace.cost.traffic import measure
from gemmviz.trace.order.timeline import build
from gemmviz.trace.untrusted import Damaged, recording_of, timeline_of, traffic_of


@pytest.mark.parametrize("name", ["hostmult0", "packed", "gputiled", "matmul_tc", "async_pipeline", "persistent"])
def test_a_right_recording_passes(name: str) -> None:
    recording = rung(name, Problem.cube(16))
    timeline = build(recording)
    found = recording_of(recording.to_plain())
    assert found.label == recording.label and (found.accesses.element == recording.accesses.element).all()
    order = timeline_of(timeline.to_plain(), found)
    assert order.steps == timeline.steps
    traffic = measure(recording, timeline)
    assert traffic_of(traffic.to_plain(), found, order).accesses == traffic.accesses


@pytest.fixture(scope="module")
def tiled() -> Any:
    return rung("gputiled", Problem.cube(16))


@pytest.mark.parametrize("name", ["site", "array", "element", "block", "thread"])
def test_a_number_that_points_to_nothing_is_refused(tiled: Any, name: str) -> None:
    plain = deepcopy(tiled.to_plain())
    column = plain["accesses"][name]
    column[len(column) // 2] = np.iinfo(column.dtype).max
    with pytest.raises(Damaged):
        recording_of(plain)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("m", -1),
        ("m", 1 << 62),
        ("n", "eight"),
        ("block", [0, 1, 1]),
        ("block", [1024, 1024, 64]),
        ("grid", [1]),
        ("text", 7),
        ("a", np.zeros((2, 2))),
        ("c", None),
        ("arrays", []),
        ("sites", []),
        ("scope", [5, 2]),
        ("accesses", {}),
        ("unknown", 1),
    ],
)
def test_a_field_of_another_form_is_refused(tiled: Any, name: str, value: Any) -> None:
    with pytest.raises(Damaged, match="contradicts itself"):
        recording_of(tiled.to_plain() | {name: value})


@pytest.mark.parametrize("name", ["site", "write", "value", "turn"])
def test_columns_of_different_lengths_are_refused(tiled: Any, name: str) -> None:
    plain = tiled.to_plain()
    log = dict(plain["accesses"])
    log[name] = log[name][:-1]
    with pytest.raises(Damaged):
        recording_of(plain | {"accesses": log})


def test_an_order_of_other_rows_is_refused(tiled: Any) -> None:
    plain = build(tiled).to_plain()
    twice = plain["order"].copy()
    twice[0] = twice[1]
    far = plain["order"].copy()
    far[0] = len(far)
    for wrong in (
        {"order": twice},
        {"order": far},
        {"order": plain["order"][:-1]},
        {"start": plain["start"][:-1]},
        {"site": plain["site"] + len(tiled.sites)},
        {"order_by": "time"},
    ):
        with pytest.raises(Damaged):
            timeline_of(plain | wrong, tiled)


def test_sums_of_another_recording_are_refused(tiled: Any) -> None:
    timeline = build(tiled)
    plain = asdict(measure(tiled, timeline))
    with pytest.raises(Damaged):
        traffic_of(plain, tiled, None)
    with pytest.raises(Damaged):
        traffic_of(plain | {"running": plain["running"][:-1]}, tiled, timeline)
    with pytest.raises(Damaged):
        traffic_of(plain | {"arrays": plain["arrays"][:1]}, tiled, timeline)


def test_an_order_is_checked_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(untrusted, "_PART", 3)
    order = np.array([4, 0, 6, 2, 1, 3, 5])
    assert untrusted._has_each_once(order) and untrusted._has_each_once(order[:0])
    for place in range(len(order) - 1):
        twice = order.copy()
        twice[place] = order[-1]
        assert not untrusted._has_each_once(twice)
