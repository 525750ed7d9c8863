"""The form of a kernel's front matter, and the messages about values that do not fit it."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Literal, TypedDict, TypeVar, cast

from msgspec import Meta

from gemmviz.catalogue import batch, capability
from gemmviz.catalogue.batch import BatchForm
from gemmviz.catalogue.dtypes import ELEMENT_TYPES, MATHS, OPERAND_ROUNDOFF, SUM_TYPES, ElementType, SumType, sums_of
from gemmviz.catalogue.errors import FrontMatterError
from gemmviz.catalogue.expression import Expression
from gemmviz.catalogue.gpu_roles import NUMBER
from gemmviz.catalogue.matrices import BIAS, MATRICES, D, MatrixName
from gemmviz.catalogue.typed_reading import FromOne, Misfit, hints_of, read_as
from gemmviz.catalogue.user_file import quoted
from gemmviz.language import tr

POINTER = "*"
"""Stands before the members of a structure that a kernel takes by a pointer."""
SCALARS = ("M", "N", "K", "lda", "ldb", "ldc", "ldd", "alpha", "beta")
VERSION = 8
"""The newest version of the front matter that this gemmviz knows."""
VERSION_OF_STRUCTS = 6
"""The version that structures as arguments are new in."""
_SINCE = {
    "version": 2,
    "demo": 2,
    "code_of": 3,
    "stores": 4,
    "zero": 4,
    "epilogue": 4,
    "constants": 5,
    "batch": 6,
    "strides": 6,
    "unaligned": 6,
    "schedule": 6,
    "devices": 7,
    "divided": 7,
    "crossing": 7,
    "copied": 8,
}
"""The versions that added keys; all other keys are of version 1."""
FENCE = re.compile(r"^//[ \t]*---gemmviz[ \t]*\n(?P<body>(?://(?![ \t]*---).*\n)*)//[ \t]*---[ \t]*$", re.MULTILINE)
"""Finds the front matter in a kernel's text."""
Words = str | int
"""A text, or a whole number in its place: an expression of one number."""


class Matter(TypedDict, total=False):
    """The front matter; ``maps``, ``demo`` and ``schedule`` have separate readers."""

    version: FromOne
    title: str
    idea: str
    source: str
    alias: str
    entry: str
    exhibit: str
    capability: str
    math: str
    library: object
    args: list[Words | list[Words]]
    params: dict[str, Annotated[list[int], Meta(min_length=1)]]
    constants: dict[str, Words]
    block: list[Words]
    grid: list[Words]
    cluster: list[Words]
    requires: list[Words]
    shared: Words
    dtype: ElementType
    accumulate: SumType
    stores: SumType
    batch: Words
    strides: dict[MatrixName, Words]
    devices: Words
    divided: dict[MatrixName, Literal["rows", "columns"]]
    crossing: Literal["before", "meanwhile", "reads", "inside"]
    zero: list[Literal["C"]]
    unaligned: list[MatrixName]
    copied: list[Literal["A", "B"]]
    epilogue: Literal["", "relu"]
    layout: dict[MatrixName, Literal["row", "column"]]
    maps: object
    demo: object
    schedule: object
    code_of: object


Table = TypeVar("Table")
Wanted = Callable[[], Mapping[str, str]]
"""Gives by key what its value must be, in words for people; called for an error only."""


def _wanted() -> Mapping[str, str]:
    """Return what the value of each key must be."""
    text, texts = tr("must be a text"), tr("must be a list of texts")
    sum_type = tr("must be one of {known}", known=", ".join(SUM_TYPES))
    return {
        "version": tr("must be a whole number from 1, for example {example}", example=f"version = {VERSION}"),
        **dict.fromkeys(("title", "idea", "source", "alias", "entry", "exhibit", "capability", "math"), text),
        "args": tr(
            "must be a list of texts; a list in it is a structure, with its members in order; {star} before them: a "
            "pointer",
            star='"*"',
        ),
        **dict.fromkeys(("block", "grid", "cluster", "requires"), texts),
        "params": tr(
            "must be a table of lists of at least one whole number, for example {example}",
            example="params = { TS = [8, 16, 32] }",
        ),
        "constants": tr(
            "must be a table of expressions of sizes, for example {example}", example='constants = { WIDTH = "N" }'
        ),
        "shared": tr("must be an expression"),
        "batch": tr("must be an expression: how many products one launch computes"),
        "strides": tr(
            "must give matrices the elements between two entries of the batch, for example {example}",
            example="strides = { B = 0 }",
        ),
        "dtype": tr("must be one of {known}", known=", ".join(ELEMENT_TYPES)),
        "accumulate": sum_type,
        "stores": sum_type,
        "devices": tr("must be an expression: how many GPUs compute the product"),
        "divided": tr(
            "must give matrices {known}, for example {example}",
            known='"rows", "columns"',
            example='divided = { A = "rows", B = "columns", C = "columns" }',
        ),
        "crossing": tr(
            "must be one of {known}: how the rows of A that other GPUs hold cross the link",
            known='"before", "meanwhile", "reads", "inside"',
        ),
        "epilogue": tr(
            "must be {known}, or left out: the function that the kernel applies to its result", known='"relu"'
        ),
        "zero": tr("must be {known}: the matrices that are set to zero before each launch", known='["C"]'),
        "unaligned": tr(
            "must be a list of matrices with tensor maps, for example {example}", example='unaligned = ["A", "B"]'
        ),
        "copied": tr(
            "must be a list of matrices that are unaligned, for example {example}", example='copied = ["A", "B"]'
        ),
        "layout": tr(
            "must give matrices {known}, for example {example}",
            known='"row", "column"',
            example='layout = { B = "column" }',
        ),
    }


def code_start(text: str) -> int:
    """Return where a kernel's code begins: behind its front matter, or at 0 where there is none."""
    found = FENCE.search(text)
    return found.end() if found else 0


def read_matter(table: Mapping[str, object]) -> Matter:
    """Return a front matter whose values are checked; unknown keys are left out.

    Raises
    ------
    FrontMatterError
        For a value of another type.
    """
    matter = read_table(table, Matter, _wanted)
    # Where no argument is the number of a GPU, GPU may be a macro of the file.
    given = matter.get("args", [])
    number = (NUMBER,) if any(one == NUMBER or (isinstance(one, list) and NUMBER in one) for one in given) else ()
    for name in matter.get("params", {}):
        if name in (*SCALARS, *MATRICES, D, BIAS, *number, batch.COUNT, *batch.STRIDES) or not name.isidentifier():
            raise FrontMatterError(tr("{place}: choose another name", place=f"params.{name}"), about="params")
    return matter


def read_table(table: Mapping[str, object], form: type[Table], wanted: Wanted, within: str = "") -> Table:
    """Return a table as a TypedDict; the error about its first wrong value has the allowed values.

    Parameters
    ----------
    table
        From a TOML text.
    form
        The TypedDict.
    wanted
        Gives by key what its value must be.
    within
        The prefix of each key in the message, such as ``"demo."``.

    Raises
    ------
    FrontMatterError
        For a value that is not of its type.
    """
    read: dict[str, object] = {}
    for key, its in hints_of(form).items():
        if key in table:
            try:
                read[key] = read_as(table[key], its)
            except Misfit as misfit:
                place = misfit.place if misfit.place[:1] in ("", "[") else f".{misfit.place}"
                name = within + key
                raise FrontMatterError(
                    _refused(name, wanted()[key], name + place, misfit.value), about=name.partition(".")[0]
                ) from None
    return cast(Table, read)


def _refused(key: str, wanted: str, place: str, value: object) -> str:
    """Return the message about a value, which is at another place where `key` has a table or a list."""
    if value is None:  # TOML has no null
        return tr("{key} {wanted}", key=key, wanted=wanted)
    if place == key:
        return tr("{key} {wanted}, not {value}", key=key, wanted=wanted, value=quoted(value))
    return tr("{key} {wanted}; {place} is {value}", key=key, wanted=wanted, place=place, value=quoted(value))


def needed_version(keys: Iterable[str]) -> int:
    """Return the lowest version of the front matter that knows some keys."""
    return max((_SINCE.get(key, 1) for key in keys), default=1)


def one_line(text: str) -> str:
    """Return a text with single spaces."""
    return " ".join(text.split())


def math(matter: Matter) -> str:
    """Return how products are made and added, a key of `MATHS`; empty if the types say it.

    Raises
    ------
    FrontMatterError
        When the element type of A and B does not have them.
    """
    value, element_type = one_line(matter.get("math", "")), matter.get("dtype", "float32")
    if value and element_type not in MATHS.get(value, ()):
        text = tr(
            "math may be {operands} where dtype is float32, {promoted} where it is a float of 8 bits, and is left out "
            "elsewhere; not {value}",
            operands=", ".join(f'"{name}"' for name in OPERAND_ROUNDOFF),
            promoted='"promoted"',
            value=quoted(value),
        )
        raise FrontMatterError(text, about="math")
    return value


def sums(matter: Matter) -> SumType:
    """Return the type that sums are kept in: by default that of A and B, or of 32 bits where these have 8."""
    return matter.get("accumulate", sums_of(matter.get("dtype", "float32")))


def stores(matter: Matter) -> SumType | None:
    """Return the element type of C where it is another than that of the sums, or None."""
    value = matter.get("stores")
    return value if value != sums(matter) else None


def column_major(matter: Matter) -> frozenset[str]:
    """Return the matrices that are stored by columns."""
    return frozenset(matrix for matrix, order in matter.get("layout", {}).items() if order == "column")


def needed_capability(matter: Matter, with_tma: str) -> str:
    """Return the declared capability, or the lowest one of tensor maps and clusters where the kernel has these.

    Parameters
    ----------
    matter
        The front matter.
    with_tma
        What needs that capability, for people; empty without tensor maps and clusters.

    Raises
    ------
    FrontMatterError
        When it is no capability, or a lower one than these need.
    """
    declared = capability.checked(one_line(matter.get("capability", "")))
    if with_tma and not declared:
        return capability.TMA
    if with_tma and capability.number(declared) < capability.number(capability.TMA):
        text = tr(
            "capability is {declared}, but {key} needs {needed} or later",
            declared=declared,
            key=with_tma,
            needed=capability.TMA,
        )
        raise FrontMatterError(text, about="capability")
    return declared


def expressions(words: Iterable[Words]) -> tuple[Expression, ...]:
    """Return a list of the front matter as expressions."""
    return tuple(Expression(str(word)) for word in words)


def arguments(matter: Matter) -> tuple[tuple[str, ...], tuple[tuple[int, int], ...], tuple[bool, ...]]:
    """Return the roles of all arguments in order.

    Returns
    -------
    tuple
        The roles, with those of a structure's members in its place; of each structure the position of its first
        member and the position after its last one; and whether the kernel takes a pointer to it.
    """
    roles: list[str] = []
    structures, pointers = [], []
    for argument in matter.get("args", []):
        members = argument if isinstance(argument, list) else [argument]
        if isinstance(argument, list):
            pointers.append(members[:1] == [POINTER])
            members = members[pointers[-1] :]
            structures.append((len(roles), len(roles) + len(members)))
        roles += map(str, members)
    return tuple(roles), tuple(structures), tuple(pointers)


def batch_form(matter: Matter) -> BatchForm | None:
    """Return the batch, or None where one launch computes one product.

    Raises
    ------
    FrontMatterError
        For strides without a batch.
    """
    strides: dict[str, Expression] = {
        matrix: Expression(str(stride)) for matrix, stride in matter.get("strides", {}).items()
    }
    if "batch" in matter:
        return BatchForm(Expression(str(matter["batch"])), strides)
    if strides:
        raise FrontMatterError(
            tr("strides are those of a batch: add batch, the number of its entries"), about="strides"
        )
    return None


def left_out(unknown: Iterable[str], version: int, file: str) -> tuple[str, ...]:
    """Return a sentence about keys that only a newer gemmviz knows, if there are any.

    Parameters
    ----------
    unknown
        The keys.
    version
        The version that the file is written for.
    file
        Its name.
    """
    keys = ", ".join(map(repr, unknown))
    if not keys:
        return ()
    sentence = tr(
        "{file} is written for version {version} of the front matter, and this gemmviz knows version {known}: "
        "it leaves out {keys}.",
        file=file,
        version=version,
        known=VERSION,
        keys=keys,
    )
    return (sentence,)
