"""The most likely role of each parameter of a kernel and the layout of its matrices, from names and uses."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from gemmviz.catalogue.dtypes import ElementType
from gemmviz.catalogue.guessing.functions import Function, Parameter
from gemmviz.catalogue.guessing.indexing import Indexing
from gemmviz.catalogue.guessing.polynomial import Polynomial
from gemmviz.catalogue.matrices import MATRICES
from gemmviz.catalogue.tensor_map import SUFFIX
from gemmviz.language import mark, tr

_CALLED = mark("{name} is called like {role}")
_FIRST, _OTHER = mark("{name} is the first matrix that is read"), mark("{name} is the other matrix read")
_SHARES_ROWS, _SHARES_COLUMNS = mark("{name} shares its rows with C"), mark("{name} shares its columns with C")
WHOLE = {
    *("int", "size_t", "long", "short", "uint", "uint32_t", "int32_t", "int64_t", "uint64_t", "ptrdiff_t", "char"),
}
REAL = {"float", "double", "half", "__half", "__nv_bfloat16", "nv_bfloat16"}
DTYPES: dict[str, ElementType] = {
    "float": "float32",
    "double": "float64",
    "half": "float16",
    "__half": "float16",
    "int": "int32",
    "int32_t": "int32",
    "__nv_bfloat16": "bfloat16",
    "nv_bfloat16": "bfloat16",
    **dict.fromkeys(("int8_t", "signed char", "char"), "int8"),
    **dict.fromkeys(("uint8_t", "unsigned char"), "uint8"),
    "__nv_fp8_e4m3": "float8_e4m3fn",
    "__nv_fp8_e5m2": "float8_e5m2",
}
_MATRIX_WORDS = {
    "A": {"a", "x", "m", "left", "lhs", "in1", "input1", "first", "1", "in0", "0"},
    "B": {"b", "y", "w", "n", "right", "rhs", "in2", "input2", "second", "2", "weight", "weights"},
    "C": {"c", "out", "output", "res", "result", "dst", "d", "p", "z", "r", "prod", "product", "3", "o"},
}
_MAP_TYPES = {"tensor_map", "CUtensorMap"}
_MAP_WORDS = re.compile(r"(?i)(?:tensor|tma)?_?(?:map|desc(?:riptor)?)|tma")
_AFFIX = re.compile(
    r"^(device|dev|matrix|mat|ptr|gm|g|d|p|h)_?(?=\w)|_(d|dev|device|ptr|gpu|data)$|(?<=\w)_?(mat|matrix)$"
)
_SIZE_WORDS = {
    "M": ("m", "ha ay heighta rowsa arows numarows numcrows rowa", "rows height row nrows"),
    "N": (
        "n",
        "wb bx widthb colsb bcols numbcolumns numbcols numccolumns colb",
        "cols width size dim col ncols len length",
    ),
    "K": (
        "k",
        "wa hb ax by widtha heightb colsa acols rowsb brows numacolumns numacols numbrows cola rowb",
        "inner common depth",
    ),
    "lda": ("lda", "stridea astride pitcha lda_", ""),
    "ldb": ("ldb", "strideb bstride pitchb", ""),
    "ldc": ("ldc", "stridec cstride pitchc", ""),
}
_SIZE_AFFIX = re.compile(
    r"^(?:size|dim|num|len|length|matrix|mat|total|problem)(?=[mnk]$)|(?<=^[mnk])(?:size|dim|global|total|len|length)$"
)
_NAME_WEIGHTS = (6, 3, 1)


@dataclass(frozen=True)
class GuessReason:
    """The confidence in a guess (0 to 1), and the reason for it, as a sentence."""

    confidence: float
    why: str


@dataclass(frozen=True)
class Term:
    """One summand of an index: a block, thread or loop index times a factor, and times the stride if `size` is set."""

    atom: str
    factor: Polynomial
    size: str


@dataclass
class Roles:
    """The roles of the parameters.

    Attributes
    ----------
    of
        Role by parameter name; ``""`` where no role fits.
    why
        Evidence by parameter name.
    column_major
        The matrices stored by columns.
    equal
        Pairs of sizes that must be equal, because the kernel has one parameter for both: ("K", "N").
    rows, columns
        The block, thread or loop indices that choose the row and the column of C.
    """

    of: dict[str, str] = field(default_factory=dict)
    why: dict[str, GuessReason] = field(default_factory=dict)
    column_major: frozenset[str] = frozenset()
    equal: list[tuple[str, str]] = field(default_factory=list)
    rows: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()

    def parameter(self, role: str) -> str:
        """Return the parameter of a role, or an empty text."""
        return next((name for name, given in self.of.items() if given == role), "")


def is_size_word(name: str) -> bool:
    """Return whether a name is one that sizes have: ``N``, ``WIDTH``, ``M_GLOBAL``."""
    word = _size_word(name)
    return any(word in words.split() for levels in _SIZE_WORDS.values() for words in levels)


def _size_word(name: str) -> str:
    """Return a size's name in small letters, without what only says that it is a size."""
    word = name.lower().replace("_", "")
    return _SIZE_AFFIX.sub("", word)


def kind_of(atom: str) -> str:
    """Return the kind of index that a name is: ``block``, ``thread``, ``loop``, or ``""`` for none of these."""
    return "block" if "blockIdx" in atom else "thread" if "threadIdx" in atom else "loop" if "#" in atom else ""


def terms(indexing: Indexing, pointer: str, sizes: set[str]) -> list[Term]:
    """Return the summands of a pointer's indices."""
    found = []
    for product, factors in indexing.pointers[pointer].terms.items():
        atoms = [name for name in product if kind_of(name)]
        strides = [name for name in product if name in sizes]
        rest = tuple(name for name in product if name not in atoms and name not in sizes)
        if len(atoms) == 1 and len(strides) <= 1:
            found += [Term(atoms[0], Polynomial({rest: f}), "".join(strides)) for f in factors]
    return found


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
        roles.why[name] = GuessReason(0.7, tr("{name} is called like the side of a tile", name=name))
    sizes = {
        p.name
        for p in function.parameters
        if not p.pointer
        and p.type in WHOLE
        and p.name
        and p.name.lower() not in ("alpha", "beta")
        and p.name not in (tiles or {})
    }
    votes = _geometry(indexing, roles, sizes)
    _sizes(function, roles, votes)
    given = sizes | (tiles or {}).keys()
    reals = [p for p in function.parameters if not p.pointer and p.name and p.name not in given]
    for p in (one for one in function.parameters if is_map(one)):
        _map(p, roles)
    for p in (one for one in reals if not is_map(one)):
        known = p.type in REAL or p.type not in ("bool", "dim3")
        role = (
            "beta"
            if "beta" in p.name.lower() or (roles.parameter("alpha") and not roles.parameter("beta"))
            else "alpha"
        )
        fits = known and not roles.parameter(role)
        roles.of[p.name] = role if fits else ""
        why = (
            tr("{name} is a single {type}", name=p.name, type=p.type)
            if fits
            else tr("the role of {type} {name} is unknown", name=p.name, type=p.type)
        )
        roles.why[p.name] = GuessReason(0.9 if p.name.lower() == role else 0.5 if fits else 0.1, why)
    return roles


def is_map(parameter: Parameter) -> bool:
    """Say whether a parameter is a tensor map, or a pointer to one."""
    return parameter.type.rpartition("::")[2] in _MAP_TYPES


def matrix_called(name: str) -> str:
    """Return the matrix that a tensor map, or what it is made of, is called like; an empty text for none."""
    word = _word(_MAP_WORDS.sub("", name).strip("_") or name)
    return next((matrix for matrix, words in _MATRIX_WORDS.items() if word in words), "")


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


def _word(name: str) -> str:
    word = name.lower()
    for _ in range(3):
        shorter = _AFFIX.sub("", word)
        if not shorter or shorter == word:
            break
        word = shorter
    return word


def _matrices(function: Function, indexing: Indexing, roles: Roles) -> None:
    pointers = [p for p in function.parameters if p.pointer and p.name and not is_map(p)]
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
        [p for p in written or open_ if _word(p.name) in _MATRIX_WORDS["C"]],
        0.7,
        mark("{name} may be written and is called like a result"),
    )
    choose("C", (written or open_ or pointers)[-1:], 0.4, mark("{name} is the last that may be written"))
    for role in ("A", "B"):
        left = [p for p in pointers if p not in chosen.values()]
        choose(role, [p for p in left if _word(p.name) in _MATRIX_WORDS[role]], 0.9, _CALLED)
    for role in ("A", "B"):
        left = [p for p in pointers if p not in chosen.values()]
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


def _may_be_none(name: str, body: tuple[str, ...]) -> bool:
    """Return whether a function tests a pointer for null."""
    text = " ".join(body)
    null = r"(?:NULL|nullptr|0)"
    return (
        re.search(rf"\b{name} [!=]= {null}\b|\b{null} [!=]= {name}\b|\bif \( !? ?{name} \)|\b{name} \?", text)
        is not None
    )


def _primary(found: list[Term]) -> tuple[str, ...]:
    for kind in ("block", "thread", "loop"):
        atoms = tuple(dict.fromkeys(t.atom for t in found if kind_of(t.atom) == kind))
        if atoms:
            return atoms
    return ()


_Votes = dict[str, dict[str, list[str]]]
# The summands in the index of each matrix: those with a stride as a factor (True), and the others (False).
_Sides = dict[str, dict[bool, list[Term]]]


def _geometry(indexing: Indexing, roles: Roles, sizes: set[str]) -> _Votes:
    """Find rows, columns and layouts, and return the votes for the role of each size parameter."""
    votes: _Votes = {name: {} for name in sizes}
    names = {role: roles.parameter(role) for role in MATRICES}
    if not all(names.values()):
        return votes
    side: _Sides = {}
    for role, name in names.items():
        found = terms(indexing, name, sizes)
        side[role] = {strided: [t for t in found if bool(t.size) == strided] for strided in (True, False)}
    strided, unit = _primary(side["C"][True]), _primary(side["C"][False])
    turned = _turned(side, roles, names, _strided_is_rows(side, strided, unit))
    if turned:
        _exchange(side, roles, names, turned)
    strided_is_rows = _strided_is_rows(side, strided, unit)
    roles.rows, roles.columns = (strided, unit) if strided_is_rows else (unit, strided)
    roles.column_major = _by_columns(side, roles) | ({"C"} if not strided_is_rows and strided else set())

    def vote(name: str, role: str, why: str) -> None:
        if name in votes:
            votes[name].setdefault(role, []).append(why)

    stride_of = {"A": ("K", "M"), "B": ("N", "K"), "C": ("N", "M")}
    for matrix, by in stride_of.items():
        by_columns = matrix in roles.column_major
        far = mark("is the distance between columns of {matrix}"), mark("is the distance between rows of {matrix}")
        why = tr(far[0] if by_columns else far[1], matrix=matrix)
        for name in sorted({t.size for t in side[matrix][True]}):
            vote(name, by[by_columns], why)
            vote(name, f"ld{matrix.lower()}", why)
    _bounds(indexing, roles, {t.atom for both in side["C"].values() for t in both}, vote)
    return votes


def _turned(side: _Sides, roles: Roles, names: dict[str, str], strided_is_rows: bool) -> str:
    """Return the evidence that A and B are exchanged, ``"strides"`` or ``"sides"``; an empty text without evidence."""
    if any(roles.why[names[matrix]].confidence >= 0.8 for matrix in "AB"):
        return ""
    strides = {matrix: {t.size.lower() for t in side[matrix][True]} for matrix in "AB"}
    if "ldb" in strides["A"] or "lda" in strides["B"]:
        return "strides"
    return "" if strided_is_rows or "lda" in strides["A"] or "ldb" in strides["B"] else "sides"


def _exchange(side: _Sides, roles: Roles, names: dict[str, str], turned: str) -> None:
    """Exchange A and B in all arguments."""
    side["A"], side["B"] = side["B"], side["A"]
    names["A"], names["B"] = names["B"], names["A"]
    for matrix in "AB":
        name, shared = names[matrix], _SHARES_ROWS if matrix == "A" else _SHARES_COLUMNS
        roles.of[name] = matrix
        stride = f"ld{matrix.lower()}"
        by_stride = GuessReason(0.8, tr("{name} is indexed with the stride {stride}", name=name, stride=stride))
        roles.why[name] = by_stride if turned == "strides" else GuessReason(0.6, tr(shared, name=name))


def _by_columns(side: _Sides, roles: Roles) -> frozenset[str]:
    """Return the matrices of A and B that are stored by columns.

    The stride multiplies the row index of a matrix stored by rows, and the column index of one stored by columns.
    """
    found = set()
    for matrix, atoms, strided_means_row in (("A", roles.rows, True), ("B", roles.columns, False)):
        in_strided, in_unit = (any(t.atom in atoms for t in side[matrix][strided]) for strided in (True, False))
        if in_strided != in_unit and in_strided != strided_means_row:
            found.add(matrix)
    return frozenset(found)


def _strided_is_rows(side: _Sides, strided: tuple[str, ...], unit: tuple[str, ...]) -> bool:
    """Return whether the part of C's index with the stride selects the row. Then A has this part, and B does not."""
    score = 0
    for matrix, sign in (("A", 1), ("B", -1)):
        atoms = {t.atom for t in (*side[matrix][True], *side[matrix][False])}
        score += sign * (bool(atoms & set(strided)) - bool(atoms & set(unit)))
    return score >= 0


def _bounds(indexing: Indexing, roles: Roles, in_c: set[str], vote: Callable[[str, str, str], None]) -> None:
    def say(bound: Polynomial, role: str, why: str) -> None:
        for product in bound.terms:
            for text in product:
                for name in re.findall(r"[A-Za-z_]\w*", text):
                    vote(name, role, why)

    for left, right in indexing.compared:
        for index, bound in ((left, right), (right, left)):
            atoms = {name for product in index.terms for name in product if kind_of(name)}
            if not atoms or any(kind_of(n) for product in bound.terms for n in product):
                continue
            if atoms & set(roles.rows) and not atoms & set(roles.columns):
                say(bound, "M", mark("bounds the rows of C"))
            elif atoms & set(roles.columns) and not atoms & set(roles.rows):
                say(bound, "N", mark("bounds the columns of C"))
            elif any(kind_of(a) == "loop" for a in atoms - in_c) and not any(kind_of(a) == "block" for a in atoms):
                say(bound, "K", mark("bounds the sum"))
    for loop in indexing.loops:
        atom = f"{loop.variable}#"
        if atom in roles.rows:
            say(loop.bound, "M", mark("bounds the loop over the rows"))
        elif atom in roles.columns:
            say(loop.bound, "N", mark("bounds the loop over the columns"))
        elif atom not in in_c:
            say(loop.bound, "K", mark("bounds the loop of the sum"))


def _together(name: str, reasons: list[str]) -> str:
    """Join the first two reasons about a parameter to a sentence part."""
    if len(reasons) == 1:
        return tr("{name} {reason}", name=name, reason=reasons[0])
    return tr("{name} {first} and {second}", name=name, first=reasons[0], second=reasons[1])


def _sizes(function: Function, roles: Roles, votes: _Votes) -> None:
    order = [p.name for p in function.parameters if p.name in votes]
    scores: dict[tuple[str, str], float] = {}
    whys: dict[tuple[str, str], str] = {}
    for name in order:
        word = _size_word(name)
        for role, levels in _SIZE_WORDS.items():
            level = next((i for i, words in enumerate(levels) if word in words.split()), None)
            used = votes[name].get(role, [])
            weight = 1.0 if role.startswith("ld") else 3.0
            if level is not None or used:
                by_name = 0 if level is None else _NAME_WEIGHTS[level]
                scores[name, role] = by_name + weight * min(len(used), 3)
                called = [tr("is called like {role}", role=role)] if by_name else []
                whys[name, role] = _together(name, [*called, *map(tr, dict.fromkeys(used))])
    taken: set[str] = set()
    plain = [n for n in order if not re.fullmatch(r"(?i)ld_?[abc]|.*(stride|pitch).*", n)]
    if len(plain) == 1 and (plain[0], "N") not in scores:
        scores[plain[0], "N"], whys[plain[0], "N"] = 1.0, tr("{name} is the only size", name=plain[0])
    if len(plain) == 1:
        scores[plain[0], "N"] += 50  # a kernel with one size is one for square matrices
    for (name, role), score in sorted(scores.items(), key=lambda item: -item[1]):
        if name in roles.of or role in taken:
            continue
        taken.add(role)
        roles.of[name] = role
        roles.why[name] = GuessReason(min(0.95, 0.3 + 0.08 * score), whys[name, role])
    for name in order:
        if name not in roles.of:
            free = next((role for role in ("M", "N", "K") if role not in taken), "")
            taken.add(free)
            roles.of[name] = free
            why = mark("{name} is the remaining parameter") if free else mark("the role of {name} is unknown")
            roles.why[name] = GuessReason(0.2, tr(why, name=name))
    for role in ("M", "N", "K"):
        owner = next((n for n in order if votes[n].get(role)), "")
        given = roles.of.get(owner, "")
        if role not in taken and given in ("M", "N", "K"):
            roles.equal.append((role, given))
