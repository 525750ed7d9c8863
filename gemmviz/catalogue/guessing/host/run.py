"""Evaluates host code with names for what is unknown, and takes note of the launches of one kernel."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from gemmviz.catalogue.guessing.c_values import c_value
from gemmviz.catalogue.guessing.constant_objects import Fields
from gemmviz.catalogue.guessing.functions import Function, HostFile
from gemmviz.catalogue.guessing.host.expressions import WORDS_OF_TYPES, Node, Tokens, is_name, read
from gemmviz.catalogue.guessing.host.statements import Block, declaration, statements
from gemmviz.catalogue.guessing.host.values import Address, Array, Called, Cell, Code, Frame, Lambda, Struct, Value
from gemmviz.catalogue.guessing.launches import HostLaunch
from gemmviz.catalogue.guessing.struct_types import StructType
from gemmviz.catalogue.guessing.tokens import split

_MOST_STEPS, _MOST_LAUNCHES, _DEEPEST, _LONGEST = 20_000, 16, 24, 160
_VECTORS = {"dim3", "uint3", "int3", "int2", "uint2", "int4", "uint4"}
_BY_API = {"cudaLaunchKernel": (0, 1, 2, 4), "cudaLaunchCooperativeKernel": (0, 1, 2, 4)}
_BY_CONFIG = {"cudaLaunchKernelEx", "cudaLaunchKernelExC"}
_SIZES = {
    **{"float": 4, "double": 8, "half": 2, "__half": 2, "int": 4, "unsigned": 4, "char": 1, "bool": 1, "short": 2},
    **{"int8_t": 1, "uint8_t": 1, "int16_t": 2, "uint16_t": 2, "int32_t": 4, "uint32_t": 4, "int64_t": 8, "uint64_t": 8},
    **{"size_t": 8, "__nv_bfloat16": 2, "nv_bfloat16": 2, "bfloat16": 2, "half2": 4, "__half2": 4, "float2": 8},
    **{"float4": 16, "int2": 8, "int4": 16, "__nv_fp8_e4m3": 1, "__nv_fp8_e5m2": 1, "uint": 4, "long": 8},
}
_NUMBER = re.compile(r"(0[xX][0-9a-fA-F]+|\d+)[uUlL]*")
_REAL = re.compile(r"(\d+)\.0*[fF]?|(\d*\.?\d+(?:[eE][-+]?\d+)?)[fF]?")
_LEAVES = {"return", "exit", "abort", "throw", "continue", "break", "EXIT_FAILURE", "TORCH_CHECK"}
_ROUNDS = {"ceil", "ceilf", "floor", "floorf"}


class Stop(Exception):
    """Ends an evaluation: it took too long."""


class _Left(Exception):
    def __init__(self, value: Value = None) -> None:
        self.value = value


class Run:
    """One evaluation of host code.

    Parameters
    ----------
    files
        The functions, constants and declarations of the kernel's file and of the files around it.
    structs
        The structures with constants.
    fields
        The members of plain structures.
    wanted
        The kernel.
    reaching
        The names of the functions that lead to a launch of it.
    """

    def __init__(
        self,
        files: Sequence[HostFile],
        structs: Mapping[str, StructType],
        fields: Mapping[str, Fields],
        wanted: Function,
        reaching: frozenset[str],
    ) -> None:
        self.structs, self.fields, self.reaching = structs, fields, reaching
        self.wanted = wanted.name.rpartition("::")[2]
        self.launches: list[HostLaunch] = []
        self.constants: dict[str, Tokens] = {}
        self.names: dict[str, Tokens | None] = {}
        self.functions: dict[str, list[tuple[Function, HostFile]]] = {}
        for file in files:
            for one in file.functions:
                self.functions.setdefault(one.name.rpartition("::")[2], []).append((one, file))
        self.steps = self.depth = 0
        self.outside = Frame([{}])
        for file in files:
            here = Frame(self.outside.scopes, self.outside.types, None, file.constants)
            for one in _outside(file.tokens):
                self._outer(one, here)

    # Names and numbers

    def symbol(self, name: str, value: Tokens | None = None) -> Code:
        """Return a name for a value; a new one where the name stands for another value already."""
        if value == (name,):
            return Code(value)
        made, number = name, 1
        while made in self.names and self.names[made] != value:
            number += 1
            made = f"{name}__{number}"
        if made in self.names and value is None:
            number += 1
            made = f"{name}__{number}"
        self.names[made] = value
        if value is not None:
            self.constants[made] = value
        return Code((made,))

    def number(self, tokens: Tokens, depth: int = 0) -> int | None:
        """Return the value of an expression; None where it depends on something unknown."""
        if depth > _DEEPEST or len(tokens) > _LONGEST:
            return None
        values: dict[str, int] = {"true": 1, "false": 0}
        for word in {*tokens}:
            if is_name(word) and word in self.constants and word not in values:
                value = self.number(self.constants[word], depth + 1)
                if value is not None:
                    values[word] = value
        found = c_value(tokens, values)
        return int(found) if found is not None and found == int(found) else None

    def truth(self, value: Value) -> int | None:
        """Return a condition's value; None where it depends on something unknown."""
        return self.number(value.tokens) if isinstance(value, Code) else None

    # Expressions

    def value(self, node: Node, frame: Frame) -> Value:
        """Return the value of an expression."""
        self.steps += 1
        if self.steps > _MOST_STEPS or self.depth > _DEEPEST:
            raise Stop
        return getattr(self, f"_{node[0]}", self._unread)(node, frame) if node else None

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
        size = _SIZES.get(kind[-1]) if kind else None
        return Code((str(size),)) if size else None

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
            some = tuple(one for one, _ in self.functions.get(name, ()))
            given = tuple(self.argument(one, frame) for one in node[2] or ())
            owner = frame.this if any(one.owner for one in some) else None
            return Called(name, some, given, owner)
        if len(path) == 1 and name in frame.types:
            return self.value(read(frame.types[name]), self.outside) if frame.types[name] != (name,) else None
        if name in ("true", "false"):
            return Code((name,))
        known = frame.constants.get(name)
        if known is not None:
            return self.symbol(name, tuple(known))
        return None

    def _of_type(self, path: Tokens, given: tuple[Tokens, ...] | None, frame: Frame) -> Value:
        """Return the constant of a structure: ``Tile<128>::rows``."""
        owner = self.kind((path[-2],), frame)
        struct = self.structs.get(owner[0]) if owner else None
        tokens = struct.members.get(path[-1]) if struct else None
        if tokens is None or struct is None:
            return None
        arguments = given or (tuple(split(owner[2:-1])) if owner[1:2] == ("<",) else ())
        inside = Frame([*self.outside.scopes, {}], dict(frame.types), None, frame.constants)
        for name, argument in zip(struct.parameters, arguments, strict=False):
            self.bind(name, self.argument(argument, frame), inside)
        for name, value in struct.members.items():
            if name != path[-1]:
                inside.scopes[-1].setdefault(name, Cell(self._member_of(value, inside), name))
        return self.value(read(tokens), inside)

    def _member_of(self, tokens: Tokens, frame: Frame) -> Value:
        self.depth += 1
        try:
            return self.value(read(tokens), frame)
        finally:
            self.depth -= 1

    def kind(self, tokens: Tokens, frame: Frame) -> Tokens:
        """Return a type without the names that the file gives to it."""
        for _ in range(_DEEPEST):
            if len(tokens) != 1 or tokens[0] not in frame.types:
                break
            if frame.types[tokens[0]] == tokens:
                break
            tokens = frame.types[tokens[0]]
        return tokens

    def argument(self, tokens: Tokens, frame: Frame) -> Tokens:
        """Return a template argument in terms of what stays known outside of a function: a type, or a number."""
        plain = tuple(word for word in tokens if word not in ("typename", "const", "std"))
        plain = plain[1:] if plain[:1] == ("::",) else plain
        kind = self.kind(plain, frame)
        if kind != plain or (kind and kind[0] in WORDS_OF_TYPES | {*_SIZES} and kind[1:2] != ("(",)):
            return kind
        if len(kind) == 1 and (kind[0] in self.functions or kind[0] == self.wanted):
            return kind
        if kind and kind[0] in self.structs and kind[-1:] in (kind[:1], (">",)) and "::" not in kind:
            inner = (self.argument(one, frame) for one in split(kind[2:-1]))
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
        if first in WORDS_OF_TYPES | {*_SIZES} or first in self.structs or first in self.functions:
            frame.types[name] = tokens
        elif len(tokens) == 1 and (first in self.names or _NUMBER.fullmatch(first)) or len(tokens) > 1:
            frame.scopes[-1][name] = Cell(self.named(name, Code(tokens)), name)
        else:
            frame.types[name] = tokens

    def named(self, name: str, value: Value) -> Value:
        """Return the value of a variable: its name, which stands for the value."""
        if isinstance(value, Code):
            if len(value.tokens) == 1 and re.fullmatch(rf"{re.escape(name)}(__\d+)?", value.tokens[0]):
                return value
            return self.symbol(name, value.tokens)
        return value

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
                cell.value = self.named(cell.called, Code((*_bracketed(found.tokens), sign[0], "1")))
            return found
        if isinstance(found, Code) and sign in ("-", "!"):
            return Code((sign, *_bracketed(found.tokens)))
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
        if len(left.tokens) + len(right.tokens) > _LONGEST:
            return None
        return Code((*_bracketed(left.tokens), sign, *_bracketed(right.tokens)))

    def _choice(self, node: Node, frame: Frame) -> Value:
        asked = self.truth(self.value(node[1], frame))
        if asked is None:
            one, other = self.value(node[2], frame), self.value(node[3], frame)
            return one if one is not None else other
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
            cell.value = self.named(cell.called, _copied(value))
        return value

    def _known(self, node: Node, frame: Frame) -> Value:
        return node[1]

    def cell(self, node: Node, frame: Frame, *, make: bool = False) -> Cell | None:
        """Return the place of a value; None for a value without one."""
        if node[0] == "name":
            if len(node[1]) > 1 and not make:
                return self.outside.find(node[1][-1]) if not self.kind((node[1][-2],), frame)[0] in self.structs else None
            found = frame.find(node[1][-1])
            if found is None and make and len(node[1]) == 1:  # a member of a class that is declared elsewhere
                found = Cell(None, node[1][0])
                (frame.this.members if frame.this else frame.scopes[min(1, len(frame.scopes) - 1)])[node[1][0]] = found
            return found
        if node[0] == "member":
            owner = self.value(node[1], frame)
            if owner is None and make and (place := self.cell(node[1], frame, make=True)) is not None:
                owner = place.value = Struct("")
            owner = owner.cell.value if isinstance(owner, Address) else owner
            if isinstance(owner, Code):
                # A structure that nobody declared: it has the members that the code names.
                place = self.cell(node[1], frame)
                owner = Struct("")
                if place is not None:
                    place.value = owner
            if isinstance(owner, Struct) and (owner.opened or node[2] in owner.members):
                return owner.members.setdefault(node[2], Cell(None, node[2]))
        if node[0] == "unary" and node[1] == "*":
            found = self.value(node[2], frame)
            return found.cell if isinstance(found, Address) else self.cell(node[2], frame)
        if node[0] == "index":
            owner, at = self.value(node[1], frame), self.value(node[2], frame)
            number = self.truth(at)
            if isinstance(owner, Array) and number is not None and 0 <= number < 64:
                while len(owner.items) <= number:
                    owner.items.append(None)
                return _Item(owner.items, number)
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
        if cell is None and isinstance(owner, Array) and owner.items:
            return owner.items[0]
        return cell.value if cell is not None else None

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
        if kind in _VECTORS:
            made = Struct(kind, {axis: Cell(default, axis) for axis in "xyzw"[: 4 if kind.endswith("4") else 3]}, False)
        else:
            made = Struct(kind, {})
            for name, tokens in self.fields.get(kind, {}).items():
                made.members[name] = Cell(None, name)
                if tokens:
                    made.members[name].value = self.named(name, self.value(read(tokens), self.outside))
        places = [*made.members.values()]
        if len(items) == 1 and not items[0][0]:
            whole = self.value(items[0][1], frame)
            if isinstance(whole, Struct):
                copied = _copied(whole)
                return replace(copied, kind=kind or whole.kind) if isinstance(copied, Struct) else made
            items = [("", ("known", whole))]
        for place, (name, item) in enumerate(items):
            value = self.value(item, frame)
            cell = made.members.setdefault(name, Cell(None, name)) if name else (places[place : place + 1] or [None])[0]
            if cell is not None:
                inner = isinstance(value, Array) and item[0] == "braces" and name in ("gridDim", "blockDim")
                value = self.made("dim3", item[2], frame) if inner else value
                cell.value = value if kind in _VECTORS else self.named(cell.called, value)
        return made

    # Calls

    def _call(self, node: Node, frame: Frame) -> Value:
        name = node[1][1][-1] if node[1][0] == "name" else ""
        if name in _BY_API or name in _BY_CONFIG or name == "cudaLaunchCooperativeKernel":
            self._by_api(name, self.given(node[2], frame)[0])
            return None
        if name in _VECTORS or name.startswith("make_"):
            return self.made(name.removeprefix("make_"), [("", one) for one in node[2]], frame)
        if name in ("max", "min") and len(node[2]) == 2:
            return self._extreme(name, [self.value(one, frame) for one in node[2]])
        if name in ("move", "forward", "ref", "cref") and len(node[2]) == 1:
            return self.value(node[2][0], frame)
        if name in _ROUNDS | WORDS_OF_TYPES and len(node[2]) == 1:
            found = self.value(node[2][0], frame)
            if not isinstance(found, Code):
                return None
            word = name.removesuffix("f") if name in _ROUNDS else ""
            return Code((word, "(", *found.tokens, ")")) if word else found
        called = self.value(node[1], frame)
        given, cells = self.given(node[2], frame)
        if isinstance(called, Address):
            called = called.cell.value
        if isinstance(called, Lambda):
            return self._run_lambda(called, given, cells)
        if isinstance(called, Called):
            return self.call(called, given, cells)
        kind = self.kind((name,), frame)
        if name and kind and (kind[0] in self.fields or kind[0] in _VECTORS):
            return self.made(kind[0], [("", one) for one in node[2]], frame)
        for one in given:  # a library that calls it back
            if isinstance(one, Lambda) and not self.reaching.isdisjoint(one.body):
                self._run_lambda(one, [], [])
        return None

    def given(self, nodes: Sequence[Node], frame: Frame) -> tuple[list[Value], list[Cell | None]]:
        """Return the arguments of a call, and the places of those that have one."""
        values: list[Value] = []
        cells: list[Cell | None] = []
        for one in nodes:
            found = self.value(one[1] if one[0] == "expand" else one, frame)
            if one[0] == "expand" and isinstance(found, Array):
                values += found.items
                cells += [None] * len(found.items)
            else:
                values.append(found)
                cells.append(self.cell(one, frame))
        return values, cells

    def _extreme(self, name: str, given: list[Value]) -> Value:
        first, second = given
        if not isinstance(first, Code) or not isinstance(second, Code):
            return None
        known = self.number((name, "(", *first.tokens, ",", *second.tokens, ")"))
        if known is not None:
            return Code((str(known),))
        return Code((name, "(", *first.tokens, ",", *second.tokens, ")"))

    def call(self, called: Called, given: list[Value], cells: list[Cell | None]) -> Value:
        """Return the value of a call of a function of the files."""
        some = [(one, file) for one, file in self.functions.get(called.name, ()) if one in called.functions]
        fits = [pair for pair in some if len(pair[0].parameters) == len(given)] or some
        if not fits or self.depth >= _DEEPEST - 4:
            return None
        function, file = fits[0]
        if self.reaching.isdisjoint((function.name.rpartition("::")[2],)) and len(function.body) > 400:
            return None
        frame = Frame([*self.outside.scopes, {}], dict(self.outside.types), called.owner, file.constants)
        self._template(function, called.template, given, frame)
        for at, parameter in enumerate(function.parameters):
            if at == len(function.parameters) - 1 and _is_pack(function, parameter.name):
                frame.scopes[-1][parameter.name] = Cell(Array(list(given[at:])), parameter.name)
                continue
            if at >= len(given):
                frame.scopes[-1][parameter.name] = Cell(None, parameter.name)
                continue
            value = given[at]
            cell = cells[at] if at < len(cells) else None
            if cell is not None and isinstance(value, Struct):
                frame.scopes[-1][parameter.name] = cell
            elif isinstance(value, Code):
                frame.scopes[-1][parameter.name] = Cell(self.named(parameter.name, value), parameter.name)
            else:
                frame.scopes[-1][parameter.name] = Cell(value, parameter.name)
        return self.run(statements(function.body), frame)

    def _template(self, function: Function, template: tuple[Tokens, ...], given: list[Value], frame: Frame) -> None:
        for place, (kind, name, default) in enumerate(function.template):
            if place < len(template):
                self.bind(name, template[place], frame)
            elif default:
                self.bind(name, self.argument(tuple(re.findall(r"\w+|[^\s\w]", default)), frame), frame)
            elif kind not in ("typename", "class"):
                frame.scopes[-1][name] = Cell(self.symbol(name), name)

    def _run_lambda(self, called: Lambda, given: list[Value], cells: list[Cell | None]) -> Value:
        frame = called.frame.inner()
        for at, part in enumerate(called.parameters):
            read_so = declaration(part)
            name = read_so[2][0][0] if read_so else part[-1]
            value = given[at] if at < len(given) else None
            frame.scopes[-1][name] = Cell(self.named(name, value) if isinstance(value, Code) else value, name)
        return self.run(statements(called.body), frame)

    # Launches

    def _launch(self, node: Node, frame: Frame) -> Value:
        called = self.value(node[1], frame)
        called = called.cell.value if isinstance(called, Address) else called
        parts = [self.made("dim3", one[2], frame) if one[0] == "braces" and not one[1] else self.value(one, frame) for one in node[2]]
        self._note(called, parts, self.given(node[3], frame)[0])
        return None

    def _by_api(self, name: str, given: list[Value]) -> None:
        plain = [one.cell.value if isinstance(one, Address) else one for one in given]
        if name in _BY_CONFIG:
            config = plain[0] if plain else None
            if isinstance(config, Struct) and len(plain) > 1:
                parts = [config.members.get(key, Cell()).value for key in ("gridDim", "blockDim", "dynamicSmemBytes")]
                self._note(plain[1], parts, plain[2:])
        elif len(plain) > 3:
            places = _BY_API[name]
            self._note(plain[0], [plain[i] for i in places[1:] if i < len(plain)], None)

    def _note(self, called: Value, parts: Sequence[Value], given: Sequence[Value] | None) -> None:
        if not isinstance(called, Called) or called.name != self.wanted or len(parts) < 2:
            return
        grid, block = (_extents(part) for part in parts[:2])
        shared = parts[2].tokens if len(parts) > 2 and isinstance(parts[2], Code) else ()
        arguments = tuple(one.tokens if isinstance(one, Code) else ("?",) for one in given or ())
        used = self._reached([*grid, *block, shared, *arguments, *called.template])
        made = HostLaunch(called.name, called.template, grid, block, shared, arguments, used)
        if made not in self.launches:
            self.launches.append(made)
        if len(self.launches) >= _MOST_LAUNCHES:
            raise Stop

    def _reached(self, some: Sequence[Tokens]) -> dict[str, Tokens]:
        found: dict[str, Tokens] = {}
        waiting = [word for tokens in some for word in tokens]
        while waiting:
            word = waiting.pop()
            if word in self.constants and word not in found:
                found[word] = self.constants[word]
                waiting += self.constants[word]
        return found

    # Statements

    def run(self, block: Block, frame: Frame) -> Value:
        """Run a function's body and return what it returns."""
        self.depth += 1
        try:
            self.block(block, frame)
        except _Left as left:
            return left.value
        finally:
            self.depth -= 1
        return None

    def block(self, block: Block, frame: Frame) -> None:
        """Run statements in the scope that is open."""
        for one in block:
            self.statement(one, frame)

    def statement(self, node: Node, frame: Frame) -> None:
        """Run one statement."""
        what = node[0]
        if what == "block":
            self.block(node[1], frame.inner() if not _declares_only(node[1]) else frame)
        elif what == "expression":
            self.value(node[1], frame)
        elif what == "declare":
            self.declare(node, frame)
        elif what == "alias":
            frame.types[node[1]] = self.argument(node[2], frame)
        elif what == "return":
            raise _Left(_copied(self.value(node[1], frame)) if node[1] else None)
        elif what == "if":
            self._if(node, frame)
        elif what == "loop":
            inner = frame.inner()
            self._head(node[1], inner)
            self.block(node[2], inner.inner())
        elif what == "switch":
            self._switch(node, frame)

    def _if(self, node: Node, frame: Frame) -> None:
        asked = self.truth(self.value(node[1], frame))
        then, other = node[2], node[3]
        leads = [self._leads(block) for block in (then, other)]
        if asked is None or leads[not asked]:
            if leads == [True, True] and asked is None:
                self._both(then, other, frame)
                return
            if leads[0] != leads[1]:
                # The launch is in one of the branches: the other one is what happens for other arguments.
                self._guarded(then if leads[0] else other, frame)
                return
            if asked is None:
                asked = int(not _leaves(then))
        self.block(then if asked else other, frame.inner())

    def _both(self, then: Block, other: Block, frame: Frame) -> None:
        for one in (then, other):
            self._guarded(one, frame)

    def _guarded(self, block: Block, frame: Frame) -> None:
        """Run a branch; what follows it runs even if the branch leaves the function."""
        try:
            self.block(block, frame.inner())
        except _Left:
            return

    def _switch(self, node: Node, frame: Frame) -> None:
        self.value(node[1], frame)
        leading = [block for block in node[2] if self._leads(block)]
        for block in leading or node[2][:1]:
            self._guarded(block, frame)

    def _leads(self, block: Block) -> bool:
        return _mentions(block, self.reaching)

    def _head(self, node: Node, frame: Frame) -> None:
        if node[0] == "declare":
            for name, *_ in node[2]:
                frame.scopes[-1][name] = Cell(None, name)
        elif node[0] == "expression" and node[1][0] == "assign":
            cell = self.cell(node[1][2], frame)
            if cell is not None:
                cell.value = None

    def declare(self, node: Node, frame: Frame) -> None:
        """Declare variables."""
        kind = self.kind(node[1], frame)
        for name, sign, extents, given in node[2]:
            cell = Cell(None, name)
            if extents:
                items = self.value(given[1], frame) if given else None
                cell.value = items if isinstance(items, Array) else Array([])
            elif given and given[0] == "=":
                if given[1][0] == "braces" and not given[1][1] and not sign:
                    cell.value = self._of_braces(kind, given[1], name, frame)
                else:
                    if sign == "&" and (place := self.cell(given[1], frame)) is not None:
                        frame.scopes[-1][name] = place
                        continue
                    cell.value = self.named(name, _copied(self.value(given[1], frame)))
            elif given:
                node_made = given[1]
                items = node_made[2]
                pairs = list(items) if node_made[0] == "braces" else [("", one) for one in items]
                cell.value = self._of_items(kind, pairs, name, frame)
            elif not sign and kind and (kind[-1] in _VECTORS or kind[0] in self.fields):
                cell.value = self.made(kind[-1] if kind[-1] in _VECTORS else kind[0], (), frame)
            elif not sign and kind and kind[0] not in WORDS_OF_TYPES and kind[0] not in _SIZES:
                cell.value = Struct(kind[0])
            frame.scopes[-1][name] = cell

    def _of_braces(self, kind: Tokens, node: Node, name: str, frame: Frame) -> Value:
        return self._of_items(kind, list(node[2]), name, frame)

    def _of_items(self, kind: Tokens, items: list[tuple[str, Node]], name: str, frame: Frame) -> Value:
        first = kind[-1] if kind and kind[-1] in _VECTORS else kind[0] if kind else ""
        if first in WORDS_OF_TYPES or first in _SIZES:
            return self.named(name, self.value(items[0][1], frame)) if len(items) == 1 else None
        if first in ("vector", "array", "initializer_list") or kind[:3] == ("std", "::", "vector"):
            return Array([self.value(item, frame) for _, item in items])
        return self.made(first, items, frame)

    def _outer(self, node: Node, frame: Frame) -> None:
        try:
            if node[0] == "alias":
                self.outside.types.setdefault(node[1], node[2])
            elif node[0] == "declare" and all(self._is_new(name) for name, *_ in node[2]):
                self.declare(node, frame)
        except (Stop, _Left):
            return


    def _is_new(self, name: str) -> bool:
        return name not in self.outside.scopes[0] and name not in self.functions and name != self.wanted


class _Item(Cell):
    """The place of an item of an array."""

    def __init__(self, items: list[Value], at: int) -> None:
        self.items, self.at, self.called = items, at, "item"

    @property
    def value(self) -> Value:
        return self.items[self.at]

    @value.setter
    def value(self, value: Value) -> None:
        self.items[self.at] = value


def _is_pack(function: Function, name: str) -> bool:
    """Return whether a parameter stands for any number of arguments: the function uses it as ``args...``."""
    body = function.body
    for at in (i for i, word in enumerate(body) if word == name):
        behind = body[at + 1 :] if body[at + 1 : at + 2] != (")",) else body[at + 2 :]
        if behind[:3] == (".", ".", "."):
            return True
    return False


def _bracketed(tokens: Tokens) -> Tokens:
    return tokens if len(tokens) == 1 else ("(", *tokens, ")")


def _copied(value: Value) -> Value:
    if isinstance(value, Struct):
        members = {name: Cell(_copied(cell.value), cell.called) for name, cell in value.members.items()}
        return Struct(value.kind, members, value.opened)
    return value


def _extents(part: Value) -> tuple[Tokens, ...]:
    if isinstance(part, Code):
        return (part.tokens,)
    if isinstance(part, Array):
        return tuple(one.tokens if isinstance(one, Code) else ("?",) for one in part.items)
    if not isinstance(part, Struct):
        return (("?",),)
    cells = (part.members.get(axis) for axis in "xyz")
    sides = [cell.value.tokens if cell and isinstance(cell.value, Code) else ("1",) if not cell else ("?",) for cell in cells]
    while len(sides) > 1 and sides[-1] == ("1",):
        sides.pop()
    return tuple(sides)


def _declares_only(block: Block) -> bool:
    return bool(block) and all(one[0] == "declare" for one in block)


def _leaves(block: Block) -> bool:
    return _mentions(block, frozenset(_LEAVES)) or any(one[0] in ("return", "leave") for one in block)


def _mentions(node: object, words: frozenset[str]) -> bool:
    """Return whether a word stands anywhere in a node."""
    if isinstance(node, str):
        return node in words
    return isinstance(node, tuple) and any(_mentions(one, words) for one in node)


def _outside(tokens: Sequence[str]) -> Block:
    """Return the declarations outside of functions."""
    kept: list[str] = []
    at = 0
    depth_of_spaces = 0
    from gemmviz.catalogue.guessing.tokens import closing

    while at < len(tokens):
        token = tokens[at]
        if token in ("namespace", "extern") and "{" in tokens[at : at + 8]:
            opens = tokens.index("{", at)
            if ";" not in tokens[at:opens] and "(" not in tokens[at:opens]:
                at, depth_of_spaces = opens + 1, depth_of_spaces + 1
                kept.append(";")
                continue
        if token == "}" and depth_of_spaces:
            depth_of_spaces -= 1
            at += 1
            continue
        if token == "{":
            end = closing(tokens, at)
            if kept and kept[-1] == ")" or "template" in kept[-40:] and ";" not in kept[-40:]:
                kept = kept[: _last_end(kept)]
                at = end + 1
                continue
            kept += tokens[at : end + 1]
            at = end + 1
            continue
        kept.append(token)
        at += 1
    return statements(tuple(kept))


def _last_end(kept: list[str]) -> int:
    for at in range(len(kept) - 1, -1, -1):
        if kept[at] in (";", "}"):
            return at + 1
    return 0
