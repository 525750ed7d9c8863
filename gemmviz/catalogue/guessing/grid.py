"""The blocks that share the rows and columns of C, and their description."""

from dataclasses import dataclass

from gemmviz.catalogue.guessing.roles import Term, kind_of
from gemmviz.language import mark, tr

_CHOOSES = {
    "rows": mark("blockIdx.{axis} chooses rows of C"),
    "columns": mark("blockIdx.{axis} chooses columns of C"),
    "rows and columns": mark("blockIdx.{axis} chooses rows and columns of C"),
}


@dataclass(frozen=True)
class Blocks:
    """The number of blocks that share the rows or columns of C, and their axis of the grid."""

    count: str
    axis: str


def one_block(size: str, side: list[Term], block: tuple[str, ...]) -> list[str]:
    """Return the condition on a size where one block computes all rows or all columns of C."""
    threads = [t for t in side if kind_of(t.atom) == "thread"]
    extents = dict(zip("xyz", block, strict=False))
    return [f"{size} == {extents.get(threads[0].atom[-1], '1')}"] if threads else []


def in_words(grid: tuple[str, ...], chosen: dict[str, Blocks]) -> str:
    """Return the tile that each block index selects, as a part of a sentence."""
    sides: dict[str, list[str]] = {}
    for size, blocks in chosen.items():
        sides.setdefault(blocks.axis, []).append("rows" if size == "M" else "columns")
    text = ", ".join(
        tr(_CHOOSES[" and ".join(sorted(names, reverse=True))], axis=axis) for axis, names in sides.items()
    )
    shares = [axis for axis, count in zip("xyz", grid, strict=False) if count != "1" and axis not in sides]
    return text + "".join(", " + tr("blockIdx.{axis} chooses a share of the sum", axis=axis) for axis in shares)
