"""How one product is divided among several GPUs, as the front matter declares it.

Each GPU holds some columns of B and computes the same columns of C. Of A it holds all rows, or only its own ones: then
the rows of the other GPUs, one panel from each of them, are copied over the link between the GPUs, or read over it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from gemmviz.catalogue.errors import FrontMatterError
from gemmviz.catalogue.expression import Expression
from gemmviz.language import tr

if TYPE_CHECKING:
    from gemmviz.catalogue.front_matter import Matter

MOST_DEVICES = 16
_DIVIDED = {"B": "columns", "C": "columns"}
_EXAMPLE = 'divided = { B = "columns", C = "columns" }'
Crossing = Literal["", "before", "meanwhile", "reads", "inside"]


@dataclass(frozen=True)
class Division:
    """A division.

    Attributes
    ----------
    devices
        The number of GPUs, an expression of parameters.
    crossing
        How the panels of A cross the link: copied ``"before"`` the product of all rows, or ``"meanwhile"``: each panel
        has a product of its own, and crosses while earlier ones are multiplied. With ``"reads"`` nothing is copied, and
        the product of a panel reads it in its owner's memory. With ``"inside"`` the kernel copies the panels itself.
        Empty if each GPU holds all of A.
    """

    devices: Expression
    crossing: Crossing = ""

    @property
    def in_panels(self) -> bool:
        """Whether each panel of A has a product of its own."""
        return self.crossing in ("meanwhile", "reads")

    @property
    def copied(self) -> bool:
        """Whether each GPU gets a copy of the panels that it does not own."""
        return self.crossing in ("before", "meanwhile")

    def sides(self) -> dict[str, str]:
        """Return M, N and K of one launch, as expressions of those of the whole product."""
        devices = f"({self.devices.text})"
        return {"M": f"(M / {devices})" if self.in_panels else "M", "N": f"(N / {devices})", "K": "K"}

    def conditions(self) -> Iterator[Expression]:
        """Return the conditions on the sizes: columns, and rows where they are divided, in equal parts."""
        yield Expression(f"{self.devices.text} >= 1 and {self.devices.text} <= {MOST_DEVICES}")
        for size in ("M", "N") if self.crossing else ("N",):
            yield Expression(f"{size} % ({self.devices.text}) == 0")

    @property
    def inside(self) -> bool:
        """Whether the kernel copies the panels itself."""
        return self.crossing == "inside"

    def link_bytes(self, devices: int, a_bytes: int) -> int | None:
        """Return the bytes that copies bring over the links in one product; None where the kernel's reads cross."""
        if self.crossing in ("reads", "inside"):
            return None
        return (devices - 1) * a_bytes if self.crossing else 0


@dataclass(frozen=True)
class Panel:
    """A product that one GPU launches.

    Attributes
    ----------
    device
        The GPU, from 0.
    owner
        The GPU whose rows of A are multiplied; `device` itself if A is multiplied whole.
    """

    device: int
    owner: int


def panels(devices: int, in_panels: bool) -> list[Panel]:
    """Return the launches of all GPUs, those of GPU 0 first; each GPU begins with the rows that it holds."""
    turns = range(devices if in_panels else 1)
    return [Panel(device, (device + turn) % devices) for device in range(devices) for turn in turns]


def read_division(matter: "Matter") -> Division | None:
    """Return the division that a front matter declares, or None if one GPU computes the product.

    Raises
    ------
    FrontMatterError
        For keys that do not belong together, or another division.
    """
    divided = {str(matrix): str(side) for matrix, side in matter.get("divided", {}).items()}
    crossing: Crossing = matter.get("crossing") or ""
    if "devices" not in matter and not divided and not crossing:
        return None
    if "devices" not in matter or divided not in (_DIVIDED, _DIVIDED | {"A": "rows"}):
        text = tr(
            "devices, a number of GPUs, needs {example}, with {rows} too if each GPU holds only its rows of A",
            example=_EXAMPLE,
            rows='A = "rows"',
        )
        raise FrontMatterError(text, about="devices" if "devices" in matter else "divided" if divided else "crossing")
    if ("A" in divided) != bool(crossing):
        ways = '"before", "meanwhile", "reads", "inside"'
        raise FrontMatterError(
            tr("crossing ({ways}) says how the rows of a divided A cross", ways=ways),
            about="crossing" if crossing else "divided",
        )
    return Division(Expression(str(matter["devices"])), crossing)
