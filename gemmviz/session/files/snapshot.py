"""The state of the screen as plain data: `take` makes it, `apply` restores it.

Steps are counted from 1, as on the screen; blocks are blockIdx, cells are (array, row, column). A missing part does not
change the session, so that the command line can give only some parts.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from psygnal import Signal

from gemmviz.catalogue import kernel as kernels
from gemmviz.catalogue.breaks import broken
from gemmviz.catalogue.errors import ConstraintError, FrontMatterError, GemmvizError, UnknownKernel
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.ladder import find
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.catalogue.user_file import real
from gemmviz.language import tr
from gemmviz.session.files.snapshot_form import KernelFields, Snapshot, ViewFields
from gemmviz.session.files.stops_data import from_plain, to_plain
from gemmviz.session.models.choice import Choice
from gemmviz.session.models.comparison import Comparison
from gemmviz.session.models.cursor import Cursor
from gemmviz.session.models.frozen_warp import FrozenWarp
from gemmviz.session.models.inspection import Inspection
from gemmviz.session.models.messages import Messages
from gemmviz.session.models.own_stops import OwnStops
from gemmviz.session.models.playback import Playback
from gemmviz.session.models.preferences import Preferences
from gemmviz.session.rules.side_by_side import SideBySide
from gemmviz.session.rules.staged import Staged
from gemmviz.session.rules.warp_steps import WarpSteps
from gemmviz.session.values.message import Message
from gemmviz.session.values.picture_size import picture_params, picture_problem
from gemmviz.trace.origin.value_path import Cell
from gemmviz.trace.recording.names import block_number, cell_name, cell_number, owner_block, warp_number
from gemmviz.trace.recording.recording import Recording


class OnScreen(Protocol):
    """The models whose state a snapshot contains: a `gemmviz.session.session.Session` has them."""

    choice: Choice
    cursor: Cursor
    playback: Playback
    staged: Staged
    messages: Messages
    preferences: Preferences
    own_stops: OwnStops
    comparison: Comparison
    side_by_side: SideBySide
    inspection: Inspection
    frozen_warp: FrozenWarp
    warp_steps: WarpSteps
    reopening: "Reopening"


def take(session: OnScreen, view: ViewFields | None = None) -> Snapshot:
    """Return the state of the screen as plain data.

    Parameters
    ----------
    session
        The session to describe.
    view
        The window's part: its page, zoom and so on; kept unchanged.
    """
    problem, playable, comparison = session.choice.problem, session.cursor.playable, session.comparison
    plain: Snapshot = {
        "kernel": _kernel_of(session),
        "breaks": list(session.choice.breaks),
        "size": [problem.m, problem.n, problem.k],
        "params": dict(session.choice.params),
        "order": session.choice.order,
        "as_written": session.choice.as_written,
        "speed": session.playback.speed,
        "unit": session.cursor.wanted_unit,
        "loop": session.playback.loop,
        "theme": session.preferences.theme,
        "language": session.preferences.language,
        "type_scale": session.preferences.type_scale,
        "calm": session.preferences.calm,
        "beside": {"kernel": comparison.kernel.name, "pace": comparison.pace}
        if comparison.on and comparison.kernel is not None
        else None,
        "stops": [to_plain(stop) for stop in session.own_stops.here],
        "view": view.copy() if view else {},
    }
    if playable is not None:
        recording, inside = playable.recording, session.playback.loop_range
        plain |= {
            "step": session.cursor.step + 1,
            "loop_range": None if inside is None else [step + 1 for step in inside],
            "block": list(recording.block_index(session.cursor.block)),
            "warp": session.cursor.warp,
            "lane": session.inspection.lane,
            "frozen": session.frozen_warp.on,
            "cell": None if session.cursor.cell is None else cell_name(recording, session.cursor.cell),
        }
    return plain


def apply(session: OnScreen, plain: Snapshot) -> None:
    """Restore a session from a snapshot; step, block and cell are restored when the recording is complete.

    Parameters
    ----------
    session
        The session to change.
    plain
        The result of `take`, or a part of it.

    Raises
    ------
    GemmvizError
        When there is no such kernel, or it does not take the size or the parameters; the session is then unchanged.
    """
    session.reopening.begin(plain)


class Reopening:
    """Restores a snapshot: the choice at once, the rest when its recording is on the stage.

    Parameters
    ----------
    session
        The models to change. This is the only model that keeps the session, as it restores most other models.
    """

    placed = Signal(object)
    """Everything except the view is restored; the signal passes the view, which the window restores."""

    recording_wanted = Signal()
    """The chosen kernel should be recorded at once."""

    def __init__(self, session: OnScreen) -> None:
        self._session = session
        self._waiting: Snapshot | None = None
        self._choosing = False
        session.choice.chosen.connect(self._on_chosen)

    @property
    def waiting(self) -> bool:
        """Whether a step has to be restored when the recording arrives."""
        return self._waiting is not None and "step" in self._waiting

    def begin(self, plain: Snapshot) -> None:
        """See `apply`."""
        session = self._session
        kernel, base = _resolved(session, plain)
        known = "kernel" not in plain
        problem = session.choice.problem if known else picture_problem(kernel, session.choice.wanted)
        problem = Problem(*plain["size"]) if "size" in plain else problem
        if beside := plain.get("beside"):
            find(beside["kernel"], session.choice.kernels)
        params = {name: value for name, value in plain.get("params", {}).items() if name in kernel.params}
        if kernel.recordable and ("size" in plain or "params" in plain):
            shown = session.choice.params if known else picture_params(kernel, problem)
            launch(kernel, problem, kernel.defaults | shown | params)
        if "step" in plain:
            session.playback.pause()
        self._choosing = True
        try:
            _choose(session, plain, base, problem, params)
            _put_beside(session, plain)
        finally:
            self._choosing = False
        _look(session, plain)
        self._waiting = plain
        self.recording_wanted.emit()

    def arrive(self) -> None:
        """Restore step, block and cell, if the awaited recording is now on the stage."""
        session, plain = self._session, self._waiting
        if plain is None or session.staged.current is None:
            return
        self._waiting = None
        _place(session, plain)
        self.placed.emit(plain.get("view", {}))

    def _on_chosen(self) -> None:
        if not self._choosing:
            self._waiting = None  # the user has chosen something else


def _kernel_of(session: OnScreen) -> KernelFields:
    base, text = session.choice.base, session.choice.text_of(session.choice.base)
    if not session.choice.is_shipped_file(base):
        return {"path": str(base.path), "text": text}
    edited = text != base.text and not session.choice.breaks
    return {"name": base.name, "text": text} if edited else {"name": base.name}


def _resolved(session: OnScreen, plain: Snapshot) -> tuple[Kernel, Kernel]:
    """Return the kernel of a snapshot with its changes and edits, and the file's kernel from which it is made.

    Raises
    ------
    GemmvizError
        When there is no such kernel.
    """
    if "kernel" not in plain:
        return session.choice.kernel, session.choice.base
    fields, breaks = plain["kernel"], plain.get("breaks", [])
    base = _on_file(session, fields)
    if breaks:
        return broken(base, breaks), base
    if "text" in fields and fields["text"] != base.text:
        # A text that was saved during editing need not be a kernel: it is restored unchanged.
        with suppress(FrontMatterError):
            return kernels.parse(fields["text"], base.path, base.folders), base
    return base, base


def _on_file(session: OnScreen, fields: KernelFields) -> Kernel:
    if "name" in fields:
        return find(fields["name"], session.choice.kernels)
    path = real(Path(fields["path"]))
    known = next((kernel for kernel in session.choice.kernels if kernel.path == path), None)
    if known is not None:
        return known
    try:
        return kernels.load(path)
    except (OSError, GemmvizError) as error:
        # The file does not exist, or is no longer a kernel, but the snapshot has its text.
        if "text" not in fields:
            reason = error.strerror if isinstance(error, OSError) else error
            raise UnknownKernel(tr("cannot open {path}: {reason}", path=path, reason=reason)) from None
        return kernels.parse(fields["text"], path)


def _text_on_disk(path: Path) -> str:
    """Return the text of a kernel's file, which may have no front matter; an empty text if it cannot be read."""
    try:
        return kernels.read(path)
    except (OSError, GemmvizError):
        return ""


def _choose(session: OnScreen, plain: Snapshot, base: Kernel, problem: Problem, params: Mapping[str, int]) -> None:
    if "kernel" in plain:
        fields = plain["kernel"]
        if base in session.choice.kernels:
            session.choice.choose_kernel(base)
        else:
            session.choice.add_kernel(base, on_file=_text_on_disk(base.path))
        if plain.get("breaks"):
            session.choice.break_it(tuple(plain["breaks"]))
        elif session.choice.text != fields.get("text", base.text):
            session.choice.edit(fields.get("text", base.text))
    order, as_written = plain.get("order", session.choice.order), plain.get("as_written", session.choice.as_written)
    session.choice.choose(problem if "size" in plain else None, dict(params), order, as_written)


def _put_beside(session: OnScreen, plain: Snapshot) -> None:
    if beside := plain.get("beside"):
        session.side_by_side.start_named(beside["kernel"], beside.get("pace"))
    elif "beside" in plain:
        session.side_by_side.stop()
    if "stops" in plain:
        session.own_stops.keep(session.choice.base.name, tuple(map(from_plain, plain["stops"])))


def _look(session: OnScreen, plain: Snapshot) -> None:
    if "theme" in plain:
        session.preferences.set_theme(plain["theme"])
    if "type_scale" in plain:
        session.preferences.set_type_scale(plain["type_scale"])
    if "calm" in plain:
        session.preferences.set_calm(plain["calm"])
    if "speed" in plain:
        session.playback.set_speed(plain["speed"])
    if "unit" in plain:
        session.cursor.choose_unit(plain["unit"])
    if "language" in plain:
        session.preferences.speak(plain["language"])


def _place(session: OnScreen, plain: Snapshot) -> None:
    assert session.cursor.playable is not None
    recording = session.cursor.playable.recording
    try:
        cell = _cell(recording, plain.get("cell"))
        block = block_number(recording, plain["block"]) if plain.get("block") else owner_block(recording, cell)
        if "cell" in plain or "block" in plain:
            session.cursor.pick(cell, block)
        if "warp" in plain:  # picking an element of C also picks its owner's warp and lane
            session.cursor.choose_warp(warp_number(recording, plain["warp"]))
        if "lane" in plain:
            session.inspection.choose_lane(plain["lane"])
        if loop_range := plain.get("loop_range"):
            first, last = (_step(session, step) for step in loop_range)
            session.playback.set_loop_range(first, last)
        if "loop" in plain:
            session.playback.set_loop(plain["loop"])
        if "step" in plain:
            session.cursor.seek(_step(session, plain["step"]))
        if plain.get("frozen", session.frozen_warp.on) != session.frozen_warp.on:
            session.warp_steps.toggle()
    except ConstraintError as error:
        session.messages.tell(Message(str(error), "warning"))


def _cell(recording: Recording, given: Sequence[str | int] | None) -> Cell | None:
    if not given:
        return None
    array, row, column = given
    return cell_number(recording, (str(array), int(row), int(column)))


def _step(session: OnScreen, step: int) -> int:
    if not 1 <= step <= session.cursor.steps:
        raise ConstraintError(
            tr(
                "step {step} does not exist: this recording has the steps 1 to {steps}",
                step=step,
                steps=session.cursor.steps,
            )
        )
    return step - 1
