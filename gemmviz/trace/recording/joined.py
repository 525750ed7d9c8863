"""Joins the recordings of the launches of several GPUs to the recording of their whole product."""

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import TypeVar

import numpy as np

from gemmviz.catalogue.division import Panel
from gemmviz.catalogue.errors import ConstraintError
from gemmviz.catalogue.launch import Launch
from gemmviz.catalogue.matrices import MATRICES, A, B, C
from gemmviz.catalogue.problem import Problem
from gemmviz.language import tr
from gemmviz.trace.recording.accesses import Accesses, Array, Column, Site
from gemmviz.trace.recording.recording import Recording
from gemmviz.trace.recording.sharing import Sharing
from gemmviz.trace.recording.tma_boxes import (
    CLUSTER_ARRIVED,
    CLUSTER_MET,
    FLAG_SEEN,
    FLAG_SET,
    REMOTE,
    Boxes,
    Events,
)

_BOX = {field.name: number for number, field in enumerate(fields(Boxes))}
_EVENT = {field.name: number for number, field in enumerate(fields(Events))}
_Thing = TypeVar("_Thing")


def places(part: Problem, panel: Panel, in_panels: bool) -> tuple[slice, slice]:
    """Return the rows of A and C, and the columns of B and C, of a launch with the problem `part`."""
    top, left = panel.owner * part.m if in_panels else 0, panel.device * part.n
    return slice(top, top + part.m), slice(left, left + part.n)


def join(launch: Launch, recordings: Sequence[Recording], a: Column, b: Column) -> Recording:
    """Return the recording of a whole product.

    Parameters
    ----------
    launch
        The launch, for several GPUs.
    recordings
        The recording of each of its launches (`Launch.panels`), with their own matrices.
    a, b
        A (M x K) and B (K x N), float64.

    Raises
    ------
    ConstraintError
        When the launches of a GPU have too many phases together.
    """
    part, division, first = launch.part, launch.kernel.division, recordings[0]
    assert part is not None and division is not None
    problem = launch.problem
    whole = _Whole([replace(array, shape=problem.shape(array.name)) for array in first.arrays[: len(MATRICES)]])
    c = np.zeros((problem.m, problem.n))
    # The launches of a GPU come one after the other, beside those of the others.
    length = 1 + max(int(one.accesses.phase.max(initial=0)) for one in recordings)
    if length * len(recordings) // launch.devices > np.iinfo(first.accesses.phase.dtype).max:
        reason = tr("its launches have more barriers one after the other than can be recorded")
        raise ConstraintError(f"{launch.kernel.name}: {reason}")
    ends = dict.fromkeys(range(launch.devices), 0)
    for one, panel in zip(recordings, launch.panels, strict=True):
        rows, columns = places(part.problem, panel, division.in_panels)
        c[rows, columns] = one.c
        whole.add(one, rows.start, columns.start, ends[panel.device])
        ends[panel.device] += length
    columns_of = {f.name: np.concatenate([getattr(one, f.name) for one in whole.parts]) for f in fields(Accesses)}
    x, y, z = first.grid  # blocks keep their order where the last side but 1 is longer
    many = len(recordings)
    return replace(
        first,
        kernel=launch.kernel.name,
        text=launch.kernel.text,
        sha256=launch.kernel.sha256,
        m=problem.m,
        n=problem.n,
        k=problem.k,
        params=dict(launch.params),
        grid=(x, y * many, 1) if z == 1 else (x, y, z * many),
        arrays=tuple(whole.arrays),
        sites=tuple(whole.sites),
        accesses=Accesses(**columns_of),
        a=a,
        b=b,
        c=c,
        diagnostics=tuple(found for one in recordings for found in one.diagnostics),
        barriers=tuple(whole.barriers),
        together=max(one.together for one in recordings),
        sharing=Sharing(launch.devices, division.crossing, tuple((p.device, p.owner) for p in launch.panels)),
    )


class _Whole:
    """Collects the accesses of launches, with the numbers that they have in the whole product.

    Attributes
    ----------
    arrays, sites, barriers
        As those of a recording.
    parts
        The accesses of each launch.
    """

    def __init__(self, matrices: list[Array]) -> None:
        self.arrays = matrices
        self.sites: list[Site] = []
        self.barriers: list[tuple[str, int]] = []
        self.parts: list[Accesses] = []
        self._blocks = self._rows = self._settings = 0

    def add(self, one: Recording, top: int, left: int, after: int) -> None:
        """Add a launch, whose part of C begins at row `top` and column `left`; its phases come `after` earlier ones."""
        which = np.array([A, B, C, *(_index(self.arrays, shared) for shared in one.arrays[len(MATRICES) :])])
        at_site = np.array([_index(self.sites, site) for site in one.sites] or [0])
        log, element = one.accesses, np.array(one.accesses.element, np.int64)
        for matrix in (A, B, C):
            mine = log.array == matrix
            row, column = one.arrays[matrix].cells(element[mine])
            row, column = row + (top if matrix != B else 0), column + (left if matrix != A else 0)
            rows, columns = self.arrays[matrix].shape
            element[mine] = row + column * rows if self.arrays[matrix].column_major else row * columns + column
        copies = np.array(log.copies, np.int64)
        copies[:, 2] += after
        for row_of in copies[:, 0], copies[:, 1]:
            _shift(row_of, self._rows)
        self.parts.append(
            replace(
                log,
                site=at_site[log.site].astype(log.site.dtype),
                array=which[log.array].astype(log.array.dtype),
                element=element.astype(log.element.dtype),
                block=(log.block.astype(np.int64) + self._blocks).astype(log.block.dtype),
                phase=(log.phase + after).astype(log.phase.dtype),
                copies=copies,
                boxes=self._boxes(one, which, top, left, after),
                events=self._events(one, after),
            )
        )
        self._rows += len(log)
        self._blocks += one.blocks

    def _boxes(self, one: Recording, which: Column, top: int, left: int, after: int) -> Column:
        boxes = np.array(one.accesses.boxes, np.int64)
        for name, by in (("read", self._rows), ("write", self._rows), ("block", self._blocks), ("to", self._blocks)):
            _shift(boxes[:, _BOX[name]], by)
        for name in ("issued", "arrived"):
            _shift(boxes[:, _BOX[name]], after)
        for matrix, (down, right) in enumerate(((top, 0), (0, left), (top, left))):
            by_row, by_column = (right, down) if self.arrays[matrix].column_major else (down, right)
            mine = boxes[:, _BOX["matrix"]] == matrix
            boxes[mine, _BOX["row"]] += by_row
            boxes[mine, _BOX["column"]] += by_column
        array = boxes[:, _BOX["array"]]
        boxes[:, _BOX["array"]] = np.where(array < 0, -1, which[array])
        boxes[:, _BOX["barrier"]] = self._barriers(one)[boxes[:, _BOX["barrier"]]]
        return boxes

    def _events(self, one: Recording, after: int) -> Column:
        events = np.array(one.accesses.events, np.int32)
        events[:, _EVENT["barrier"]] = self._barriers(one)[events[:, _EVENT["barrier"]]]
        _shift(events[:, _EVENT["block"]], self._blocks)
        _shift(events[:, _EVENT["row"]], self._rows)
        events[:, _EVENT["phase"]] += after
        # Each launch has flags of its own, whose settings are numbered.
        flags = np.isin(events[:, _EVENT["kind"]], (FLAG_SET, FLAG_SEEN))
        events[flags, _EVENT["number"]] += self._settings
        of_phases = np.isin(events[:, _EVENT["kind"]], (CLUSTER_ARRIVED, CLUSTER_MET))
        events[of_phases, _EVENT["number"]] += after
        events[events[:, _EVENT["kind"]] == REMOTE, _EVENT["number"]] += self._blocks
        self._settings = max(self._settings, int(events[flags, _EVENT["number"]].max(initial=-1)) + 1)
        return events

    def _barriers(self, one: Recording) -> Column:
        """Return the numbers of a launch's mbarriers; its number -1, which is none, is the last one."""
        return np.array([*(_index(self.barriers, barrier) for barrier in one.barriers), -1])


def _index(known: list[_Thing], one: _Thing) -> int:
    """Return the position of a thing in a list, to which it is added if it is new."""
    if one not in known:
        known.append(one)
    return known.index(one)


def _shift(column: Column, by: int) -> None:
    """Add to the numbers of a column that are not -1, in place."""
    column[column >= 0] += by
