"""The launches of a kernel, from an evaluation of the host code around it."""

from collections.abc import Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import replace

from gemmviz.catalogue.guessing.asked_values import asked_by, asked_names
from gemmviz.catalogue.guessing.c_values import c_value
from gemmviz.catalogue.guessing.constant_objects import Fields
from gemmviz.catalogue.guessing.functions import Function, HostFile
from gemmviz.catalogue.guessing.host.names import Stop
from gemmviz.catalogue.guessing.host.run import Run
from gemmviz.catalogue.guessing.host.values import Called, Cell, Code, Struct, Tokens, Value
from gemmviz.catalogue.guessing.instantiations import instantiations
from gemmviz.catalogue.guessing.launches import HostLaunch
from gemmviz.catalogue.guessing.struct_types import StructType

_MOST_ROOTS = 8
# Of so many variables that a program asks for other values are tried.
_MOST_ASKED = 2
_USUAL = 16, 32, 8


def evaluated(
    kernel: Function, files: Sequence[HostFile], structs: Mapping[str, StructType], fields: Mapping[str, Fields]
) -> list[HostLaunch]:
    """Return the launches of a kernel that the host code makes, in the order of the code.

    The code is not run: its functions are evaluated with names for all values that it does not give.

    Parameters
    ----------
    kernel
        The kernel.
    files
        Its file, then the files around it.
    structs
        The structures with constants.
    fields
        The members of plain structures.
    """
    name = kernel.name.rpartition("::")[2]
    functions = [one for file in files for one in file.functions]
    reaching = _reaching(name, functions)
    roots = _roots(reaching, functions)[:_MOST_ROOTS]
    instantiated = instantiations(files)

    def launches(given: Mapping[str, int]) -> list[HostLaunch]:
        found: list[HostLaunch] = []
        elsewhere: list[HostLaunch] = []
        for root in roots:
            run = Run(files, structs, fields, kernel, reaching, given)
            with suppress(Stop, RecursionError):
                run.declare_outside()
                _start_mentioned(run)
                for arguments in instantiated.get(root.name.rpartition("::")[2], [()]):
                    _start(run, root, arguments)
                _start_mentioned(run)
            found += [one for one in run.launches if one not in found]
            elsewhere += [one for one in run.launches_elsewhere if one not in elsewhere]
        return found or elsewhere

    usual = launches({})
    asked = asked_names(files) if usual else frozenset()
    for name in sorted({name for one in usual for name in asked_by(one, asked)})[:_MOST_ASKED]:
        for value in _other_values(name, usual):
            more = (replace(one, asked=True) for one in launches({name: value}))
            usual += [one for one in more if one not in usual]
    return usual


def _other_values(name: str, launches: Sequence[HostLaunch]) -> tuple[int, ...]:
    """Return the likely values of a variable that a program asks for, without its default."""
    known = {value for one in launches if (value := c_value(one.constants.get(name, ()), {})) is not None}
    default = int(known.pop()) if len(known) == 1 else 0
    return (2 * default, 4 * default, default // 2) if default > 1 else (2, 4, 8) if default else _USUAL


def global_constants(
    source_files: Sequence[HostFile], structs: Mapping[str, StructType], names: Set[str]
) -> dict[str, Tokens]:
    """Return the whole numbers that the declarations outside functions give to names, however these are computed.

    Parameters
    ----------
    source_files
        The files that are compiled with the kernel are looked into.
    structs
        The structures with constants.
    names
        The wanted names.
    """
    compiled = [one for one in source_files if one.compiled]
    run = Run(compiled, structs, {}, Function("", (), (), ()), frozenset())
    run.declare_outside()
    found: dict[str, Tokens] = {}
    for name, cell in run.outside.scopes[0].items():
        if name in names and isinstance(cell.value, Code):
            number = run.number(cell.value.tokens)
            if number is not None:
                found[name] = (str(number),)
    return found


def _reaching(kernel: str, functions: Sequence[Function]) -> frozenset[str]:
    """Return the names of a kernel and of the functions that lead to it, through others too."""
    found = {kernel}
    words = {id(one): {*one.body} for one in functions}
    while True:
        more = {
            one.name.rpartition("::")[2]
            for one in functions
            if not found.isdisjoint(words[id(one)]) and one.name.rpartition("::")[2] not in found
        }
        if not more:
            return frozenset(found)
        found |= more


def _roots(reaching: frozenset[str], functions: Sequence[Function]) -> list[Function]:
    """Return the functions to begin with: those that no other one calls, then those that launch."""
    leading = [one for one in functions if not reaching.isdisjoint({*one.body} - {one.name.rpartition("::")[2]})]
    called = {word for one in leading for word in one.body if word in reaching and word != one.name.rpartition("::")[2]}
    first = [one for one in leading if one.name.rpartition("::")[2] not in called]
    first.sort(key=lambda one: one.name != "main")
    return [*first, *(one for one in leading if one not in first and "<<<" in one.body)]


def _start_mentioned(run: Run) -> None:
    """Begin with the functions that are named with their arguments: a table may be all that names them."""
    waiting, run.mentioned = run.mentioned[:_MOST_ROOTS], []
    for called in waiting:
        _start(run, called.functions[0], called.template)
    run.mentioned = []


def _start(run: Run, root: Function, template: tuple[Tokens, ...] = ()) -> None:
    given: list[Value] = []
    for one in root.parameters:
        plain = one.pointer or one.type in ("int", "unsigned", "size_t", "float", "half", "bool", "long")
        struct = one.type in run.fields and not one.pointer
        if struct:
            given.append(run.made(one.type, (), run.outside))
        else:
            given.append(run.symbol(one.name) if plain else None)
    cells: list[Cell | None] = [None] * len(given)
    owner = Struct(root.owner) if root.owner else None
    if owner is not None and root.owner in run.fields:
        owner = run.made(root.owner, (), run.outside)
    run.call(Called(root.name.rpartition("::")[2], (root,), template, owner), given, cells)
