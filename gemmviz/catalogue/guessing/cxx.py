"""Reads just enough C and CUDA to describe a kernel: functions, parameters, constants and launches. It runs nothing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice

from gemmviz.catalogue.guessing.callers import ways_up
from gemmviz.catalogue.guessing.concepts import concepts, with_types
from gemmviz.catalogue.guessing.constant_objects import Fields, Objects
from gemmviz.catalogue.guessing.declarations import VARIABLE, WORD, assigned, constants_of, functions_of, global_values
from gemmviz.catalogue.guessing.enumerations import OF_CUBLAS, enumerations, numbers_of, with_enums
from gemmviz.catalogue.guessing.functions import Function, HostFile, Parameter
from gemmviz.catalogue.guessing.handed_shapes import with_shapes_of_callers
from gemmviz.catalogue.guessing.hip import as_cuda
from gemmviz.catalogue.guessing.launches import HostLaunch, by_pointer, launches, tidy
from gemmviz.catalogue.guessing.macros import DIRECTIVE, Macro, expand, launching, macros, rounded, small
from gemmviz.catalogue.guessing.matrix_views import plain_views
from gemmviz.catalogue.guessing.namespaced_constants import with_own_names
from gemmviz.catalogue.guessing.struct_parameters import Layouts, layouts, with_sizes
from gemmviz.catalogue.guessing.struct_types import StructType, aliases, full_type, structs, with_members
from gemmviz.catalogue.guessing.tokens import (
    LONGEST,
    is_whole,
    numbered,
    with_whole_launches,
    without_comments,
)
from gemmviz.catalogue.guessing.type_aliases import naming, resolved, type_aliases

_LAUNCHES = {"<<<", "cudaLaunchKernel", "cudaLaunchKernelEx", "cudaLaunchKernelExC"}
_MOST_WAYS = 8  # ways in which a launching function is called


@dataclass(frozen=True)
class ParsedSource:
    """The declarations and launches of a file.

    Attributes
    ----------
    kernels
        ``__global__`` functions with a body.
    functions
        The other functions with a body.
    constants
        Whole-number constants of the file, as tokens: macros, ``constexpr``, ``const``, ``enum``.
    tunable
        Macros that a compiler option may set, because they stand behind ``#ifndef``.
    launches
        Launches by host code of this file.
    words
        Every identifier of the file.
    sizes
        Constants that stand for sizes, see `gemmviz.catalogue.guessing.size_constants`.
    structs
        Structures with constants, of the file and its headers.
    layouts
        Structures that may be a matrix, of the file and its headers.
    callers
        The functions of the file, its headers and the files that launch its kernels.
    files
        The file, its headers and the files that launch its kernels.
    fields
        The members of plain structures, by name.
    definitions
        The values of macros that the compiler gets from outside of the files.
    enums
        The values of the enumerations of the file and its headers, by name.
    variables
        The names of variables of the GPU outside functions: ``__shared__ float A_S[32];``.
    """

    kernels: tuple[Function, ...]
    functions: tuple[Function, ...]
    constants: dict[str, tuple[str, ...]]
    tunable: frozenset[str]
    launches: tuple[HostLaunch, ...]
    words: frozenset[str]
    sizes: frozenset[str] = frozenset()
    structs: dict[str, StructType] = field(default_factory=dict)
    layouts: Layouts = field(default_factory=dict)
    callers: tuple[Function, ...] = ()
    files: tuple[HostFile, ...] = ()
    fields: Mapping[str, Fields] = field(default_factory=dict)
    definitions: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    enums: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    variables: frozenset[str] = frozenset()

    def constants_without_tunable(self) -> dict[str, tuple[str, ...]]:
        """Return the constants that no compiler option can set."""
        return {name: value for name, value in self.constants.items() if name not in self.tunable}


@dataclass(frozen=True)
class Surroundings:
    """The texts around a file.

    Attributes
    ----------
    headers
        They are compiled with it.
    others
        They launch its kernels.
    scripts
        They start the compiler, and may give it definitions.
    missing
        The headers that are nowhere, and the path of the submodule that they may be in; empty where none is known.
    """

    headers: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    scripts: tuple[str, ...] = ()
    missing: tuple[tuple[str, str], ...] = ()


def read_source(text: str, around: Surroundings | None = None) -> ParsedSource:
    """Read a file. Parts that cannot be parsed are left out, and no error is raised for them.

    Parameters
    ----------
    text
        The file.
    around
        Further files, for constants, macros and launches.
    """
    around = around or Surroundings()
    plain, *plain_headers = plain_views([_plain(one) for one in (text, *around.headers)])
    objects, functions, tunable, known = macros(plain)
    declared: dict[str, tuple[str, ...]] = {}
    known_structs: dict[str, StructType] = {}
    helpers: list[Function] = []
    known_objects, known_layouts = Objects(), dict[str, tuple[Parameter, ...]]()
    enums: dict[str, tuple[str, ...]] = {}
    for header in plain_headers:
        more = macros(header)
        objects, functions = more[0] | objects, more[1] | functions
        tunable, known = tunable | more[2], known | more[3] | frozenset(WORD.findall(header))
        inside = assigned(*numbered(_blank(header)))
        declared |= constants_of(inside[0])
        known_structs |= structs(inside[0])
        known_objects = known_objects.and_those_of(inside[0])
        known_layouts |= layouts(inside[0])
        enums |= enumerations(inside[0])
        helpers += functions_of(*inside, objects, functions)[1]
    tokens, lines = numbered(_blank(plain))
    tokens = with_own_names(tokens)
    renamed = type_aliases((*plain_headers, plain), objects)
    tokens, lines = launching(*assigned(tokens, lines), functions)
    known_structs |= structs(tokens)
    known_objects = known_objects.and_those_of(tokens)
    known_layouts |= layouts(tokens)
    mine = functions_of(tokens, lines, objects, functions)
    functions = small((*helpers, *mine[0], *mine[1])) | functions
    functions |= rounded(functions)
    kernels, others = functions_of(tokens, lines, objects, functions)
    # A macro that is also a variable of some file would replace the name in the variable's declaration.
    tunable -= declared.keys() | constants_of(tokens).keys()
    constants = declared | {name: value for name, value in objects.items() if is_whole(value)} | constants_of(tokens)
    enums |= enumerations(tokens) | OF_CUBLAS
    chosen = {p.type for one in kernels for p in one.parameters if not p.pointer} & enums.keys()
    texts = [*chain(*(numbered(_blank(one))[0] for one in plain_headers)), *tokens] if chosen else []
    constants = numbers_of(texts, chosen) | constants
    kernels = [with_enums(one, chosen) for one in kernels]
    named = concepts((*plain_headers, plain))
    kernels, others = ([with_types(known_objects.filled(one), named) for one in some] for some in (kernels, others))
    around_it = [_neighbour(header, objects, functions, known_objects) for header in plain_headers]
    others_around = (_neighbour(_plain(other), objects, functions, known_objects) for other in around.others)
    around_it += [replace(other, compiled=False) for other in others_around]
    callers = (*others, *(one for neighbour in around_it for one in neighbour.functions))
    names = frozenset(kernel.name.rpartition("::")[2] for kernel in kernels)
    here = HostFile(expand(tokens, objects, functions), others, global_values(tokens))
    found = _launches_of(here, names, callers, known_structs, known_layouts)
    for neighbour in around_it:
        found += _launches_of(neighbour, names, callers, known_structs, known_layouts)
    return ParsedSource(
        tuple(resolved(kernel, renamed) for kernel in kernels),
        (*(resolved(other, renamed) for other in others), *helpers),
        constants,
        tunable,
        tuple(found),
        frozenset(WORD.findall(plain)) | known,
        structs=known_structs,
        layouts=known_layouts,
        callers=callers,
        files=(replace(here, constants={**constants, **here.constants}), *around_it),
        fields=known_objects.types,
        enums=enums,
        variables=frozenset(name for one in (*plain_headers, plain) for name in VARIABLE.findall(one)),
    )


def kernels_of(text: str) -> Sequence[Function]:
    """Return the kernels of a text alone, without macros and without aliases of types."""
    return functions_of(*numbered(_blank(_plain(text))), {}, {})[0]


def given_launches(text: str) -> frozenset[str]:
    """Return the names of a text's functions that launch a kernel as their callers say.

    These are templates, members of a template (the name is then the structure's), and functions that get a ``dim3``.
    """
    if "<<<" not in with_whole_launches(text) and "hipLaunch" not in text:
        return frozenset()
    functions = functions_of(*numbered(_blank(_plain(text))), {}, {})[1]
    launching = [one for one in functions if not _LAUNCHES.isdisjoint(one.body)]
    given = (one for one in launching if one.owner_template or one.template or _gets_shape(one))
    return frozenset(one.owner or one.name.rpartition("::")[2] for one in given)


def _gets_shape(function: Function) -> bool:
    return any(p.type == "dim3" for p in function.parameters)


def _neighbour(
    plain: str, objects: dict[str, tuple[str, ...]], functions: dict[str, Macro], known: Objects
) -> HostFile:
    """Return another file, with the macros of this one and its own."""
    own, calls, _, _ = macros(plain)
    calls = functions | calls
    tokens, lines = launching(*assigned(*numbered(_blank(plain))), calls)
    calls = small(chain(*functions_of(tokens, lines, own, calls))) | calls
    calls |= rounded(calls)
    constants = (
        {name: value for name, value in own.items() if is_whole(value)} | global_values(tokens) | constants_of(tokens)
    )
    whole = naming(tokens) if {*_LAUNCHES, "dim3"}.isdisjoint(tokens) else expand(tokens, objects | own, calls)
    known = known.and_those_of(tokens)
    inside = chain(*functions_of(tokens, lines, objects | own, calls))
    return HostFile(whole, tuple(map(known.filled, inside)), constants)


def _launches_of(
    file: HostFile,
    kernels: frozenset[str],
    callers: Sequence[Function],
    known_structs: dict[str, StructType],
    known_layouts: Layouts,
) -> list[HostLaunch]:
    """Return the launches in a file, with the arguments from the callers of the launching functions.

    Each has the constants around it, then the constants of the file.
    """
    found: list[HostLaunch] = []
    named = aliases(file.tokens) if known_structs else {}
    for one in file.functions:
        if _LAUNCHES.isdisjoint(one.body):
            continue
        here = named | aliases(one.body) if known_structs else {}
        given = {p.name for p in one.parameters if not p.pointer} | {name for _, name, _ in one.template}
        given |= {*one.owner_template}
        members = known_structs[one.owner].members if one.owner in known_structs else {}
        ways = list(islice(ways_up(one, callers), _MOST_WAYS)) if given else [({}, ())]
        whole = with_shapes_of_callers(one, callers)
        body = with_sizes(with_members(whole, known_structs, here), known_layouts)
        for launch in launches(tidy(body), kernels):
            launch = replace(launch, template=tuple(full_type(t, known_structs, here) or t for t in launch.template))
            for values, _ in ways:
                known = {name: tuple(tidy(value)) for name, value in values.items() if name in given}
                known = {name: value for name, value in known.items() if is_whole(value)}
                made = replace(launch, constants={**file.constants} | {**members} | known | launch.constants)
                found += [made] if made not in found else []
    flat = tidy(file.tokens)
    seen = {launch.name for launch in found}
    found += [one for one in launches(flat, kernels) if one.name not in seen]
    found += by_pointer(flat, set(kernels) - {launch.name for launch in found})
    return [replace(one, constants={**file.constants} | one.constants) for one in found]


def _plain(text: str) -> str:
    return as_cuda(without_comments(text[:LONGEST].replace("\r\n", "\n")))


def _blank(plain: str) -> str:
    return DIRECTIVE.sub(lambda found: "\n" * found[0].count("\n"), plain)
