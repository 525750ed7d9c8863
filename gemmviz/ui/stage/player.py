"""What a stage reads from whoever plays: a session, or the second of two rungs side by side."""

from typing import Any, Protocol

from gemmviz.catalogue.kernel import Kernel
from gemmviz.trace.playable import Playable


class Player(Protocol):
    """See `gemmviz.session.Session` for what each of these means."""

    playable: Playable | None
    kernel: Kernel
    step: int
    warp: int
    cell: tuple[int, int] | None
    progress: dict[str, tuple[str, float | None] | None]
    recorded: Any
    themed: Any
    stepped: Any
    picked: Any
    chosen: Any
    drafted: Any
    progressed: Any

    @property
    def base(self) -> Kernel:
        """The kernel as it is on the ladder."""

    @property
    def theme(self) -> str:
        """The name of the colours."""

    @property
    def type_scale(self) -> float:
        """How large type is."""

    @property
    def calm(self) -> bool:
        """Whether nothing moves but what is asked for."""

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
