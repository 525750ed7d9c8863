"""What a stage reads from whoever plays: a session, or the second of two rungs side by side."""

from typing import Any, Protocol

from gemmviz.catalogue.kernel import Kernel
from gemmviz.trace.playable import Playable


class Player(Protocol):
    """See `gemmviz.session.Session` for what each of these means."""

    playable: Playable | None
    kernel: Kernel
    base: Kernel
    step: int
    warp: int
    cell: tuple[int, int] | None
    theme: str
    type_scale: float
    calm: bool
    progress: dict[str, tuple[str, float | None] | None]
    recorded: Any
    themed: Any
    stepped: Any
    picked: Any
    chosen: Any
    drafted: Any
    progressed: Any

    @property
    def text(self) -> str:
        """The text to show."""

    @property
    def shown_block(self) -> int:
        """The block whose tiles are shown."""

    @property
    def trail(self) -> int:
        """For how many steps an access glows."""

    @property
    def outdated(self) -> bool:
        """Whether the picture is of another text, size or parameters than those that are chosen."""

    def pick(self, cell: tuple[int, int] | None, block: int | None = None) -> None:
        """Choose a cell, and when given, a block."""
