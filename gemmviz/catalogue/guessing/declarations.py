"""What the tokens of a file declare: constants, first values of variables, and functions with a body."""

import re

from gemmviz.catalogue.guessing.functions import Function
from gemmviz.catalogue.guessing.heads import body_at, bounds_of, clusters_of, head_of, parameters_of, template_of
from gemmviz.catalogue.guessing.macros import Macro, expand
from gemmviz.catalogue.guessing.struct_types import bodies
from gemmviz.catalogue.guessing.tokens import CLOSE, OPEN, closing, is_whole, partners, split

WORD = re.compile(r"[A-Za-z_]\w*")


def assigned(tokens: list[str], lines: list[int]) -> tuple[list[str], list[int]]:
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
        opens = token == "{" and WORD.fullmatch(name) and name not in _NO_NAMES
        if opens and (WORD.fullmatch(kind) or kind in ("*", "&", ",")) and kind not in _NO_TYPES:
            end = partner[at]
            inside = tokens[at + 1 : end]
            if tokens[end + 1 : end + 2] in ([";"], [","]) and inside and not {";", "{", ","} & set(inside):
                closed.add(end)
                token = "="
        out.append(token)
        kept.append(lines[at])
    return out, kept


VARIABLE = re.compile(r"__(?:shared|device|constant|managed)__[^;(){}=\[]*?\b(\w+)\s*(?:\[[^;={]*)?[;=]")
_NO_NAMES = {"else", "do", "const", "override", "try", "noexcept"}
_NO_FUNCTIONS = {"__launch_bounds__", "if", "for", "while", "switch", "catch"}
_NO_TYPES = {"struct", "class", "union", "enum", "namespace", "return", "else", "goto", "new"}


def global_values(tokens: list[str]) -> dict[str, tuple[str, ...]]:
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


def constants_of(tokens: list[str]) -> dict[str, tuple[str, ...]]:
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


def functions_of(
    tokens: list[str], lines: list[int], objects: dict[str, tuple[str, ...]], functions: dict[str, Macro]
) -> tuple[list[Function], list[Function]]:
    """Return the functions with a body: kernels and others.

    Parameters
    ----------
    tokens, lines
        The tokens of a file, and their lines.
    objects, functions
        The macros without and with parameters.
    """
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
