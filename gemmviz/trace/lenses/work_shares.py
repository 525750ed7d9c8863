"""The k-steps that each block computes: whole tiles of C, or parts of tiles that several blocks share.

The pieces are recorded. A separate multiprocessor for each block is modelled, and so is the comparison with a grid
that has one block per tile: blocks go to multiprocessors in the order of their numbers.
"""

from dataclasses import dataclass
from pathlib import Path

from gemmviz.catalogue.errors import FrontMatterError
from gemmviz.catalogue.matter_table import matter_table
from gemmviz.trace.lenses.fillings import Filling
from gemmviz.trace.lenses.per_recording import per_recording
from gemmviz.trace.lenses.stages import stages
from gemmviz.trace.playable import Playable

_LOOKED_AT = 4  # the blocks that are tested for work on more, or less, than one tile


@dataclass(frozen=True)
class Piece:
    """Neighbouring k-steps of one tile that a block does.

    Attributes
    ----------
    tile
        The tile's number, row by row of C.
    first, end
        Its first k-step, and the k-step after its last one.
    began
        Per k-step, the step of the timeline at which its multiplication begins.
    """

    tile: int
    first: int
    end: int
    began: tuple[int, ...]

    @property
    def steps(self) -> int:
        """The number of its k-steps."""
        return self.end - self.first

    def done(self, step: int) -> int:
        """Return how many of its k-steps have begun after a step."""
        return sum(began <= step for began in self.began)


@dataclass(frozen=True)
class WorkShares:
    """The shares of all blocks.

    Attributes
    ----------
    tiles, steps
        The number of tiles of C, and of k-steps per tile.
    depth, length
        Elements along K of a k-step, and of all k-steps.
    blocks
        The pieces of each block, in its order.
    """

    tiles: int
    steps: int
    depth: int
    length: int
    blocks: tuple[tuple[Piece, ...], ...]

    @property
    def longest(self) -> int:
        """The largest number of k-steps of a block."""
        return max((sum(piece.steps for piece in pieces) for pieces in self.blocks), default=0)

    @property
    def shortest(self) -> int:
        """The smallest number of k-steps of a block."""
        return min((sum(piece.steps for piece in pieces) for pieces in self.blocks), default=0)

    @property
    def total(self) -> int:
        """The k-steps of all blocks."""
        return sum(piece.steps for pieces in self.blocks for piece in pieces)

    @property
    def cut(self) -> int:
        """The number of tiles that are divided among blocks."""
        return len({piece.tile for pieces in self.blocks for piece in pieces if piece.steps < self.steps})

    @property
    def a_tile_each(self) -> int:
        """The k-steps of the busiest multiprocessor if each block had one tile, on as many multiprocessors."""
        return -(-self.tiles // max(len(self.blocks), 1)) * self.steps


@per_recording
def shares_work(playable: Playable) -> bool:
    """Return whether blocks work on several tiles, or on parts of tiles: only then the lens has something to show."""
    steps = _steps(playable)
    if not steps:
        return False
    for block in range(min(playable.recording.blocks, _LOOKED_AT)):
        pieces = _pieces(playable, block)
        if len(pieces) > 1 or any(end - first < steps for _, first, end, _ in pieces):
            return True
    return False


@per_recording
def work_shares(playable: Playable) -> WorkShares | None:
    """Find the shares of all blocks; None if no block copies tiles to shared memory."""
    steps = _steps(playable)
    if not steps:
        return None
    found = [_pieces(playable, block) for block in range(playable.recording.blocks)]
    places = sorted({place for pieces in found for place, *_ in pieces})
    number = {place: at for at, place in enumerate(places)}
    blocks = tuple(
        tuple(Piece(number[place], first, end, began) for place, first, end, began in pieces) for pieces in found
    )
    return WorkShares(len(places), steps, playable.story.depth, playable.recording.k, blocks) if places else None


@per_recording
def follows_shape(playable: Playable) -> bool:
    """Return whether the kernel has a schedule: where the user gives no parameters, they follow from the shape."""
    try:
        return "schedule" in matter_table(playable.recording.text, Path(playable.recording.kernel))
    except FrontMatterError:
        return False


def _steps(playable: Playable) -> int:
    depth = playable.story.depth
    return -(-playable.recording.k // depth) if depth else 0


def _pieces(playable: Playable, block: int) -> list[tuple[tuple[int, int], int, int, tuple[int, ...]]]:
    """Return the pieces of a block: where the tile begins in C, its first k-step, the one behind its last, `began`."""
    found, depth = stages(playable, block), playable.story.depth
    pieces: list[list[Filling]] = []
    for filling in found.fillings if found is not None else ():
        last = pieces[-1][-1] if pieces else None
        place = filling.row, filling.column, filling.k // depth - 1
        if last is None or (last.row, last.column, last.k // depth) != place:
            pieces.append([])
        pieces[-1].append(filling)
    return [
        (
            (piece[0].row, piece[0].column),
            piece[0].k // depth,
            piece[-1].k // depth + 1,
            tuple(filling.first_use for filling in piece),
        )
        for piece in pieces
    ]
