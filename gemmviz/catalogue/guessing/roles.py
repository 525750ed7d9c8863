"""The roles that parameters of a kernel may have, the words that people use for them, and the terms of an index."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from gemmviz.catalogue.dtypes import ElementType
from gemmviz.catalogue.guessing.functions import Parameter
from gemmviz.catalogue.guessing.indexing import Indexing
from gemmviz.catalogue.guessing.polynomial import Polynomial

WHOLE = {
    *("int", "size_t", "long", "ulong", "short", "ushort", "uint", "ptrdiff_t", "char"),
    *(f"{sign}int{bits}_t" for sign in ("", "u", "u_") for bits in (16, 32, 64)),
}
REAL = {"float", "double", "half", "__half", "nv_half", "__nv_half", "__nv_bfloat16", "nv_bfloat16", "Half", "BFloat16"}
DTYPES: dict[str, ElementType] = {
    "float": "float32",
    "double": "float64",
    "half": "float16",
    "__half": "float16",
    "nv_half": "float16",
    "__nv_half": "float16",
    "Half": "float16",  # of PyTorch
    "BFloat16": "bfloat16",
    # Unsigned sums and products have the same bits.
    **dict.fromkeys(("int", "int32_t", "uint", "uint32_t", "u_int32_t"), "int32"),
    **dict.fromkeys(("long", "int64_t", "uint64_t"), "int64"),  # only the last word of a type counts
    "__nv_bfloat16": "bfloat16",
    "nv_bfloat16": "bfloat16",
    **dict.fromkeys(("half2", "__half2", "nv_half2"), "float16"),
    **dict.fromkeys(("nv_bfloat162", "__nv_bfloat162"), "bfloat16"),
    "double2": "float64",
    **dict.fromkeys(("int8_t", "signed char", "char", "char4"), "int8"),
    **dict.fromkeys(("uint8_t", "unsigned char"), "uint8"),
    "__nv_fp8_e4m3": "float8_e4m3fn",
    "__nv_fp8_e5m2": "float8_e5m2",
}
MATRIX_WORDS = {
    "A": {"a", "x", "m", "left", "lhs", "in1", "input1", "first", "1", "in0", "0"},
    "B": {"b", "y", "w", "n", "right", "rhs", "in2", "input2", "second", "2", "weight", "weights"},
    "C": {"c", "out", "output", "res", "result", "dst", "d", "p", "z", "r", "prod", "product", "3", "o"},
}
_MAP_TYPES = {"tensor_map", "CUtensorMap"}
_MAP_WORDS = re.compile(r"(?i)(?:tensor|tma|(?<![a-z])t)?_?(?:map|desc(?:riptor)?)|tma")
_AFFIX = re.compile(
    r"^(device|dev|matrix|mat|ptr|gm|g|d|p|h)_?(?=\w)|_(d|dev|device|ptr|gpu|data)$|(?<=\w)_?(mat|matrix)$"
)
SIZE_WORDS = {
    "M": (
        "m",
        "ha hc ay cy heighta heightc rowsa rowsc arows crows numarows numcrows rowa rowc anumrows anumrow arow crow",
        "rows height row nrows",
    ),
    "N": (
        "n",
        "wb wc bx cx widthb widthc colsb colsc bcols ccols numbcolumns numbcols numccolumns numccols colb colc "
        "bnumcols bnumcol bcol ccol",
        "cols width size dim col ncols len length",
    ),
    "K": (
        "k",
        "wa hb ax by widtha heightb colsa acols rowsb brows numacolumns numacols numbrows cola rowb "
        "anumcols anumcol acol bnumrows bnumrow brow",
        "inner common depth",
    ),
    "lda": ("lda", "stridea astride pitcha lda_ ald", ""),
    "ldb": ("ldb", "strideb bstride pitchb bld", ""),
    "ldc": ("ldc", "stridec cstride pitchc cld", ""),
}
# Rows and columns in Spanish, Portuguese, French, Italian and German.
_ROWS = re.compile(r"fil(?:as?)?(?=[abc]?$)|linhas?|lignes?|righe?|zeilen?")
_COLUMNS = re.compile(r"columnas?|colunas?|colonn[ae]s?|spalten?")
_DIMENSION = re.compile(r"(?i)(?:d|dim|dimension)_?([0-2])_?([abc]?)")
DISTANCE = re.compile(r"(?i)ld_?[abc]|[abc]_?ld|.*(stride|pitch).*")
"""The names of distances between rows."""
LEFT_OVER = 0.2
"""The confidence in a role that no other parameter has, and that nothing shows."""
_OF_A_THREAD = re.compile(r"(?i)coars|per_?thread")
_SIZE_AFFIX = re.compile(
    r"^(?:size|dim|num|len|length|matrix|mat|total|problem)(?=[mnk]$)|(?<=^[mnk])(?:size|dim|global|total|len|length)$"
    r"|(?<=^[abc](?:row|col))(?:size|count)$"
)


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


def is_of_a_thread(name: str) -> bool:
    """Return whether a name is one of the number of elements that each thread computes: ``coarse_factor``."""
    return _OF_A_THREAD.search(name) is not None


def is_size_word(name: str) -> bool:
    """Return whether a name is one that sizes have: ``N``, ``WIDTH``, ``M_GLOBAL``."""
    word = size_word(name)
    return any(word in words.split() for levels in SIZE_WORDS.values() for words in levels)


def size_word(name: str) -> str:
    """Return a size's name in small letters, without the letters for "size"."""
    word = _ROWS.sub("rows", _COLUMNS.sub("cols", name.lower().replace("_", "")))
    return _SIZE_AFFIX.sub("", word)


def named_so(name: str) -> str:
    """Return the size that a name stands for with its matrix, such as ``BRows``; an empty text for none."""
    word = size_word(name)
    return next((role for role in ("M", "N", "K") if word in SIZE_WORDS[role][1].split()), "")


def dimensions(names: Sequence[str]) -> dict[str, str]:
    """Return the names of sizes that number the dimensions of their matrix, such as ``dim1A``, in words: ``rowsA``.

    Of three dimensions the first one counts matrices: it is ``batch``.

    Parameters
    ----------
    names
        Of all sizes of a function.
    """
    found = {name: one for name in names if (one := _DIMENSION.fullmatch(name))}
    if not {"a", "b"} <= {one[2].lower() for one in found.values()}:
        return {}
    first = int("2" in {one[1] for one in found.values()})
    words = dict(zip(("0", "1", "2"), ("batch", "rows", "cols") if first else ("rows", "cols", "batch"), strict=True))
    return {name: words[one[1]] + (one[2] if words[one[1]] != "batch" else "") for name, one in found.items()}


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


def is_map(parameter: Parameter) -> bool:
    """Say whether a parameter is a tensor map, or a pointer to one."""
    return parameter.type.rpartition("::")[2] in _MAP_TYPES


def matrix_called(name: str) -> str:
    """Return the matrix that the name of a tensor map, or of its source, contains; empty for none."""
    word = plain_word(_MAP_WORDS.sub("", name).strip("_") or name)
    return next((matrix for matrix, words in MATRIX_WORDS.items() if word in words), "")


def plain_word(name: str) -> str:
    """Return a name in small letters, without the letters for "matrix" or for its memory, as in ``d_A``."""
    word = name.lower()
    for _ in range(3):
        shorter = _AFFIX.sub("", word)
        if not shorter or shorter == word:
            break
        word = shorter
    return word
