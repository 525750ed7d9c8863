"""The request that a lens shows, and the heading above it: warp, block, step, source line and one large figure."""

from collections.abc import Sequence

from gemmviz.language import tr
from gemmviz.language.numbers import thousands
from gemmviz.trace.cost.warp_request import WarpRequest
from gemmviz.trace.lenses.warp_requests import Space, warp_requests
from gemmviz.trace.recording.recording import Recording
from gemmviz.ui.lenses.lens import LensMoment
from gemmviz.ui.lenses.page import Heading, source_line


def shown_request(moment: LensMoment, space: Space) -> WarpRequest | None:
    """Return the chosen warp's request to a memory at a step, else its last one before, else its next one.

    Parameters
    ----------
    moment
        The moment, with the chosen block and warp.
    space
        ``"global"`` or ``"shared"``.

    Returns
    -------
    WarpRequest or None
        None if the warp makes no such request.
    """
    playable = moment.playable
    return warp_requests(playable).shown(playable, moment.step, moment.block, moment.warp, space)


def request_heading(
    moment: LensMoment,
    asked: WarpRequest,
    *,
    title: str,
    tags: Sequence[str],
    modelled: bool,
    figure: str,
    under: str,
) -> Heading:
    """Return the heading of a lens on one request.

    Parameters
    ----------
    moment, asked
        The moment, and the request that is shown.
    title, tags, modelled, figure, under
        As in `gemmviz.ui.lenses.page.Heading`.
    """
    recording = moment.playable.recording
    about, code = _which_request(recording, asked, moment.step), source_line(recording, asked.line)
    return Heading(title, tags, modelled, about, code, figure, under, late=asked.units > asked.least)


def _which_request(recording: Recording, asked: WarpRequest, step: int) -> Sequence[str]:
    """Name a request and, if it is not that of the step, its step; from the longest wording to the shortest."""
    x, y, z = recording.block_index(asked.block)
    values = {
        "warp": asked.warp,
        "block": f"({x}, {y})" if z == 0 else f"({x}, {y}, {z})",
        "array": recording.arrays[asked.array].name,
    }
    if asked.write:
        texts = [
            tr("warp {warp} of block {block} writes {array}", **values),
            tr("warp {warp} writes {array}", **values),
        ]
    else:
        texts = [tr("warp {warp} of block {block} reads {array}", **values), tr("warp {warp} reads {array}", **values)]
    if asked.step == step:
        return texts
    when = other_step(asked.step, step)
    return [*(f"{text} ({when})" for text in texts), f"{values['array']} ({when})"]


def other_step(shown: int, step: int) -> str:
    """Return the step at which the shown event happened, or will happen, where that is not the moment's step."""
    number = thousands(shown + 1)
    return tr("last: step {step}", step=number) if shown < step else tr("next: step {step}", step=number)
