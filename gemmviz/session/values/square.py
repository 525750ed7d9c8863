"""Whether M, N and K are kept equal."""

from gemmviz.catalogue.problem import Problem


class Square:
    """A link between the three sides of a size.

    A size with different sides removes the link, and the next size with equal sides restores it. If the user removed
    the link, it stays removed.
    """

    def __init__(self) -> None:
        self.linked = True
        self._loosened = False

    def choose(self, linked: bool) -> None:
        """Link the sides, or remove the link, as the user chose."""
        self.linked, self._loosened = linked, False

    def follow(self, problem: Problem) -> None:
        """Follow a size that was chosen in another way."""
        equal = problem.m == problem.n == problem.k
        if equal and self._loosened:
            self.linked = True
        elif not equal and self.linked:
            self.linked, self._loosened = False, True
