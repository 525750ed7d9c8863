"""The lens that a session shows of a recording, on the stage and in front of an audience."""

from gemmviz.session.models.lens_choice import LensChoice
from gemmviz.trace.playable import Playable
from gemmviz.ui.lenses.lens import Lens


def shown_lens(choice: LensChoice | None, playable: Playable | None) -> Lens | None:
    """Return the chosen lens; None if there is none, or if the recording has nothing that it shows.

    Parameters
    ----------
    choice, playable
        The choice and the recording; None: there is none.
    """
    if choice is None or choice.shown is None or playable is None:
        return None
    from gemmviz.ui.lenses.by_name import lens_for  # late: the first picture has none

    return lens_for(choice.shown, playable)


def presented_lens(choice: LensChoice, playable: Playable | None) -> Lens | None:
    """Return the lens for the room beside a picture that is presented, also while a question covers it.

    A kernel whose demo names no lens has one there, too: the products of a thread, where these are known.
    """
    if playable is None:
        return None
    from gemmviz.ui.lenses.by_name import lens_for  # late: see `shown_lens`

    return lens_for("thread tile" if choice.name is None and choice.own() is None else choice.name, playable)
