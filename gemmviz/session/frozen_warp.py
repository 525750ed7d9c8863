"""The frozen warp: playing stands still, and stepping goes from request to request of the chosen warp."""

from typing import TYPE_CHECKING

from psygnal import Signal

from gemmviz.language import tr
from gemmviz.session.kernel_names import no_source
from gemmviz.trace.cost.warp_request import WarpRequest, warp_request
from gemmviz.trace.order.stepping_units import neighbour

if TYPE_CHECKING:
    from gemmviz.session.state import Session


class FrozenWarp:
    """Whether the chosen warp of the chosen block is frozen, and what it asks for.

    Playing releases it. A CPU has no warps, so that nothing can be frozen there.

    Parameters
    ----------
    session
        Whose warp.
    """

    changed = Signal()

    def __init__(self, session: "Session") -> None:
        self._session = session
        self.on = False
        session.playback.connect(self._on_playback)
        session.recorded.connect(self._on_recorded)

    @property
    def possible(self) -> bool:
        """Whether there is a warp to freeze."""
        return self._session.warps > 0 and self._session.kernel.recordable

    @property
    def why_not(self) -> str:
        """Why there is no warp to freeze, and what to do."""
        session = self._session
        if session.playable is None or not session.kernel.recordable:
            return no_source(session.kernel) or tr("Record a kernel (Ctrl+R) to see what its warps ask of memory.")
        return tr("A CPU has no warps: its threads access memory one by one. Choose a CUDA rung.")

    def toggle(self) -> None:
        """Freeze the warp, or release it."""
        if self.on:
            self.release()
        elif self.possible:
            session = self._session
            session.pause()
            # Where blocks play one by one, the one that is seen is meant.
            session.pick(session.cell, session.shown_block)
            self.on = True
            self.changed.emit()

    def release(self) -> None:
        """Let the warp go."""
        if self.on:
            self.on = False
            self.changed.emit()

    def step(self, direction: int) -> bool:
        """Go to the warp's next (1) or last (-1) request; say whether the warp is frozen, so that this was to be done.

        At its last request, or its first one, it stays.
        """
        if self.on:
            self._session.pause()
            self._session.jump("request", 1 if direction > 0 else -1)
        return self.on

    def next_warp(self, direction: int) -> None:
        """Choose the warp after (1) or before (-1) this one; behind the last comes the first."""
        session = self._session
        if session.warps:
            session.choose_warp((session.warp + direction) % session.warps)

    def request(self) -> WarpRequest | None:
        """Return what the chosen warp asks for at this step, or next; where nothing more comes, what it asked last."""
        session = self._session
        begins = session.stations("request")
        if session.playable is None or begins is None:
            return None
        now = warp_request(session.playable, session.step, session.shown_block, session.warp)
        if now is not None or not len(begins):
            return now
        step = neighbour(begins, session.step - 1, 1)
        return warp_request(session.playable, int(begins[-1]) if step is None else step, session.block, session.warp)

    def _on_playback(self) -> None:
        if self._session.playing:
            self.release()

    def _on_recorded(self) -> None:
        if not self.possible:
            self.release()
