"""The most likely role of each parameter of a kernel, from names and uses."""

import re
from collections.abc import Mapping

from gemmviz.catalogue.guessing.enumerations import ENUM
from gemmviz.catalogue.guessing.functions import Function, Parameter
from gemmviz.catalogue.guessing.geometry import Votes, geometry
from gemmviz.catalogue.guessing.indexing import Indexing
from gemmviz.catalogue.guessing.repeats import repeats
from gemmviz.catalogue.guessing.roles import (
    DISTANCE,
    LEFT_OVER,
    MATRIX_WORDS,
    REAL,
    SIZE_WORDS,
    WHOLE,
    GuessReason,
    Roles,
    dimensions,
    is_map,
    is_of_a_thread,
    matrix_called,
    named_so,
    plain_word,
    size_word,
    terms,
)
from gemmviz.catalogue.guessing.scale_pointers import scales_by_pointer
from gemmviz.catalogue.tensor_map import SUFFIX
from gemmviz.language import mark, tr

_CALLED = mark("{name} is called like {role}")
_SIDE = mark("{name} is called like the side of a tile")
_OF_A_THREAD = mark("{name} is called like the number of elements of a thread")
_FIRST, _OTHER = mark("{name} is the first matrix that is read"), mark("{name} is the other matrix read")
_TIMES_VECTOR = mark("{name} is the only matrix: the other pointers are vectors")
_HAS_ROWS = mark("the rows of {name} are those of C")
_WEIGHTS = {"w", "weight", "weights"}
_SCALES = re.compile(r"(?i)alpha|beta|scal|^[ab]$")
_COUNTS_PRODUCTS = re.compile(r"(?i)batch|^(?:num_?|n_?)?heads?$")
_OFFSET = re.compile(r"(?i)(?:row|col|column|[mnk])?_?(?:offset|start|begin)_?(?:row|col|column|[mnk])?")
_NEUTRAL = {"alpha": "1", "beta": "0"}
_NAME_WEIGHTS = (6, 3, 1)


def assign(function: Function, indexing: Indexing, tiles: Mapping[str, int] | None = None) -> Roles:
    """Return the role of each parameter of a function, with the evidence.

    Parameters
    ----------
    function, indexing
        The kernel, and the indices of its accesses.
    tiles
        The values of the parameters that give a side of its tile, see `gemmviz.catalogue.guessing.run_time_tiles`.
    """
    roles = Roles()
    _matrices(function, indexing, roles)
    for name, value in (tiles or {}).items():
        roles.of[name] = str(value)
        why = _OF_A_THREAD if is_of_a_thread(name) else _SIDE
        roles.why[name] = GuessReason(0.7, tr(why, name=name))
    whole = [p.name for p in function.parameters if not p.pointer and p.type in WHOLE and p.name]
    for name in (one for one in whole if _OFFSET.fullmatch(one)):
        roles.of[name] = "0"
        roles.why[name] = GuessReason(0.7, tr("{name} is called like a place in the matrix: 0 is its start", name=name))
    for name in repeats(function):
        roles.of[name] = "1"
        why = tr("{name} says how often the product is computed, and once is enough", name=name)
        roles.why[name] = GuessReason(0.7, why)
    sizes = {name for name in whole if name.lower() not in ("alpha", "beta") and name not in roles.of}
    votes = geometry(indexing, roles, sizes)
    _sizes(function, roles, votes)
    given = {*sizes, *roles.of}
    reals = [p for p in function.parameters if not p.pointer and p.name and p.name not in given]
    for p in (one for one in function.parameters if is_map(one)):
        _map(p, roles)
    has_first = False
    # Whatever stands before them, parameters called alpha and beta are that.
    for p in sorted((one for one in reals if not is_map(one)), key=lambda one: one.name.lower() not in _NEUTRAL):
        known = p.type in REAL or p.type not in ("bool", "dim3", ENUM)
        role = "beta" if "beta" in p.name.lower() or (has_first and not roles.parameter("beta")) else "alpha"
        fits = known and not roles.parameter(role)
        # A scalar with another name may mean anything: with its neutral value C is the product, or the guess is wrong.
        neutral = role if _SCALES.search(p.name) else _NEUTRAL[role]
        roles.of[p.name] = neutral if fits else ""
        has_first = has_first or (fits and role == "alpha")
        why = (
            tr("{name} is a single {type}", name=p.name, type=p.type)
            if fits
            else tr("the role of {type} {name} is unknown", name=p.name, type=p.type)
        )
        roles.why[p.name] = GuessReason(0.9 if p.name.lower() == role else 0.5 if fits else 0.1, why)
    return roles


def _map(parameter: Parameter, roles: Roles) -> None:
    matrix = matrix_called(parameter.name)
    role = matrix + SUFFIX if matrix and not roles.parameter(matrix + SUFFIX) else ""
    roles.of[parameter.name] = role
    why = (
        tr("{name} is a tensor map and called like {role}", name=parameter.name, role=matrix)
        if role
        else tr("{name} is a tensor map", name=parameter.name)
    )
    roles.why[parameter.name] = GuessReason(0.7 if role else 0.1, why)


def _matrices(function: Function, indexing: Indexing, roles: Roles) -> None:
    pointers = [p for p in function.parameters if p.pointer and p.name and not is_map(p)]
    scales = scales_by_pointer(function, indexing)
    for name, role in scales.items():
        roles.of[name] = role
        roles.why[name] = GuessReason(0.9, tr(_CALLED, name=name, role=role))
    pointers = [p for p in pointers if p.name not in scales]
    mapped = {matrix_called(p.name) for p in function.parameters if is_map(p)}
    chosen: dict[str, Parameter] = {}

    def choose(role: str, candidates: list[Parameter], confidence: float, why: str) -> None:
        if role not in chosen and role not in mapped and len(candidates) == 1 and candidates[0] not in chosen.values():
            chosen[role] = candidates[0]
            roles.of[candidates[0].name] = role
            roles.why[candidates[0].name] = GuessReason(confidence, tr(why, name=candidates[0].name, role=role))

    written = [p for p in pointers if indexing.pointers[p.name].writes]
    open_ = [p for p in pointers if not p.const]
    choose("C", written, 0.97, mark("{name} is the only matrix that is written"))
    choose("C", open_, 0.9, mark("{name} is the only matrix that is not const"))
    choose(
        "C",
        [p for p in written or open_ if plain_word(p.name) in MATRIX_WORDS["C"]],
        0.7,
        mark("{name} may be written and is called like a result"),
    )
    choose("C", (written or open_ or pointers)[-1:], 0.4, mark("{name} is the last that may be written"))
    read = [p for p in pointers if p not in chosen.values()]
    sizes = {p.name for p in function.parameters if not p.pointer}
    vectors = [p for p in read if indexing.pointers[p.name].is_vector(sizes)]
    matrices = [p for p in read if p not in vectors] if len(read) - len(vectors) > 1 else read
    result = chosen.get("C")
    if result and len(vectors) == 1 and len(read) == 2 and indexing.pointers[result.name].is_vector(sizes):
        choose("A", [p for p in read if p not in vectors], 0.9, _TIMES_VECTOR)
        choose("B", vectors, 0.9, mark("{name} and the result are vectors"))
    elif "C" in chosen and len(matrices) == 2:
        choose("A", _weights_with_rows_of(chosen["C"], matrices, indexing, function), 0.8, _HAS_ROWS)
    for role in ("A", "B"):
        left = [p for p in matrices if p not in chosen.values()]
        choose(role, [p for p in left if plain_word(p.name) in MATRIX_WORDS[role]], 0.9, _CALLED)
    for role in ("A", "B"):
        left = [p for p in matrices if p not in chosen.values()]
        choose(role, left[:1], 0.6, _FIRST if role == "A" else _OTHER)
    for p in pointers:
        if p in chosen.values():
            continue
        if _may_be_none(p.name, function.body) and "bias" not in p.name.lower():
            roles.of[p.name] = "0"
            roles.why[p.name] = GuessReason(0.8, tr("{name} may be a null pointer: the kernel tests it", name=p.name))
        else:
            roles.of[p.name] = ""
            roles.why[p.name] = GuessReason(0.1, tr("{name} is one pointer more than A, B and C", name=p.name))


def _weights_with_rows_of(
    result: Parameter, matrices: list[Parameter], indexing: Indexing, function: Function
) -> list[Parameter]:
    """Return the matrix that is called like weights, where its rows are those of C and the other one's are not."""
    weights = [p for p in matrices if plain_word(p.name) in _WEIGHTS]
    others = [p for p in matrices if p not in weights and plain_word(p.name) not in MATRIX_WORDS["A"]]
    sizes = {p.name for p in function.parameters if not p.pointer and p.type in WHOLE}
    chosen_by = {p.name: {one.atom for one in terms(indexing, p.name, sizes) if one.size} for p in (result, *matrices)}
    rows = chosen_by[result.name]
    fits = (
        len(weights) == len(others) == 1 and rows & chosen_by[weights[0].name] and not rows & chosen_by[others[0].name]
    )
    return weights if fits else []


def _may_be_none(name: str, body: tuple[str, ...]) -> bool:
    """Return whether a function tests a pointer for null."""
    text, name = " ".join(body), re.escape(name)
    null = r"(?:NULL|nullptr|0)"
    return (
        re.search(rf"\b{name} [!=]= {null}\b|\b{null} [!=]= {name}\b|\bif \( !? ?{name} \)|\b{name} \?", text)
        is not None
    )


def _together(name: str, reasons: list[str]) -> str:
    """Join the first two reasons about a parameter to a sentence part."""
    if len(reasons) == 1:
        return tr("{name} {reason}", name=name, reason=reasons[0])
    return tr("{name} {first} and {second}", name=name, first=reasons[0], second=reasons[1])


def _sizes(function: Function, roles: Roles, votes: Votes) -> None:
    order = [p.name for p in function.parameters if p.name in votes]
    scores: dict[tuple[str, str], float] = {}
    whys: dict[tuple[str, str], str] = {}
    meant = {name: name for name in order} | dimensions(order)
    for name in order:
        word = size_word(meant[name])
        for role, levels in SIZE_WORDS.items():
            if role.startswith("ld") and named_so(meant[name]):
                continue  # the columns of a matrix, which are also the distance between its rows
            level = next((i for i, words in enumerate(levels) if word in words.split()), None)
            used = votes[name].get(role, [])
            weight = 1.0 if role.startswith("ld") else 3.0
            if level is not None or used:
                by_name = 0 if level is None else _NAME_WEIGHTS[level]
                scores[name, role] = by_name + weight * min(len(used), 3)
                called = [tr("is called like {role}", role=role)] if by_name else []
                whys[name, role] = _together(name, [*called, *map(tr, dict.fromkeys(used))])
    taken: set[str] = set()
    plain = [n for n in order if not DISTANCE.fullmatch(n)]
    # Beside M, N and K such a name counts products, also where the bound of the block index looks like one of rows.
    named = {"m", "n", "k"} <= {size_word(meant[n]) for n in plain}
    called = [n for n in plain if _COUNTS_PRODUCTS.search(n) and (named or "M" not in votes[n])]
    counts = [n for n in plain if meant[n] == "batch" or n in called]
    if len(plain) == 2 and len(counts) == 1:  # many products of square matrices
        plain.remove(counts[0])
        scores = {key: score for key, score in scores.items() if key[0] != counts[0]}
    used = [name for name in plain if name in function.body]
    # A kernel for square matrices, whatever else it is given.
    if len(used) == 1 < len(plain) and {"M", "N", "K"} <= {role for role, why in votes[used[0]].items() if why}:
        for name in (one for one in plain if one not in used):
            roles.of[name] = "N"
            roles.why[name] = GuessReason(0.5, tr("{name} is not used: the kernel has one size", name=name))
        plain = used
    if len(plain) == 1 and (plain[0], "N") not in scores:
        scores[plain[0], "N"], whys[plain[0], "N"] = 1.0, tr("{name} is the only size", name=plain[0])
    if len(plain) == 1:
        scores[plain[0], "N"] += 50  # a kernel with one size is one for square matrices
    # The name of a parameter that the kernel never reads says less than the uses of another one.
    read = {name: name in function.body for name in order}
    for (name, role), score in sorted(scores.items(), key=lambda item: (-item[1], not read[item[0][0]])):
        if name in roles.of or role in taken:
            continue
        taken.add(role)
        roles.of[name] = role
        roles.why[name] = GuessReason(min(0.95, 0.3 + 0.08 * score), whys[name, role])
    for name in order:
        if name not in roles.of:
            # Two parameters may be one size: a kernel that has n for the width of all, and another one as a bound.
            same = next((role for role in ("M", "N") if role in votes[name]), "") or named_so(meant[name])
            free = same or next((role for role in ("M", "N", "K") if role not in taken), "")
            one = name in counts or (not free and _COUNTS_PRODUCTS.search(name) is not None)
            roles.of[name] = "1" if one else free
            taken.add(roles.of[name])
            why = mark("{name} is the remaining parameter") if free else mark("the role of {name} is unknown")
            why = mark("{name} counts products, and one is enough") if one else why
            roles.why[name] = GuessReason(0.5 if one else LEFT_OVER, tr(why, name=name))
    for role in ("M", "N", "K"):
        owner = next((n for n in order if votes[n].get(role)), "")
        given = roles.of.get(owner, "")
        if role not in taken and given in ("M", "N", "K"):
            roles.equal.append((role, given))
