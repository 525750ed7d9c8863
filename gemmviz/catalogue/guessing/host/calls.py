"""Evaluates the calls in host code, and takes note of launches."""

import re
from collections.abc import Iterator, Sequence

from gemmviz.catalogue.guessing.functions import Function
from gemmviz.catalogue.guessing.host.evaluation import VECTORS, Evaluation
from gemmviz.catalogue.guessing.host.expressions import WORDS_OF_TYPES, Node, Tokens
from gemmviz.catalogue.guessing.host.names import DEEPEST, Stop
from gemmviz.catalogue.guessing.host.statements import declaration, statements
from gemmviz.catalogue.guessing.host.values import Address, Array, Called, Cell, Code, Frame, Lambda, Struct, Value
from gemmviz.catalogue.guessing.launches import HostLaunch
from gemmviz.catalogue.guessing.polynomial import ROUNDS_UP
from gemmviz.catalogue.guessing.tensors import DATA, SIDES, side_of

_MOST_LAUNCHES, _LONGEST_BODY = 16, 400
_BY_API = {"cudaLaunchKernel": (0, 1, 2, 4), "cudaLaunchCooperativeKernel": (0, 1, 2, 4)}
_BY_CONFIG = {"cudaLaunchKernelEx", "cudaLaunchKernelExC"}
_ROUNDS = {"ceil", "ceilf", "floor", "floorf"}


class Calls(Evaluation):
    """Evaluates calls: of the files' own functions, of CUDA's runtime, of a few functions of the C++ library."""

    def _call(self, node: Node, frame: Frame) -> Value:
        name = node[1][1][-1] if node[1][0] == "name" else ""
        if name in _BY_API or name in _BY_CONFIG or name == "cudaLaunchCooperativeKernel":
            self._by_api(name, self.given(node[2], frame)[0])
            return None
        if name in VECTORS or name.startswith("make_"):
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
            noted = len(self.launches) + len(self.launches_elsewhere)
            found = self.call(called, given, cells)
            if noted == len(self.launches) + len(self.launches_elsewhere):  # a long function is not evaluated
                self._run_reaching(given)
            return found
        if ROUNDS_UP.fullmatch(name) and len(given) == 2:  # of a library: ``cuda::ceil_div(n, 16)``
            return _rounded_up(given)
        kind = self.kind((name,), frame)
        if name and kind and (kind[0] in self.fields or kind[0] in VECTORS):
            return self.made(kind[0], [("", one) for one in node[2]], frame)
        self._run_reaching(given)  # a library that calls it back
        return _of_tensor(node)

    def _run_reaching(self, given: Sequence[Value]) -> None:
        """Run the lambdas among the arguments of a call that reach a launch."""
        for one in _lambdas(given):
            if not self.reaching.isdisjoint(one.body):
                self._run_lambda(one, [], [])

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
        if not fits or self.depth >= DEEPEST - 4:
            return None
        function, file = fits[0]
        if not self._leads_there(function, called.template, given) and len(function.body) > _LONGEST_BODY:
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
        self.inside.append(function.name)
        try:
            return self.run(statements(function.body), frame)
        finally:
            self.inside.pop()

    def _leads_there(self, function: Function, template: tuple[Tokens, ...], given: Sequence[Value]) -> bool:
        """Return whether a call may lead to the launch: by the function, or by one that it is given."""
        words = {function.name.rpartition("::")[2], *(word for tokens in template for word in tokens)}
        return not self.reaching.isdisjoint(words | {one.name for one in given if isinstance(one, Called)})

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

    def _launch(self, node: Node, frame: Frame) -> Value:
        called = self.value(node[1], frame)
        called = called.cell.value if isinstance(called, Address) else called
        parts = [
            self.made("dim3", one[2], frame) if one[0] == "braces" and not one[1] else self.value(one, frame)
            for one in node[2]
        ]
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
            given_so = plain[3]
            arguments = (
                [one.cell.value if isinstance(one, Address) else one for one in given_so.items]
                if isinstance(given_so, Array)
                else None
            )
            self._note(plain[0], [plain[i] for i in places[1:] if i < len(plain)], arguments)

    def _note(self, called: Value, parts: Sequence[Value], given: Sequence[Value] | None) -> None:
        if not isinstance(called, Called) or called.name != self.wanted or len(parts) < 2:
            return
        grid, block = (_extents(part) for part in parts[:2])
        shared = parts[2].tokens if len(parts) > 2 and isinstance(parts[2], Code) else ()
        arguments = tuple(one.tokens if isinstance(one, Code) else ("?",) for one in given or ())
        used = self._reached([*grid, *block, shared, *arguments, *called.template])
        made = HostLaunch(called.name, called.template, grid, block, shared, arguments, used)
        # A kernel of another namespace may have the same name: the one beside the function that launches it is meant.
        here = tuple(self.inside[-1].split("::")[:-1]) if self.inside else ()
        kept = self.launches if here[: len(self.space)] == self.space else self.launches_elsewhere
        if made not in kept:
            kept.append(made)
        if len(self.launches) + len(self.launches_elsewhere) >= _MOST_LAUNCHES:
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


def _of_tensor(node: Node) -> Value:
    """Return a name for a side of a tensor, ``a.size(0)``, or for its data, ``a.data_ptr<float>()``."""
    if node[1][0] != "member" or node[1][1][0] != "name":
        return None
    tensor, member = node[1][1][1][-1], node[1][2]
    if member in DATA and not node[2]:
        return Code((tensor,))
    side = node[2][0][1] if len(node[2]) == 1 and node[2][0][0] == "number" else ""
    return Code((side_of(tensor, side),)) if member in SIDES and side.isdecimal() else None


def _rounded_up(given: Sequence[Value]) -> Value:
    """Return the quotient of two values, rounded up."""
    above, below = given
    if not isinstance(above, Code) or not isinstance(below, Code):
        return None
    divisor = ("(", *below.tokens, ")")
    return Code(("(", "(", *above.tokens, ")", "+", *divisor, "-", "1", ")", "/", *divisor))


def _lambdas(given: Sequence[Value], deepest: int = 2) -> Iterator[Lambda]:
    """Yield the lambdas among values, and in their members: a list of tasks keeps them for later."""
    for one in given:
        if isinstance(one, Lambda):
            yield one
        elif isinstance(one, Struct | Array) and deepest:
            inside = one.items if isinstance(one, Array) else [cell.value for cell in one.members.values()]
            yield from _lambdas(inside, deepest - 1)


def _is_pack(function: Function, name: str) -> bool:
    """Return whether a parameter stands for any number of arguments: the function uses it as ``args...``."""
    body = function.body
    for at in (i for i, word in enumerate(body) if word == name):
        behind = body[at + 1 :] if body[at + 1 : at + 2] != (")",) else body[at + 2 :]
        if behind[:3] == (".", ".", "."):
            return True
    return False


def _extents(part: Value) -> tuple[Tokens, ...]:
    if isinstance(part, Code):
        return (part.tokens,)
    if isinstance(part, Array):
        return tuple(one.tokens if isinstance(one, Code) else ("?",) for one in part.items)
    if not isinstance(part, Struct):
        return (("?",),)
    sides = [_side(part.members.get(axis)) for axis in "xyz"]
    while len(sides) > 1 and sides[-1] == ("1",):
        sides.pop()
    return tuple(sides)


def _side(cell: Cell | None) -> Tokens:
    """Return an extent of a ``dim3``: 1 if it is not given, ``?`` if it is not known."""
    if not cell:
        return ("1",)
    return cell.value.tokens if isinstance(cell.value, Code) else ("?",)
