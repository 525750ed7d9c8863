"""Whether M, N and K are kept equal."""

from gemmviz.catalogue.problem import Problem


class Square:
    """A link between the three sides of a size.

    A size whose sides differ loosens it, and the next one of equal sides fastens it again; one that the user loosened
    stays loose.
    """

    def __init__(self) -> None:
        self.linked = True
        self._loosened = False

    def choose(self, linked: bool) -> None:
        """Link the sides, or loosen them, at the user's choice."""
        self.linked, self._loosened = linked, False

    def follow(self, problem: Problem) -> None:
        """Note a size that was chosen in another way."""
        equal = problem.m == problem.n == problem.k
        if equal and self._loosened:
            self.linked = True
        elif not equal and self.linked:
            self.linked, self._loosened = False, True
