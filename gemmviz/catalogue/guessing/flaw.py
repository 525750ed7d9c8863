"""A flaw of a kernel itself, with its line, as compilers or a recording have shown it."""

from dataclasses import dataclass
from typing import Literal

from gemmviz.language import tr

Kind = Literal["not compiled", "not started", "another result", "race", "no end"]


@dataclass(frozen=True)
class Flaw:
    """What is wrong with a kernel itself, whatever its launch.

    Attributes
    ----------
    kind
        The class of flaw: no compiler takes the kernel, no GPU starts it, it computes something else than A B, it
        has a race with the launch in its file, or a loop of it has no end.
    line
        The line of its file, from 1.
    text
        A sentence.
    """

    kind: Kind
    line: int
    text: str

    def __str__(self) -> str:
        return tr("line {line}: {text}", line=self.line, text=self.text)
