"""The recording of the first door where the window shows another one: from the cache, at the moment of its demo."""

from gemmviz.catalogue.errors import GemmvizError
from gemmviz.catalogue.kernel import Kernel
from gemmviz.control.stage_recorder import request_for
from gemmviz.control.unpacking import playable_of
from gemmviz.engine.first_recording import find
from gemmviz.session import Session
from gemmviz.session.models.choice import Choice
from gemmviz.session.models.cursor import Cursor
from gemmviz.session.models.messages import Messages
from gemmviz.session.models.progress import Progress
from gemmviz.session.rules.staged import Staged
from gemmviz.session.tour.lessons import locate


def kept_demo(kernel: Kernel, session: Session) -> Staged | None:
    """Return a stage of its own at the demo of a kernel; None if its recording is not in the cache.

    Parameters
    ----------
    kernel
        The kernel; its demo's recording was the first one of this or another window.
    session
        Has the ladder and the preferences.
    """
    choice, cursor = Choice(session.choice.kernels), Cursor()
    choice.choose_kernel(kernel)
    reply = find(request_for(choice))
    if reply is None or kernel.demo is None:
        return None
    try:
        playable = playable_of(reply)
        place = locate(kernel.demo, playable)
    except GemmvizError:
        return None
    cursor.show(playable)
    cursor.pick(None, place.block)
    cursor.seek(place.step, place.step + place.fraction)
    return Staged(choice, cursor, Progress("record"), Messages(), session.preferences, lambda: 1, lambda: "full")
