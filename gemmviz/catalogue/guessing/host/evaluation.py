"""Evaluates the expressions of host code."""

import re
from collections.abc import Sequence

from gemmviz.catalogue.guessing.host.expressions import WORDS_OF_TYPES, Node, Tokens, read
from gemmviz.catalogue.guessing.host.names import DEEPEST, LONGEST, Names, Stop
from gemmviz.catalogue.guessing.host.round_ups import rounded_up
from gemmviz.catalogue.guessing.host.struct_sizes import struct_size
from gemmviz.catalogue.guessing.host.values import (
    Address,
    Array,
    Called,
    Cell,
    Code,
    Frame,
    Item,
    Lambda,
    Struct,
    Value,
    copied,
)
from gemmviz.catalogue.guessing.plain_values import SIZES
from gemmviz.catalogue.guessing.struct_types import StructType
from gemmviz.catalogue.guessing.tokens import split_arguments

_AXES = {
    **dict.fromkeys(("dim3", "uint3", "int3"), "xyz"),
    "int2": "xy",
    "uint2": "xy",
    "int4": "xyzw",
    "uint4": "xyzw",
}
VECTORS = frozenset(_AXES)
"""CUDA's structures of whole numbers."""
_MOST_STEPS, _MOST_ITEMS, _DEEPEST_VALUE = 20_000, 64, 3
_REMAINDERS = frozenset("%&")
_NUMBER = re.compile(r"(0[xX][0-9a-fA-F]+|\d+)[uUlL]*")


class Evaluation(Names):
    """Evaluates expressions with the names of variables for their values."""

    def value(self, node: Node, frame: Frame) -> Value:
        """Return the value of an expression."""
        self.steps += 1
        if self.steps > _MOST_STEPS or self.depth > DEEPEST:
            raise Stop
        found: Value = getattr(self, f"_{node[0]}", self._unread)(node, frame) if node else None
        return found

    def _unread(self, node: Node, frame: Frame) -> Value:
        return None

    def _number(self, node: Node, frame: Frame) -> Value:
        return Code((node[1],))

    def _text(self, node: Node, frame: Frame) -> Value:
        return None

    def _comma(self, node: Node, frame: Frame) -> Value:
        self.value(node[1], frame)
        return self.value(node[2], frame)

    def _cast(self, node: Node, frame: Frame) -> Value:
        found = self.value(node[2], frame)
        if {"float", "double"} & {*node[1]} and "*" not in node[1] and isinstance(found, Code):
            return Code(("(", "float", ")", "(", *found.tokens, ")"))
        return found

    def _sizeof(self, node: Node, frame: Frame) -> Value:
        words = tuple(w for w in node[1] if w not in ("const", "std", "::", "struct"))
        if "*" in words:
            return Code(("8",))
        kind = self.kind(words, frame)
        size = SIZES.get(kind[-1]) if kind else None
        if size:
            return Code((str(size),))
        of_struct = struct_size(kind, [tuple(file.tokens) for file in self.files]) if kind else ()
        return self.value(read(of_struct), frame) if of_struct else None

    def _name(self, node: Node, frame: Frame) -> Value:
        cell = self.cell(node, frame)
        if cell is not None:
            if cell.value is None:
                cell.value = self.symbol(cell.called or node[1][-1])
            return cell.value
        path, name = node[1], node[1][-1]
        if len(path) > 1 or node[3]:
            found = self._of_type(path, node[3], frame)
            if found is not None:
                return found
        if name in self.functions or name == self.wanted or name in self.reaching:
            given = tuple(self.argument(one, frame) for one in node[2] or ())
            some = self.meant(path, len(given))
            owner = frame.this if any(one.owner for one in some) else None
            called = Called(name, some, given, owner)
            if given and name in self.reaching and name != self.wanted:
                self.mentioned.append(called)
            return called
        if len(path) == 1 and name in frame.types:
            return self.value(read(frame.types[name]), self.outside) if frame.types[name] != (name,) else None
        if name in ("true", "false"):
            return Code((name,))
        of_type = len(path) > 1 and self._names_type(path[-2], frame)
        known = None if of_type else frame.constants.get(name)
        if known is not None:
            return self.symbol(name, tuple(known))
        return None

    def _of_type(self, path: Tokens, given: tuple[Tokens, ...] | None, frame: Frame) -> Value:
        """Return the constant of a structure: ``Tile<128>::rows``."""
        owner = self.kind((path[-2],), frame)
        if given is not None:
            inside_angles = [word for one in given for word in (",", *one)][1:]
            owner = (path[-2], "<", *inside_angles, ">")
        struct = self._struct_of(owner, frame)
        tokens = struct.members.get(path[-1]) if struct else None
        if tokens is None or struct is None:
            return None
        arguments = given or (tuple(split_arguments(owner[2:-1])) if owner[1:2] == ("<",) else ())
        inside = Frame([*self.outside.scopes, {}], dict(frame.types), None, frame.constants)
        for name, argument in zip(struct.parameters, arguments, strict=False):
            self.bind(name, self.argument(argument, frame), inside)
        for name, value in struct.members.items():
            if name != path[-1]:
                inside.scopes[-1].setdefault(name, Cell(self._member_of(value, inside), name))
        return self.value(read(tokens), inside)

    def _names_type(self, name: str, frame: Frame) -> bool:
        return name in frame.types or name in self.structs or name in self.fields or name in self.specialised

    def _struct_of(self, kind: Tokens, frame: Frame) -> StructType | None:
        """Return the structure that a type names: the one for its arguments, or the first where these are unknown."""
        several = self.specialised.get(kind[0], ()) if kind else ()
        if several:
            wanted = [self._plain_argument(one, frame) for one in split_arguments(kind[2:-1])]
            for one, struct in several:
                if [self._plain_argument(part, frame) for part in split_arguments(one[2:-1])] == wanted:
                    return struct
            if kind[0] not in self.structs:
                return several[0][1]
        return self.structs.get(kind[0]) if kind else None

    def _plain_argument(self, tokens: Tokens, frame: Frame) -> str:
        known = self.argument(tokens, frame)
        number = self.number(known)
        return " ".join(known) if number is None else str(number)

    def _member_of(self, tokens: Tokens, frame: Frame) -> Value:
        self.depth += 1
        try:
            return self.value(read(tokens), frame)
        finally:
            self.depth -= 1

    def argument(self, tokens: Tokens, frame: Frame) -> Tokens:
        """Return a template argument as a type or a number that is known outside of the function, too."""
        plain = tuple(word for word in tokens if word not in ("typename", "const", "std"))
        plain = plain[1:] if plain[:1] == ("::",) else plain
        kind = self.kind(plain, frame)
        given = bool(kind) and kind[0] in self.structs and kind[1:2] == ("<",)  # its arguments may have names, too
        if (kind != plain and not given) or (kind and kind[0] in WORDS_OF_TYPES | {*SIZES} and kind[1:2] != ("(",)):
            return kind
        if len(kind) == 1 and (kind[0] in self.functions or kind[0] == self.wanted):
            return kind
        if kind and kind[0] in self.structs and kind[-1:] in (kind[:1], (">",)) and "::" not in kind:
            inner = (self.argument(one, frame) for one in split_arguments(kind[2:-1]))
            filled = [word for one in inner for word in (",", *one)][1:]
            return (kind[0], "<", *filled, ">") if len(kind) > 1 else kind
        found = self.value(read(tokens), frame)
        if isinstance(found, Called):
            return tokens
        if not isinstance(found, Code):
            return tokens
        known = self.number(found.tokens) if len(found.tokens) > 1 else None
        return found.tokens if known is None else (str(known),)

    def bind(self, name: str, tokens: Tokens, frame: Frame) -> None:
        """Give a template's parameter its argument."""
        first = tokens[0] if tokens else ""
        if first in WORDS_OF_TYPES | {*SIZES} or first in self.structs or first in self.functions:
            frame.types[name] = tokens
        elif len(tokens) > 1 or first in self.names or _NUMBER.fullmatch(first):
            frame.scopes[-1][name] = Cell(self.named(name, Code(tokens)), name)
        else:
            frame.types[name] = tokens

    def _unary(self, node: Node, frame: Frame) -> Value:
        sign = node[1]
        if sign == "&":
            cell = self.cell(node[2], frame)
            return Address(cell) if cell is not None else self.value(node[2], frame)
        found = self.value(node[2], frame)
        if sign == "*":
            if isinstance(found, Address):
                return found.cell.value if found.cell.value is not None else self.symbol(found.cell.called or "value")
            return found
        if sign in ("++", "--"):
            cell = self.cell(node[2], frame)
            if cell is not None and isinstance(found, Code):
                cell.value = self.named(cell.called, Code((*bracketed(found.tokens), sign[0], "1")))
            return found
        if isinstance(found, Code) and sign in ("-", "!"):
            return Code((sign, *bracketed(found.tokens)))
        return found if sign == "+" else None

    def _binary(self, node: Node, frame: Frame) -> Value:
        sign = node[1]
        left, right = self.value(node[2], frame), self.value(node[3], frame)
        if not isinstance(left, Code) or not isinstance(right, Code):
            return left if isinstance(left, Code) and sign in ("+", "-") and right is None else None
        if sign in ("<<", ">>"):
            number = self.number(right.tokens)
            if number is None or not 0 <= number < 31:
                return None
            sign, right = "*/"[sign == ">>"], Code((str(1 << number),))
        if len(left.tokens) + len(right.tokens) > LONGEST:
            return None
        made = (*bracketed(left.tokens), sign, *bracketed(right.tokens))
        return Code(rounded_up(made) or made)

    def _choice(self, node: Node, frame: Frame) -> Value:
        condition = self.value(node[1], frame)
        asked = self.truth(condition)
        if asked is None or (isinstance(condition, Code) and not _REMAINDERS.isdisjoint(condition.tokens)):
            one, other = self.value(node[2], frame), self.value(node[3], frame)
            # A number of blocks is rounded up also where the remainder is known to be 0 at the size in the file.
            rounded = _rounding(condition, one, other)
            if rounded or asked is None:
                return rounded or (one if one is not None else other)
        return self.value(node[2 if asked else 3], frame)

    def _assign(self, node: Node, frame: Frame) -> Value:
        _, sign, target, given = node
        value = self.value(given, frame)
        if given[0] == "braces" and isinstance(value, Struct) and not value.kind:
            old = self.value(target, frame)
            if isinstance(old, Struct):
                value = self.made(old.kind, given[2], frame)
        cell = self.cell(target, frame, make=True)
        if sign != "=" and cell is not None:
            both = self._binary(("binary", sign[:-1], ("known", cell.value), ("known", value)), frame)
            value = both
        if cell is not None:
            cell.value = self.named(cell.called, copied(value))
        return value

    def _known(self, node: Node, frame: Frame) -> Value:
        found: Value = node[1]
        return found

    def cell(self, node: Node, frame: Frame, *, make: bool = False) -> Cell | None:
        """Return the place of a value; None for a value without one.

        Parameters
        ----------
        node, frame
            The expression, and the variables that it sees.
        make
            Whether a variable that nobody declared gets a place: it is then a member of a class declared elsewhere.
        """
        if node[0] == "name":
            return self._cell_of_name(node[1], frame, make=make)
        if node[0] == "member":
            return self._cell_of_member(node, frame, make=make)
        if node[0] == "unary" and node[1] == "*":
            found = self.value(node[2], frame)
            return found.cell if isinstance(found, Address) else self.cell(node[2], frame)
        if node[0] == "index":
            owner, number = self.value(node[1], frame), self.truth(self.value(node[2], frame))
            if isinstance(owner, Array) and number is not None and 0 <= number < _MOST_ITEMS:
                owner.items += [None] * (number + 1 - len(owner.items))
                return Item(owner.items, number)
        return None

    def _cell_of_name(self, path: Tokens, frame: Frame, *, make: bool) -> Cell | None:
        if len(path) > 1:
            of_type = self.kind((path[-2],), frame)[0] in self.structs
            return None if of_type or make else self.outside.find(path[-1])
        found = frame.find(path[0])
        if found is None and make:
            found = Cell(None, path[0])
            (frame.this.members if frame.this else frame.scopes[min(1, len(frame.scopes) - 1)])[path[0]] = found
        return found

    def _cell_of_member(self, node: Node, frame: Frame, *, make: bool) -> Cell | None:
        owner = self.value(node[1], frame)
        place = self.cell(node[1], frame, make=make) if isinstance(owner, Code) or (owner is None and make) else None
        if isinstance(owner, Code) or place is not None:
            owner = Struct("")  # nobody declared it: it has the members that the code names
            if place is not None:
                place.value = owner
        owner = owner.cell.value if isinstance(owner, Address) else owner
        if isinstance(owner, Struct) and (owner.opened or node[2] in owner.members):
            return owner.members.setdefault(node[2], Cell(None, node[2]))
        return None

    def _member(self, node: Node, frame: Frame) -> Value:
        owner = self.value(node[1], frame)
        owner = owner.cell.value if isinstance(owner, Address) else owner
        if isinstance(owner, Struct) and node[2] not in owner.members:
            some = tuple(f for f, _ in self.functions.get(node[2], ()) if f.owner and f.owner in (owner.kind, f.owner))
            some = tuple(f for f in some if f.owner == owner.kind) or some
            if some:
                return Called(node[2], some, (), owner)
        cell = self.cell(node, frame)
        if cell is None:
            return None
        if cell.value is None:
            cell.value = self.symbol(node[2])
        return cell.value

    def _index(self, node: Node, frame: Frame) -> Value:
        cell = self.cell(node, frame)
        owner = self.value(node[1], frame)
        if cell is None and isinstance(owner, Array):
            return self.likely(owner)
        return cell.value if cell is not None else None

    def likely(self, value: Value) -> Value:
        """Return an item of an array: the first that leads to a launch, or else the first one."""
        items = value.items if isinstance(value, Array) else []
        return next((one for one in items if self._leads_by_value(one)), items[0] if items else None)

    def _leads_by_value(self, value: Value, depth: int = 0) -> bool:
        if isinstance(value, Called):
            return value.name in self.reaching
        inner: list[Value] = list(value.items) if isinstance(value, Array) else []
        inner += [cell.value for cell in value.members.values()] if isinstance(value, Struct) else []
        return depth < _DEEPEST_VALUE and any(self._leads_by_value(one, depth + 1) for one in inner)

    def _lambda(self, node: Node, frame: Frame) -> Value:
        return Lambda(node[1], node[2], frame)

    def _braces(self, node: Node, frame: Frame) -> Value:
        if not node[1]:
            if any(name for name, _ in node[2]):
                return self.made("", node[2], frame)
            return Array([self.value(item, frame) for _, item in node[2]])
        return self.made(self.kind(node[1][1][-1:], frame)[0], node[2], frame)

    def made(self, kind: str, items: Sequence[tuple[str, Node]], frame: Frame) -> Struct:
        """Return an object with the members that braces or brackets give to it."""
        default = Code(("1",)) if kind == "dim3" else None
        made = Struct(kind, {axis: Cell(default, axis) for axis in _AXES.get(kind, "")}, kind not in VECTORS)
        for name, tokens in self.fields.get(kind, {}).items():
            made.members[name] = Cell(None, name)
            if tokens:
                made.members[name].value = self.named(name, self.value(read(tokens), self.outside))
        places = [*made.members.values()]
        if len(items) == 1 and not items[0][0]:
            whole = self.value(items[0][1], frame)
            if isinstance(whole, Struct):
                return whole.copy(kind or whole.kind)
            items = [("", ("known", whole))]
        for place, (name, item) in enumerate(items):
            value = self.value(item, frame)
            if isinstance(value, Lambda) and not name and place >= len(places):
                made.members[str(place)] = Cell(value, "")  # of a type that nobody declared
            elif name or place < len(places):
                cell = made.members.setdefault(name, Cell(None, name)) if name else places[place]
                inner = isinstance(value, Array) and item[0] == "braces" and name in ("gridDim", "blockDim")
                value = self.made("dim3", item[2], frame) if inner else value
                cell.value = value if kind in VECTORS else self.named(cell.called, value)
        return made


def bracketed(tokens: Tokens) -> Tokens:
    """Return an expression as a part of another one."""
    return tokens if len(tokens) == 1 else ("(", *tokens, ")")


def _rounding(condition: Value, one: Value, other: Value) -> Code | None:
    """Return a choice that rounds a quotient up, or that is the 1 which such a sum adds; None for other choices."""
    if not isinstance(condition, Code) or not isinstance(one, Code) or not isinstance(other, Code):
        return None
    made = (*bracketed(condition.tokens), "?", *bracketed(one.tokens), ":", *bracketed(other.tokens))
    if {one.tokens, other.tokens} == {("0",), ("1",)} and not _REMAINDERS.isdisjoint(condition.tokens):
        return Code(made)
    whole = rounded_up(made)
    return Code(whole) if whole else None
