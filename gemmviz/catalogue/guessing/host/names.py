"""The names that an evaluation gives to values, their numbers, and its other facts."""

import re
from collections.abc import Mapping, Sequence

from gemmviz.catalogue.guessing.c_values import c_value
from gemmviz.catalogue.guessing.constant_objects import Fields
from gemmviz.catalogue.guessing.functions import Function, HostFile
from gemmviz.catalogue.guessing.host.expressions import Tokens, is_name
from gemmviz.catalogue.guessing.host.statements import Block
from gemmviz.catalogue.guessing.host.values import Called, Code, Frame, Value
from gemmviz.catalogue.guessing.launches import HostLaunch
from gemmviz.catalogue.guessing.struct_types import StructType, specialised

DEEPEST, LONGEST = 24, 160
"""How deep calls may be, and how many tokens an expression may have."""


class Stop(Exception):
    """Ends an evaluation: it took too long."""


class Names:
    """The facts of an evaluation of host code.

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
    asked
        Values of variables that take the place of those in the code.
    """

    def __init__(
        self,
        files: Sequence[HostFile],
        structs: Mapping[str, StructType],
        fields: Mapping[str, Fields],
        wanted: Function,
        reaching: frozenset[str],
        asked: Mapping[str, int] | None = None,
    ) -> None:
        self.files, self.structs, self.fields, self.reaching = files, structs, fields, reaching
        self.wanted = wanted.name.rpartition("::")[2]
        self.space = tuple(wanted.name.split("::")[:-1])
        self.inside: list[str] = []
        self.launches: list[HostLaunch] = []
        self.launches_elsewhere: list[HostLaunch] = []
        self.mentioned: list[Called] = []
        self.constants: dict[str, Tokens] = {}
        self.names: dict[str, Tokens | None] = {}
        self.functions: dict[str, list[tuple[Function, HostFile]]] = {}
        for file in files:
            for one in file.functions:
                self.functions.setdefault(one.name.rpartition("::")[2], []).append((one, file))
        self.specialised: dict[str, list[tuple[Tokens, StructType]]] = {}
        for file in files:
            for kind, struct in specialised(file.tokens):
                self.specialised.setdefault(kind[0], []).append((kind, struct))
        self.steps = self.depth = 0
        self.asked = asked or {}
        self.outside = Frame([{}])

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
        if depth > DEEPEST or len(tokens) > LONGEST:
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

    def kind(self, tokens: Tokens, frame: Frame) -> Tokens:
        """Return a type without the names that the file gives to it."""
        for _ in range(DEEPEST):
            if len(tokens) != 1 or tokens[0] not in frame.types:
                break
            if frame.types[tokens[0]] == tokens:
                break
            tokens = frame.types[tokens[0]]
        return tokens

    def named(self, name: str, value: Value) -> Value:
        """Return the value of a variable: its name, which stands for the value."""
        if name in self.asked and (value is None or isinstance(value, Code)):
            return self.symbol(name, (str(self.asked[name]),))
        if isinstance(value, Code):
            if len(value.tokens) == 1 and re.fullmatch(rf"{re.escape(name)}(__\d+)?", value.tokens[0]):
                return value
            return self.symbol(name, value.tokens)
        return value

    def meant(self, path: tuple[str, ...], arguments: int) -> tuple[Function, ...]:
        """Return the functions that a name may mean: of the namespace that it gives, with as many arguments."""
        some = tuple(one for one, _ in self.functions.get(path[-1], ()))
        in_space = tuple(one for one in some if tuple(one.name.split("::")[-len(path) :]) == path) or some
        return tuple(one for one in in_space if len(one.template) >= arguments) or in_space

    def run(self, block: Block, frame: Frame) -> Value:
        """Run a function's body and return its value."""
        raise NotImplementedError
