"""Sentences of lenses about a warp's request: whose it is, and when it is made."""

from collections.abc import Sequence

from gemmviz.language import tr
from gemmviz.trace.cost.warp_request import WarpRequest
from gemmviz.trace.playable import Playable
from gemmviz.trace.recording.recording import Recording
from gemmviz.ui.lenses.page import source_line
from gemmviz.ui.stage.caption import thousands


def which_request(recording: Recording, asked: WarpRequest, step: int) -> Sequence[str]:
    """Name a request, and where it is not that of the step, its own step; from the longest wording to the shortest."""
    x, y, z = recording.block_index(asked.block)
    values = {
        "warp": asked.warp,
        "block": f"({x}, {y})" if z == 0 else f"({x}, {y}, {z})",
        "array": recording.arrays[asked.array].name,
    }
    if asked.write:
        said = [tr("warp {warp} of block {block} writes {array}", **values), tr("warp {warp} writes {array}", **values)]
    else:
        said = [tr("warp {warp} of block {block} reads {array}", **values), tr("warp {warp} reads {array}", **values)]
    if asked.step == step:
        return said
    number = thousands(asked.step + 1)
    when = tr("last: step {step}", step=number) if asked.step < step else tr("next: step {step}", step=number)
    return [*(f"{text} ({when})" for text in said), f"{values['array']} ({when})"]


def request_head(playable: Playable, asked: WarpRequest) -> str:
    """Return the source line of a request."""
    return source_line(playable.recording, asked.line)
