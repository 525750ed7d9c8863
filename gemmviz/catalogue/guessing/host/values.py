"""Values of host code: whole numbers as expressions of names, objects, functions, arrays."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from gemmviz.catalogue.guessing.functions import Function

Tokens = tuple[str, ...]


@dataclass(frozen=True)
class Code:
    """A number or a pointer, as an expression of the names that the evaluation gives to variables."""

    tokens: Tokens


@dataclass
class Cell:
    """The place of a variable, so that references share it. `called` is the variable's name."""

    value: "Value" = None
    called: str = ""


@dataclass
class Struct:
    """An object: its type, and its members. An `opened` one has members that nobody declared, each of its own name."""

    kind: str
    members: dict[str, Cell] = field(default_factory=dict)
    opened: bool = True

    def copy(self, kind: str) -> "Struct":
        """Return an object of a type with the same members, in places of its own."""
        members = {name: Cell(copied(cell.value), cell.called) for name, cell in self.members.items()}
        return Struct(kind, members, self.opened)


@dataclass(frozen=True)
class Called:
    """Functions of one name, with their template arguments, and the object that they belong to."""

    name: str
    functions: tuple[Function, ...] = ()
    template: tuple[Tokens, ...] = ()
    owner: Struct | None = None


@dataclass
class Lambda:
    """A function without a name, and the variables around it."""

    parameters: tuple[Tokens, ...]
    body: Tokens
    frame: "Frame"


@dataclass
class Array:
    """Values in a row."""

    items: list["Value"]


@dataclass(frozen=True)
class Address:
    """A pointer to a variable."""

    cell: Cell


Value = Code | Struct | Called | Lambda | Array | Address | None
"""None stands for a value that is not known."""


@dataclass
class Frame:
    """The variables that a function sees, the innermost scope last, and the meaning of its type names."""

    scopes: list[dict[str, Cell]]
    types: dict[str, Tokens] = field(default_factory=dict)
    this: Struct | None = None
    constants: Mapping[str, Tokens] = field(default_factory=dict)

    def find(self, name: str) -> Cell | None:
        """Return the variable of a name; None where there is none."""
        for scope in reversed(self.scopes):
            if name in scope:
                return scope[name]
        return self.this.members.get(name) if self.this else None

    def inner(self) -> "Frame":
        """Return the same with one more scope."""
        return Frame([*self.scopes, {}], dict(self.types), self.this, self.constants)


class Item(Cell):
    """The place of an item of an array."""

    def __init__(self, items: list[Value], at: int) -> None:
        self.items, self.at, self.called = items, at, "item"

    @property
    def value(self) -> Value:
        """The item."""
        return self.items[self.at]

    @value.setter
    def value(self, value: Value) -> None:
        self.items[self.at] = value


def copied(value: Value) -> Value:
    """Return a value that no longer changes with the variable that it was taken from."""
    return value.copy(value.kind) if isinstance(value, Struct) else value
