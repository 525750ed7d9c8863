"""Checks that a front matter describes a launch: the entry, its arguments, its shapes and the names in expressions."""

import re
from collections.abc import Collection, Iterable, Sequence

from gemmviz.catalogue import batch, tensor_map
from gemmviz.catalogue.errors import FrontMatterError
from gemmviz.catalogue.expression import Expression, not_declared
from gemmviz.catalogue.front_matter import SCALARS
from gemmviz.catalogue.gpu_roles import NUMBER, ROWS
from gemmviz.catalogue.kernel_type import Kernel
from gemmviz.catalogue.matrices import BIAS, MATRICES, C, D
from gemmviz.language import tr

_MAPS = tuple(matrix + tensor_map.SUFFIX for matrix in MATRICES)
_KNOWN = (*MATRICES, D, BIAS, *SCALARS, *_MAPS, *batch.ROLES, NUMBER)

_MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)\(((?:[^\n]|(?<=\\)\n)*)", re.MULTILINE)
_CALLED = re.compile(r"\b([A-Za-z_]\w*)\s*\(")


def check_entry(entry: str, text: str) -> None:
    """Check that an entry is the name of a function of the file.

    Parameters
    ----------
    entry
        As in the front matter: ``"gputiled<TS>"``.
    text
        The file.

    Raises
    ------
    FrontMatterError
        When it is no name, or the file defines no such function.
    """
    if not re.fullmatch(r"[A-Za-z_]\w*(::[A-Za-z_]\w*)*(\s*<[\w\s,:<>]+>)?", entry):
        raise FrontMatterError(
            tr("entry must name the function, for example {example}", example='entry = "gputiled<TS>"'), about="entry"
        )
    function = re.split(r"[\s<]", entry)[0].rpartition("::")[2]
    if all(found[1] != function for found in _CALLED.finditer(text)) and not _is_made(function, text):
        raise FrontMatterError(
            tr("entry names {function}, but the file defines no such function", function=repr(function)), about="entry"
        )


def _is_made(function: str, text: str) -> bool:
    """Return whether a macro makes the kernel: the name is one of its arguments, or may be put together of them."""
    makers = [name for name, body in _MACRO.findall(text) if "__global__" in body]
    return any(re.search(rf"\b{name}\s*\([^;{{}}]*\b{function}\b", text) for name in makers) or (
        bool(makers) and "##" in text
    )


def check_arguments(args: Sequence[str], maps: Collection[str]) -> None:
    """Check the roles of an entry's parameters.

    Parameters
    ----------
    args
        The role of each parameter: a matrix, its tensor map or a scalar.
    maps
        The matrices whose tensor maps the front matter describes.

    Raises
    ------
    FrontMatterError
        For a role that does not exist, a matrix that is missing, or a tensor map that is not described or not used.
    """
    if not args:
        raise FrontMatterError(
            tr(
                "args must give the role of each parameter of the entry, for example {example}",
                example='["C", "A", "B", "N"]',
            ),
            about="args",
        )
    for argument in args:
        if argument not in _KNOWN and not argument.isdecimal() and not _of_sizes(argument):
            raise FrontMatterError(
                tr("args names {role}; known are {known}", role=repr(argument), known=", ".join(_KNOWN)), about="args"
            )
    missing = [m for m, mapped in zip(MATRICES, _MAPS, strict=True) if not {m, mapped, m + batch.SUFFIX} & {*args}]
    if missing:
        raise FrontMatterError(tr("args lacks {matrix}: a GEMM needs A, B and C", matrix=missing[0]), about="args")
    if D in args and _MAPS[C] in args:
        raise FrontMatterError(
            tr("args names D, so that C is only read, and C.map: a map of D is not known"), about="args"
        )
    for matrix, mapped in zip(MATRICES, _MAPS, strict=True):
        if mapped in args and matrix not in maps:
            raise FrontMatterError(
                tr(
                    "args names {role}, but maps has no {matrix}: add the size of its box",
                    role=repr(mapped),
                    matrix=matrix,
                ),
                about="args",
            )
        if matrix in maps and mapped not in args:
            raise FrontMatterError(
                tr(
                    "maps describes {matrix}, but args has no {role}: the map is not used",
                    role=repr(mapped),
                    matrix=matrix,
                ),
                about="maps",
            )


def check_cuda_forms(
    backend: str, args: Sequence[str], maps: Collection[str], has_structs: bool, form: batch.BatchForm | None
) -> None:
    """Check structures as parameters, and batches: only CUDA kernels have these.

    Parameters
    ----------
    backend
        Of the kernel.
    args, maps
        As for `check_arguments`.
    has_structs, form
        Whether a parameter is a structure, and the batch.

    Raises
    ------
    FrontMatterError
        For a kernel in C, a batch with tensor maps, and a role of a batch where there is none.
    """
    if backend != "cuda":
        raise FrontMatterError(
            tr("structures in args and batch are for CUDA kernels"), about="batch" if form is not None else "args"
        )
    if has_structs and any(name in _MAPS for name in args):
        raise FrontMatterError(
            tr("args has a structure and a tensor map: give the map as a parameter of its own type only"), about="args"
        )
    if form is None and (found := [name for name in args if name in batch.ROLES]):
        raise FrontMatterError(
            tr(
                "args names {role}, but there is no batch: add batch, the number of its entries",
                role=repr(found[0]),
            ),
            about="args",
        )
    if form is not None and maps:
        raise FrontMatterError(tr("a batch with tensor maps is not known: a map describes one matrix"), about="batch")


def check_divided(kernel: Kernel) -> None:
    """Check that several GPUs can compute a kernel's product together, each with its part of the matrices.

    Raises
    ------
    FrontMatterError
        For a kernel in C, and for features that only one GPU supports.
    """
    inside = kernel.division is not None and kernel.division.inside
    alone = {D, BIAS, "alpha", "beta", *batch.ROLES} - ({ROWS} if inside else set())
    if kernel.backend != "cuda":
        raise FrontMatterError(tr("devices is for CUDA kernels"), about="devices")
    if kernel.batch or kernel.structs or kernel.zeroed or {*kernel.args} & alone:
        raise FrontMatterError(
            tr("devices goes with A, B, C, their maps and sizes in args only, without batch and zero"), about="devices"
        )
    if inside and not {"A", ROWS} <= {*kernel.args}:
        raise FrontMatterError(
            tr(
                "{key} needs in args A, where the kernel puts all rows, and {role}, the rows of each GPU",
                key='crossing = "inside"',
                role=ROWS,
            ),
            about="crossing",
        )
    if kernel.column_major & {"A", "C"}:
        raise FrontMatterError(
            tr("devices needs A and C that are stored by rows: panels of A are some of its rows"), about="devices"
        )
    if kernel.unaligned:
        raise FrontMatterError(
            tr("devices needs rows of multiples of 16 bytes: leave unaligned empty"), about="devices"
        )


def _of_sizes(text: str) -> bool:
    """Return whether an argument is computed from sizes, as ``"4 * N"`` is."""
    try:
        names = Expression(text).names()
    except FrontMatterError:
        return False
    return bool(names) and names <= {"M", "N", "K"}


def check_shapes(**shapes: Sequence[Expression]) -> None:
    """Check that each shape of a launch, by its key in the front matter, has one to three dimensions.

    Raises
    ------
    FrontMatterError
        For the first shape that has not.
    """
    for key, shape in shapes.items():
        if not 1 <= len(shape) <= 3:
            raise FrontMatterError(tr("{key} must hold one to three expressions (x, y, z)", key=key), about=key)


def check_names(expressions: Iterable[Expression], params: Iterable[str]) -> None:
    """Check that expressions use M, N, K and declared parameters only.

    Raises
    ------
    FrontMatterError
        For the first other name.
    """
    known = {"M", "N", "K", *params}
    for expression in expressions:
        strange = expression.names() - known
        if strange:
            raise not_declared(expression.text, min(strange))
