"""Goes to a rung's demo: the size, parameters, step and thread that show its idea."""

from functools import partial

from psygnal import Signal

from gemmviz.catalogue.errors import GemmvizError
from gemmviz.catalogue.kernel import Kernel
from gemmviz.language import tr
from gemmviz.session.models.playback import Playback
from gemmviz.session.models.tour import Tour
from gemmviz.session.rules.guide import Guide
from gemmviz.session.rules.staged import Staged
from gemmviz.session.tour.demo_place import Place, place, place_of
from gemmviz.session.tour.lessons import locate
from gemmviz.session.tour.stop import OwnStop
from gemmviz.session.values.kernel_names import no_source
from gemmviz.session.values.message import Message, told
from gemmviz.session.values.picture_size import picture_params, picture_problem
from gemmviz.trace.playable import Playable


class Demonstration:
    """Shows the demo of the chosen rung.

    Parameters
    ----------
    staged, playback
        The stage that it is shown on, and its playback.
    tour, guide
        Goes to the demo's step; a lesson ends.
    """

    recording_wanted = Signal()
    """Emitted when the choice has to be recorded at once."""

    def __init__(self, staged: Staged, playback: Playback, tour: Tour, guide: Guide) -> None:
        self._staged, self._choice, self._playback, self._tour = staged, staged.choice, playback, tour
        self._guide = guide
        self._choosing = False
        self._seen: set[str] = set()
        self._located: tuple[Playable, Place | None] | None = None
        self.waiting = False
        """Whether the demo's recording is awaited."""
        self._choice.chosen.connect(self._on_chosen)

    def show(self) -> None:
        """Record the chosen rung, as compiled, at its demo, and go to its step; if it has no demo, show a message.

        Rungs that are chosen afterwards open at their demos, too: a size that was chosen before is dropped.
        """
        kernel = self._choice.kernel
        if kernel.demo is None:
            self._staged.messages.tell(told(partial(_none, kernel), lasting=True))
            return
        if self._tour.lesson is not None:
            self._guide.leave(restore=False)
        self._playback.pause()
        self._choice.wanted = None
        problem = picture_problem(kernel)
        self._choosing = True
        try:
            params = kernel.defaults | picture_params(kernel, problem)
            self._choice.choose(problem, params, "grid", as_written=False, stays=False)
        finally:
            self._choosing = False
        self.waiting = True
        self.arrive()
        if self.waiting:
            self.recording_wanted.emit()

    def first_look(self) -> None:
        """Show the demo of a kernel when it is chosen for the first time, unless the user chose a size."""
        kernel = self._choice.base
        if kernel.name in self._seen or kernel.demo is None or kernel.demo.stop is None:
            return
        self._seen.add(kernel.name)
        if self._choice.wanted is None and self._tour.lesson is None and self._choice.kernel is kernel:
            self.show()

    def arrive(self) -> None:
        """Go to the demo's step, if its recording is awaited and on the stage now."""
        playable = self._staged.current
        if not self.waiting or playable is None:
            return
        self.waiting = False
        demo = self._choice.kernel.demo
        if demo is None:
            return
        try:
            found = locate(demo, playable)
        except GemmvizError as error:
            self._tell(_not_shown(str(error)), "warning")
            return
        self._guide.point_at(
            OwnStop(
                *(found.step, "", found.cell, found.block, found.warp, found.panel),
                lane=found.lane,
                fraction=found.fraction,
            )
        )

    @property
    def idea(self) -> str:
        """The kernel's idea, at the moment of its demo, where it is the caption; empty elsewhere."""
        playable, kernel, cursor = self._staged.current, self._choice.kernel, self._staged.cursor
        if playable is None or kernel.demo is None or kernel.demo.stop is None:
            return ""
        if self._located is None or self._located[0] is not playable:
            self._located = playable, place_of(kernel.demo, playable)
        here = place(cursor.step, cursor.fraction, cursor.block, cursor.cell)
        return tr(kernel.idea) if here == self._located[1] else ""

    def fail(self, reason: str) -> str:
        """Stop waiting for a recording that failed; return the text to show, which names the demo if it was awaited."""
        waiting, self.waiting = self.waiting, False
        return _not_shown(reason) if waiting else reason

    def _on_chosen(self) -> None:
        if not self._choosing:
            self.waiting = False  # the user has chosen another rung or setting

    def _tell(self, text: str, kind: str) -> None:
        self._staged.messages.tell(Message(text, kind, lasting=True))


def _none(kernel: Kernel) -> str:
    return no_source(kernel) or tr("{rung} has no demo in its front matter.", rung=kernel.alias)


def _not_shown(reason: str) -> str:
    return tr("The demo cannot be shown: {reason}", reason=reason)
