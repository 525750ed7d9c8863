"""The frozen warp: playback pauses, and stepping goes from request to request of the chosen warp."""

from psygnal import Signal

from gemmviz.language import tr
from gemmviz.session.choice import Choice
from gemmviz.session.cursor import Cursor
from gemmviz.session.kernel_names import no_source
from gemmviz.session.playback import Playback
from gemmviz.trace.cost.warp_request import WarpRequest, warp_request
from gemmviz.trace.order.stepping_units import neighbour


class FrozenWarp:
    """Whether the chosen warp of the chosen block is frozen, and its request.

    Playing releases it. A CPU has no warps, so nothing can be frozen.

    Parameters
    ----------
    choice, cursor
        The rung, and the recording on the stage.
    playback
        The playback of that recording.
    """

    changed = Signal()

    def __init__(self, choice: Choice, cursor: Cursor, playback: Playback) -> None:
        self._choice, self._cursor, self._playback = choice, cursor, playback
        self.on = False
        playback.changed.connect(self._on_playback)
        cursor.recorded.connect(self._on_recorded)

    @property
    def possible(self) -> bool:
        """Whether there is a warp to freeze."""
        return self._cursor.warps > 0 and self._choice.kernel.recordable

    @property
    def why_not(self) -> str:
        """The reason why there is no warp to freeze, and the remedy."""
        if self._cursor.playable is None or not self._choice.kernel.recordable:
            return no_source(self._choice.kernel) or tr(
                "Record a kernel (Ctrl+R) to see the memory requests of its warps."
            )
        return tr("A CPU has no warps: its threads access memory one by one. Choose a CUDA kernel.")

    def toggle(self) -> None:
        """Freeze the warp, or release it."""
        if self.on:
            self.release()
        elif self.possible:
            self._playback.pause()
            # If blocks play one by one, freeze a warp of the visible block.
            self._cursor.pick(self._cursor.cell, self._cursor.shown_block)
            self.on = True
            self.changed.emit()

    def release(self) -> None:
        """Release the warp."""
        if self.on:
            self.on = False
            self.changed.emit()

    def step(self, direction: int) -> bool:
        """Go to the warp's next (1) or previous (-1) request; return False if the warp is not frozen.

        At its last request, or its first one, the position stays.
        """
        if self.on:
            self._playback.pause()
            self._cursor.jump("request", 1 if direction > 0 else -1)
        return self.on

    def next_warp(self, direction: int) -> None:
        """Choose the next (1) or the previous (-1) warp; after the last warp comes the first."""
        if self._cursor.warps:
            self._cursor.choose_warp((self._cursor.warp + direction) % self._cursor.warps)

    def request(self) -> WarpRequest | None:
        """Return the chosen warp's request at this step, else its next request, else its last one."""
        begins = self._cursor.stations("request")
        if self._cursor.playable is None or begins is None:
            return None
        now = warp_request(self._cursor.playable, self._cursor.step, self._cursor.shown_block, self._cursor.warp)
        if now is not None or not len(begins):
            return now
        step = neighbour(begins, self._cursor.step - 1, 1)
        return warp_request(
            self._cursor.playable, int(begins[-1]) if step is None else step, self._cursor.block, self._cursor.warp
        )

    def _on_playback(self) -> None:
        if self._playback.playing:
            self.release()

    def _on_recorded(self) -> None:
        if not self.possible:
            self.release()
