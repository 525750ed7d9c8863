"""Tensors of PyTorch in host code: their sides and their data get names, as they are in no variable."""

from collections.abc import Iterator, Sequence

from gemmviz.catalogue.guessing.functions import Parameter
from gemmviz.catalogue.guessing.roles import Roles

SIDES = frozenset({"size", "sizes", "shape"})
"""Members that return a side."""
DATA = frozenset(
    {"data_ptr", "data", "mutable_data_ptr", "const_data_ptr"}
    | {"packed_accessor", "packed_accessor32", "packed_accessor64"}
)
"""Members that return a pointer to the elements, or an accessor of them."""
_LONGEST = 16  # tokens of the arguments of a template
_MEANT = {"A": ("M", "K"), "B": ("K", "N"), "C": ("M", "N")}


def side_of(tensor: str, side: str) -> str:
    """Return the name for a side of a tensor.

    Parameters
    ----------
    tensor, side
        The tensor's name, and the number of the side.
    """
    return f"{tensor}_side_{side}"


def named_sides(tokens: Sequence[str], at: int) -> tuple[str, int] | None:
    """Return the name for a side or for the data of a tensor, and the place behind it; None for anything else.

    Parameters
    ----------
    tokens, at
        The place of the point in ``a.size(0)``.
    """
    tensor, member = tokens[at - 1], tokens[at + 1] if at + 1 < len(tokens) else ""
    if member in SIDES and tokens[at + 2 : at + 3] == ["("] and tokens[at + 4 : at + 5] == [")"]:
        return (side_of(tensor, tokens[at + 3]), at + 5) if tokens[at + 3].isdecimal() else None
    if member not in DATA:
        return None
    open_ = at + 2
    if tokens[open_ : open_ + 1] == ["<"] and ">" in tokens[open_ : open_ + _LONGEST]:
        open_ = tokens.index(">", open_) + 1
    return (tensor, open_ + 2) if tokens[open_ : open_ + 2] == ["(", ")"] else None


def usual_sides(
    parameters: Sequence[Parameter], arguments: Sequence[Sequence[str]], roles: Roles
) -> Iterator[tuple[str, str]]:
    """Yield the names of the sides of a launch's matrices, and the size that each is, with elements in PyTorch's order.

    A matrix that the kernel reads by columns is a tensor with both sides exchanged.

    Parameters
    ----------
    parameters, arguments
        Of the kernel and of its launch.
    roles
        The roles of the parameters.
    """
    for parameter, argument in zip(parameters, arguments, strict=False):
        role = roles.of.get(parameter.name, "")
        sizes = _MEANT.get(role, ())[:: -1 if role in roles.column_major else 1]
        if parameter.pointer and len(argument) == 1 and argument[0].isidentifier():
            yield from ((side_of(argument[0], str(side)), size) for side, size in enumerate(sizes))
