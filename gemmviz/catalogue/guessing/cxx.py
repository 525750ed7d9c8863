"""Reads just enough C and CUDA to describe a kernel: functions, parameters, constants and launches. It runs nothing."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice

from gemmviz.catalogue.guessing.callers import ways_up
from gemmviz.catalogue.guessing.concepts import concepts, with_types
from gemmviz.catalogue.guessing.constant_objects import Fields, Objects
from gemmviz.catalogue.guessing.enumerations import OF_CUBLAS, enumerations, numbers_of, with_enums
from gemmviz.catalogue.guessing.functions import Function, HostFile, Parameter
from gemmviz.catalogue.guessing.handed_shapes import with_shapes_of_callers
from gemmviz.catalogue.guessing.heads import body_at, bounds_of, clusters_of, head_of, parameters_of, template_of
from gemmviz.catalogue.guessing.hip import as_cuda
from gemmviz.catalogue.guessing.launches import HostLaunch, by_pointer, launches, tidy
from gemmviz.catalogue.guessing.macros import DIRECTIVE, Macro, expand, launching, macros, rounded, small
from gemmviz.catalogue.guessing.matrix_views import plain_views
from gemmviz.catalogue.guessing.namespaced_constants import with_own_names
from gemmviz.catalogue.guessing.struct_parameters import Layouts, layouts, with_sizes
from gemmviz.catalogue.guessing.struct_types import StructType, aliases, bodies, full_type, structs, with_members
from gemmviz.catalogue.guessing.tokens import (
    CLOSE,
    LONGEST,
    OPEN,
    closing,
    is_whole,
    numbered,
    partners,
    split,
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
        tunable, known = tunable | more[2], known | more[3] | frozenset(_WORD.findall(header))
        inside = _assigned(*numbered(_blank(header)))
        declared |= _declared(inside[0])
        known_structs |= structs(inside[0])
        known_objects = known_objects.and_those_of(inside[0])
        known_layouts |= layouts(inside[0])
        enums |= enumerations(inside[0])
        helpers += _functions(*inside, objects, functions)[1]
    tokens, lines = numbered(_blank(plain))
    tokens = with_own_names(tokens)
    renamed = type_aliases((*plain_headers, plain), objects)
    tokens, lines = launching(*_assigned(tokens, lines), functions)
    known_structs |= structs(tokens)
    known_objects = known_objects.and_those_of(tokens)
    known_layouts |= layouts(tokens)
    mine = _functions(tokens, lines, objects, functions)
    functions = small((*helpers, *mine[0], *mine[1])) | functions
    functions |= rounded(functions)
    kernels, others = _functions(tokens, lines, objects, functions)
    # A macro that is also a variable of some file would replace the name in the variable's declaration.
    tunable -= declared.keys() | _declared(tokens).keys()
    constants = declared | {name: value for name, value in objects.items() if is_whole(value)} | _declared(tokens)
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
    here = HostFile(expand(tokens, objects, functions), others, _globals(tokens))
    found = _launches_of(here, names, callers, known_structs, known_layouts)
    for neighbour in around_it:
        found += _launches_of(neighbour, names, callers, known_structs, known_layouts)
    return ParsedSource(
        tuple(resolved(kernel, renamed) for kernel in kernels),
        (*(resolved(other, renamed) for other in others), *helpers),
        constants,
        tunable,
        tuple(found),
        frozenset(_WORD.findall(plain)) | known,
        structs=known_structs,
        layouts=known_layouts,
        callers=callers,
        files=(replace(here, constants={**constants, **here.constants}), *around_it),
        fields=known_objects.types,
        enums=enums,
        variables=frozenset(name for one in (*plain_headers, plain) for name in _VARIABLE.findall(one)),
    )


def kernels_of(text: str) -> Sequence[Function]:
    """Return the kernels of a text alone, without macros and without aliases of types."""
    return _functions(*numbered(_blank(_plain(text))), {}, {})[0]


def given_launches(text: str) -> frozenset[str]:
    """Return the names of a text's functions that launch a kernel as their callers say.

    These are templates, members of a template (the name is then the structure's), and functions that get a ``dim3``.
    """
    if "<<<" not in with_whole_launches(text) and "hipLaunch" not in text:
        return frozenset()
    functions = _functions(*numbered(_blank(_plain(text))), {}, {})[1]
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
    tokens, lines = launching(*_assigned(*numbered(_blank(plain))), calls)
    calls = small(chain(*_functions(tokens, lines, own, calls))) | calls
    calls |= rounded(calls)
    constants = {name: value for name, value in own.items() if is_whole(value)} | _globals(tokens) | _declared(tokens)
    whole = naming(tokens) if {*_LAUNCHES, "dim3"}.isdisjoint(tokens) else expand(tokens, objects | own, calls)
    known = known.and_those_of(tokens)
    inside = chain(*_functions(tokens, lines, objects | own, calls))
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


_WORD = re.compile(r"[A-Za-z_]\w*")


def _assigned(tokens: list[str], lines: list[int]) -> tuple[list[str], list[int]]:
    """Return tokens with ``int x{v};`` as ``int x = v;``, and their lines."""
    out: list[str] = []
    kept: list[int] = []
    closed: set[int] = set()
    partner = partners(tokens)
    for at, token in enumerate(tokens):
        if at in closed:
            continue
        name = tokens[at - 1] if at else ""
        kind = tokens[at - 2] if at > 1 else ""
        opens = token == "{" and _WORD.fullmatch(name) and name not in _NO_NAMES
        if opens and (_WORD.fullmatch(kind) or kind in ("*", "&", ",")) and kind not in _NO_TYPES:
            end = partner[at]
            inside = tokens[at + 1 : end]
            if tokens[end + 1 : end + 2] in ([";"], [","]) and inside and not {";", "{", ","} & set(inside):
                closed.add(end)
                token = "="
        out.append(token)
        kept.append(lines[at])
    return out, kept


_VARIABLE = re.compile(r"__(?:shared|device|constant|managed)__[^;(){}=\[]*?\b(\w+)\s*(?:\[[^;={]*)?[;=]")
_NO_NAMES = {"else", "do", "const", "override", "try", "noexcept"}
_NO_FUNCTIONS = {"__launch_bounds__", "if", "for", "while", "switch", "catch"}
_NO_TYPES = {"struct", "class", "union", "enum", "namespace", "return", "else", "goto", "new"}


def _globals(tokens: list[str]) -> dict[str, tuple[str, ...]]:
    """Return the first values of whole variables outside functions: ``int threads = 256;``."""
    found: dict[str, tuple[str, ...]] = {}
    depth = 0
    for at, token in enumerate(tokens):
        depth += (token in OPEN) - (token in CLOSE)
        if token == "=" and not depth and tokens[at - 2 : at - 1] in (["int"], ["unsigned"], ["size_t"]):
            end = next((i for i in range(at, min(at + 80, len(tokens))) if tokens[i] == ";"), at)
            if is_whole(tuple(tokens[at + 1 : end])):
                found.setdefault(tokens[at - 1], tuple(tokens[at + 1 : end]))
    return found


def _declared(tokens: list[str]) -> dict[str, tuple[str, ...]]:
    """Return the constants declared outside functions, and the constexpr constants inside functions."""
    found: dict[str, tuple[str, ...]] = {}
    depth, at = 0, 0
    while at < len(tokens):
        depth += (tokens[at] == "{") - (tokens[at] == "}")
        if tokens[at] in ("constexpr", "const") and (depth == 0 or tokens[at] == "constexpr"):
            end = next((i for i in range(at, min(at + 200, len(tokens))) if tokens[i] in ";{"), at)
            for part in split(tokens[at:end]):
                if "=" in part and part.index("=") > 0:
                    cut = part.index("=")
                    if is_whole(part[cut + 1 :]) and "*" not in part[:cut]:
                        found.setdefault(part[cut - 1], part[cut + 1 :])
            at = end if tokens[end] == ";" else at
        elif tokens[at] == "enum" and "{" in tokens[at : at + 4]:
            start = tokens.index("{", at)
            at = closing(tokens, start)
            for part in split(tokens[start + 1 : at]):
                if len(part) > 2 and part[1] == "=" and is_whole(part[2:]):
                    found.setdefault(part[0], part[2:])
        at += 1
    return found


def _namespace(tokens: list[str], at: int) -> str:
    """Return the name of the namespace that opens at a bracket, ``outer::inner`` too; empty where none does."""
    start = at
    while (
        start and (tokens[start - 1] == "::" or tokens[start - 1].isidentifier()) and tokens[start - 1] != "namespace"
    ):
        start -= 1
    return "".join(tokens[start:at]) if start and tokens[start - 1] == "namespace" else ""


def _functions(
    tokens: list[str], lines: list[int], objects: dict[str, tuple[str, ...]], functions: dict[str, Macro]
) -> tuple[list[Function], list[Function]]:
    kernels: list[Function] = []
    others: list[Function] = []
    spaces: list[str] = []
    partner = partners(tokens)
    owners = list(bodies(tokens))
    at = 0
    while at < len(tokens):
        token = tokens[at]
        if token == "{":
            spaces.append(_namespace(tokens, at))
        elif token == "}" and spaces:
            spaces.pop()
        elif token == "(" and (named := _name_before(tokens, at)):
            end = partner[at]
            opens = 0 if tokens[named] in _NO_FUNCTIONS else body_at(tokens, end + 1, partner)
            head = head_of(tokens, named) if opens else []
            # Words after the parameters of a function matter for the host's functions only.
            if opens and (opens == end + 1 or not {"__global__", "__device__"} & {*head}):
                stop = partner[opens]
                body = expand(tokens[opens + 1 : stop], objects, functions)
                name = "::".join([*filter(None, spaces), tokens[named]])
                parameters = parameters_of(tokens[at + 1 : end])
                owner = next(((one, names) for one, names, first, last in owners[::-1] if first < at < last), ("", ()))
                limits = bounds_of(head), clusters_of(head)
                made = Function(name, template_of(head), parameters, tuple(body), *limits, lines[named], *owner)
                (kernels if "__global__" in head else others).append(made)
                at = stop
        at += 1
    return kernels, others


def _name_before(tokens: list[str], at: int) -> int:
    """Return the place of the name before a bracket; that of a specialised host function, ``run<9>(``, too; or 0."""
    if at and re.match(r"[A-Za-z_]", tokens[at - 1]):
        return at - 1
    if tokens[at - 1 : at] == [">"]:
        start = next((i for i in range(at, max(at - 20, 0), -1) if tokens[i] == "<"), 0)
        head = head_of(tokens, start - 1) if start > 1 else []
        if head[:3] == ["template", "<", ">"] and "__global__" not in head:
            return start - 1
    return 0
