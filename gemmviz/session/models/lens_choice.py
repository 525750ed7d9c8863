"""The lens on the stage: the lens of the chosen kernel's demo, another one, or none."""

from collections.abc import Sequence

from psygnal import Signal

from gemmviz.catalogue.lens_names import LensName
from gemmviz.session.values.chosen import Chosen


class LensChoice:
    """The lens that is shown.

    Parameters
    ----------
    choice
        The chosen kernel.
    """

    changed = Signal()
    """Another lens is shown, or none."""

    def __init__(self, choice: Chosen) -> None:
        self._choice = choice
        self._kernel = choice.base.name
        self.name: LensName | None = self.own()
        """The lens that is shown; None: the shared tiles themselves."""
        self._covered = False

    @property
    def shown(self) -> LensName | None:
        """The lens that is shown; None also during a question that the lens would answer."""
        return None if self._covered else self.name

    @property
    def covered(self) -> bool:
        """Whether a question hides the lens."""
        return self._covered

    def cover(self, covered: bool) -> None:
        """Hide the lens, or show it again."""
        if covered != self._covered:
            self._covered = covered
            self.changed.emit()

    def own(self) -> LensName | None:
        """Return the lens of the kernel's demo; None: it names none."""
        demo = self._choice.base.demo
        return demo.lens if demo is not None else None

    def follow(self) -> None:
        """Show the lens of the chosen kernel's demo, if another kernel was chosen."""
        if self._choice.base.name != self._kernel:
            self._kernel = self._choice.base.name
            self.show_own()

    def show_own(self) -> None:
        """Show the lens of the kernel's demo."""
        self.show(self.own())

    def show(self, name: LensName | None) -> None:
        """Show a lens, or none."""
        if name != self.name:
            self.name = name
            self.changed.emit()

    def next(self, suiting: Sequence[LensName]) -> None:
        """Show the next lens that suits the recording; after the last one, no lens.

        Parameters
        ----------
        suiting
            The lenses that have something to show. The lens of the kernel's demo comes first.
        """
        own = self.own()
        ways: list[LensName | None] = [name for name in suiting if name == own]
        ways += [name for name in suiting if name != own]
        ways.append(None)
        at = ways.index(self.name) if self.name in ways else -1
        self.show(ways[(at + 1) % len(ways)])
