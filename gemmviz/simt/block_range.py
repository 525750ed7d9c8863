"""The range of blocks of a launch that is recorded."""

from gemmviz.catalogue.errors import ConstraintError
from gemmviz.catalogue.launch import Launch
from gemmviz.language import tr
from gemmviz.language.numbers import thousands

_MAX_BLOCKS = 2**32 - 1  # the column has 32 bits
_BLOCKS_PER_WORKER = 2  # with fewer, a further process costs more time than it saves


def whole_clusters(launch: Launch, blocks: tuple[int, int]) -> tuple[int, int]:
    """Return a range of blocks, made larger so that it has whole clusters."""
    together = launch.cluster[0]
    return blocks[0] // together * together, -(-blocks[1] // together) * together


def block_range(launch: Launch, blocks: tuple[int, int] | None) -> tuple[int, int]:
    """Return the first block to run and the one after the last, in whole clusters.

    Raises
    ------
    ConstraintError
        When the launch has no such blocks, or when they cannot be recorded.
    """
    if launch.blocks > _MAX_BLOCKS:
        text = tr("{count} blocks are more than can be recorded", count=thousands(launch.blocks))
        raise ConstraintError(f"{launch.kernel.name}: {text}")
    together = launch.cluster[0]
    if launch.cluster != (together, 1, 1):
        text = tr("only clusters of blocks that are neighbours along x can be recorded")
        raise ConstraintError(f"{launch.kernel.name}: {text}")
    first, end = whole_clusters(launch, blocks or (0, launch.blocks))
    if not 0 <= first < end <= launch.blocks:
        raise ConstraintError(
            tr(
                "{kernel} at {size} has the blocks 0 to {last}: {range} is not a range of blocks",
                kernel=launch.kernel.name,
                size=launch.problem,
                last=launch.blocks - 1,
                range=f"{first}:{end}",
            )
        )
    return first, end


def processes_for(blocks: int, most: int) -> int:
    """Return how many processes share a number of blocks; `most`: the largest number."""
    return max(1, min(most, blocks // _BLOCKS_PER_WORKER))
