"""A launch in the form of front matter."""

from dataclasses import dataclass, field

from gemmviz.catalogue.guessing.roles import GuessReason


@dataclass
class Shape:
    """A launch in the form of front matter.

    `why` holds the evidence by key of the front matter, `size` is M, N and K where the host code has numbers for them.
    `own_grid` is the grid at that size, where it has numbers for that, too.
    """

    params: dict[str, tuple[int, ...]] = field(default_factory=dict)
    block: tuple[str, ...] = ()
    grid: tuple[str, ...] = ()
    shared: str = "0"
    requires: list[str] = field(default_factory=list)
    why: dict[str, GuessReason] = field(default_factory=dict)
    tiles: dict[str, str] = field(default_factory=dict)
    size: tuple[int, int, int] | None = None
    own_grid: tuple[str, ...] = ()
