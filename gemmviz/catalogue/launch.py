"""A launch: a kernel with its size and parameters filled in, checked before anything is compiled."""

import math
import re
from dataclasses import dataclass, field, replace
from functools import lru_cache

from gemmviz.catalogue import batch
from gemmviz.catalogue.batch_entries import Batch, filled_in
from gemmviz.catalogue.conditions import Condition, conditions, holds
from gemmviz.catalogue.division import Division, Panel, panels
from gemmviz.catalogue.errors import ConstraintError, FrontMatterError
from gemmviz.catalogue.expression import Expression, all_hold
from gemmviz.catalogue.fault_line import located
from gemmviz.catalogue.gpu_roles import NUMBER, ROWS
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.no_c import has_no_c
from gemmviz.catalogue.problem import LARGEST, Problem
from gemmviz.catalogue.scheduled import part_of, usual
from gemmviz.catalogue.tensor_map import TensorMap, fill_in
from gemmviz.language import tr
from gemmviz.language.numbers import thousands

# CUDA C++ Programming Guide, "Technical Specifications per Compute Capability" (the same since 3.0).
MAX_THREADS_PER_BLOCK = 1024
MAX_BLOCK = (1024, 1024, 64)
MAX_GRID = (2**31 - 1, 65535, 65535)
_MOST_WRITTEN = 10**15  # numbers from here on are written as a power of ten
# The largest cluster that every device with clusters takes.
MAX_CLUSTER = 8
# The largest that any compute capability so far gives to a block (9.0 and 10.0), in bytes; see the same table.
MAX_SHARED_BYTES = 227 << 10
_FAR = 1024  # a size is moved by up to so much, or else to one up to it, or to one of its multiples
_LARGEST_FIXED = 16 * _FAR  # the largest size that kernels are usually fixed to
Dim3 = tuple[int, int, int]
SCALED = {"alpha": 2.0, "beta": -1.0}
"""Factors with which a kernel is tried, beside 1 and 0: one that forgets a factor computes another C."""


class SharedMemoryError(ConstraintError):
    """A launch with more dynamic shared memory than any GPU gives to a block, or with less than none."""


@dataclass(frozen=True)
class Launch:
    """One concrete launch.

    Attributes
    ----------
    kernel, problem, params
        The launched kernel, its size, and the value of each parameter.
    entry
        The function with its template arguments filled in: ``"gputiled<32>"``.
    macros
        Parameters that are not template arguments; the compiler gets them as macros.
    constants
        Constants of the source that stand for sizes, and their values.
    block, grid
        Threads of a block and blocks of the grid, (x, y, z). (1, 1, 1) on the CPU.
    shared_bytes
        Dynamic shared memory per block.
    maps
        The tensor maps that the kernel takes, by matrix.
    cluster
        Blocks of a cluster, (x, y, z); (1, 1, 1) without clusters.
    batch
        The entries of a batch; None for one product.
    devices, part
        The GPUs that compute the product together, and the launch that each of them makes, with its part of the product
        as the problem; the other shapes are the same. 1 and None for one GPU.
    gpu
        Of such a launch, the number of its GPU and that of all GPUs.
    alpha, beta
        The factors of A B and of C, for kernels that take them.
    tries_epilogue
        Whether the bias holds whole numbers, and sums may be negative. Else the bias is 0, and a kernel that sets
        negative elements to zero gets none.
    """

    kernel: Kernel
    problem: Problem
    params: dict[str, int]
    entry: str
    macros: dict[str, int]
    block: Dim3
    grid: Dim3
    shared_bytes: int
    maps: dict[str, TensorMap] = field(default_factory=dict)
    cluster: Dim3 = (1, 1, 1)
    alpha: float = 1.0
    beta: float = 0.0
    constants: dict[str, int] = field(default_factory=dict)
    batch: Batch | None = None
    devices: int = 1
    part: "Launch | None" = None
    gpu: tuple[int, int] = (0, 1)
    tries_epilogue: bool = False

    @property
    def threads(self) -> int:
        """Threads per block."""
        return math.prod(self.block)

    @property
    def blocks(self) -> int:
        """Blocks of the grid."""
        return math.prod(self.grid)

    @property
    def flops(self) -> int:
        """Floating-point operations of the launch: those of the problem, for each entry of a batch."""
        return self.problem.flops * (self.batch.count if self.batch else 1)

    def elements(self, matrix: str) -> int:
        """Return the elements that a matrix takes in memory: ``"A"``, ``"B"`` or ``"C"``, with all of a batch."""
        size = math.prod(self.problem.shape(matrix))
        return self.batch.elements(matrix, size) if self.batch else size

    @property
    def panels(self) -> list[Panel]:
        """The launch of each GPU, in the order of the GPUs; one launch for one GPU."""
        division = self.kernel.division
        return panels(self.devices, division is not None and division.in_panels)

    @property
    def gathers(self) -> bool:
        """Whether this launch of one GPU copies the rows of A of the others into its own A."""
        return ROWS in self.kernel.args and self.batch is None

    @property
    def one_entry(self) -> "Launch":
        """The launch of the entry that is recorded: its grid has one block along z. Without a batch, the launch."""
        return replace(self, grid=(*self.grid[:2], 1)) if self.batch else self

    @property
    def label(self) -> str:
        """The text for people: the entry with its parameters, and the changes made to the kernel on file."""
        extra = ", ".join(f"{name}={value}" for name, value in self.macros.items())
        variant = "".join(self.kernel.name.partition("~")[1:]) if self.entry else ""
        return (self.entry or self.kernel.name) + (f" [{extra}]" if extra else "") + variant

    @property
    def scaled(self) -> "Launch | None":
        """The launch with alpha = 2, beta = -1, a bias and negative sums, as far as the kernel takes them.

        None for a kernel that takes none. Without a C to read, beta has no effect: it stays 0.
        """
        taken = {*self.kernel.args} - ({"beta"} if has_no_c(self.kernel) else set())
        alpha, beta = (SCALED[name] if name in taken else self.scalar(name) for name in ("alpha", "beta"))
        tries = self.kernel.has_bias or bool(self.kernel.epilogue)
        made = replace(self, alpha=alpha, beta=beta, tries_epilogue=tries)
        return None if made == self else made

    def scalar(self, name: str) -> int | float:
        """Return the value of a scalar argument: M, N, K, a leading dimension in elements, alpha, beta or the GPU.

        A whole number is its own value; for a pointer, 0 is none. An expression of sizes has its value.
        """
        problem = self.problem
        if name.isdecimal():
            return int(name)
        if name in ("alpha", "beta"):
            return self.alpha if name == "alpha" else self.beta
        if name == NUMBER:
            return self.gpu[0]
        if name in ("lda", "ldb", "ldc", "ldd"):
            matrix = _stored_as(name[-1].upper())
            rows, columns = problem.shape(matrix)
            return rows if matrix in self.kernel.column_major else columns
        if self.batch and name in batch.ROLES:
            return self.batch.count if name == batch.COUNT else self.batch.strides[_stored_as(batch.STRIDES[name])]
        sizes = _names(problem, {})
        return sizes[name] if name in sizes else Expression(name).integer(sizes)


def _stored_as(matrix: str) -> str:
    return "C" if matrix == "D" else matrix


def launch(kernel: Kernel, problem: Problem, params: dict[str, int] | None = None) -> Launch:
    """Fill in a kernel's launch.

    Parameters
    ----------
    kernel, problem
        The kernel to launch, and its size.
    params
        Values for some of the kernel's parameters; the others take those of its schedule, or else their default. A
        value need not be one of those offered, as long as the constraints hold.

    Raises
    ------
    ConstraintError
        When a parameter does not exist, a constraint does not hold (the message offers the nearest size that does),
        or CUDA's limits on blocks, grids and shared memory are exceeded.
    FrontMatterError
        When an expression cannot be evaluated; the message names file and line.
    """
    try:
        return _filled_in(kernel, problem, params or {})
    except FrontMatterError as error:
        raise located(error, kernel.text, kernel.path) from None


def _filled_in(kernel: Kernel, problem: Problem, params: dict[str, int]) -> Launch:
    for name in params:
        if name not in kernel.params:
            known = ", ".join(kernel.params) or tr("none")
            reason = tr(
                "{kernel} has no parameter {name}; it has: {known}", kernel=kernel.name, name=repr(name), known=known
            )
            raise ConstraintError(reason)
    chosen = usual(kernel, problem, params)
    if kernel.division:
        return _divided(kernel, kernel.division, problem, chosen)
    names = _names(problem, chosen)
    shapes = (("block", kernel.block), ("grid", kernel.grid), ("cluster", kernel.cluster))
    must_hold = conditions(kernel)
    for condition in must_hold[: len(kernel.requires)]:
        _demand(condition, kernel, problem, chosen)
    block, grid, cluster = (_dim3(kernel, key, [e.integer(names) for e in shape]) for key, shape in shapes)
    # The conditions of the copy engine and of clusters divide by numbers that were just found to be at least 1.
    for condition in must_hold[len(kernel.requires) :]:
        _demand(condition, kernel, problem, chosen)
    if math.prod(block) > MAX_THREADS_PER_BLOCK or any(b > m for b, m in zip(block, MAX_BLOCK, strict=True)):
        reason = tr("a block of {count} threads; CUDA allows {most}", count=_times(block), most=MAX_THREADS_PER_BLOCK)
        raise ConstraintError(f"{kernel.name}: {reason}")
    if any(g > m for g, m in zip(grid, MAX_GRID, strict=True)):
        reason = tr("a grid of {count} blocks; CUDA allows {most}", count=_times(grid), most=_times(MAX_GRID))
        raise ConstraintError(f"{kernel.name}: {reason}")
    if math.prod(cluster) > MAX_CLUSTER:
        reason = tr("a cluster of {count} blocks; CUDA allows {most}", count=_times(cluster), most=MAX_CLUSTER)
        raise ConstraintError(f"{kernel.name}: {reason}")
    function, opening, arguments = kernel.entry.partition("<")
    entry = function + re.sub(r"[A-Za-z_]\w*", lambda word: str(names.get(word[0], word[0])), opening + arguments)
    in_entry = set(re.findall(r"\w+", kernel.entry))
    macros = {name: value for name, value in chosen.items() if name not in in_entry}
    shared_bytes = kernel.shared.integer(names)
    if not 0 <= shared_bytes <= MAX_SHARED_BYTES:
        reason = tr(
            "shared comes out as {count} bytes of dynamic shared memory; a block can have 0 to {most}",
            count=_counted(shared_bytes),
            most=thousands(MAX_SHARED_BYTES),
        )
        raise SharedMemoryError(f"{kernel.name}: {reason}")
    constants = {name: expression.integer(names) for name, expression in kernel.constants.items()}
    maps = _maps(kernel, names)
    filled = Launch(
        kernel, problem, chosen, entry, macros, block, grid, shared_bytes, maps, cluster, constants=constants
    )
    if kernel.batch is None:
        return filled
    try:
        return replace(filled, batch=filled_in(kernel.batch, problem, names, grid[2]))
    except ConstraintError as error:
        raise ConstraintError(f"{kernel.name}: {error}") from None


def _divided(kernel: Kernel, division: Division, problem: Problem, chosen: dict[str, int]) -> Launch:
    """Fill in the launch of a kernel for several GPUs; all conditions are about sizes and parameters."""
    for condition in conditions(kernel):
        _demand(condition, kernel, problem, chosen)
    part = _filled_in(replace(kernel, division=None), part_of(kernel, problem, chosen), chosen)
    devices = division.devices.integer(_names(problem, chosen))
    part = replace(part, gpu=(0, devices))
    return replace(part, kernel=kernel, problem=problem, devices=devices, part=part)


def _maps(kernel: Kernel, names: dict[str, int]) -> dict[str, TensorMap]:
    try:
        return {matrix: fill_in(matrix, box, kernel.dtype_of(matrix), names) for matrix, box in kernel.maps.items()}
    except ConstraintError as error:
        raise ConstraintError(f"{kernel.name}: {error}") from None


def _names(problem: Problem, params: dict[str, int]) -> dict[str, int]:
    return {"M": problem.m, "N": problem.n, "K": problem.k, **params}


def _dim3(kernel: Kernel, key: str, values: list[int]) -> Dim3:
    if any(v < 1 for v in values):
        reason = tr("{key} comes out as {sizes}; each must be at least 1", key=key, sizes=_times(values))
        raise ConstraintError(f"{kernel.name}: {reason}")
    x, y, z = (*values, 1, 1, 1)[:3]
    return x, y, z


def _counted(count: int) -> str:
    if abs(count) < _MOST_WRITTEN:
        return thousands(count)
    return f"{'-' if count < 0 else ''}10^{len(str(abs(count))) - 1}"


def _times(values: list[int] | Dim3) -> str:
    return " x ".join(_counted(v) if abs(v) >= _MOST_WRITTEN else str(v) for v in values)


def _demand(condition: Condition, kernel: Kernel, problem: Problem, params: dict[str, int]) -> None:
    """Refuse a launch for which a condition does not hold; offer the nearest size, or parameters, for which all do."""
    values = _names(problem, params)
    if condition.expression.evaluate(values):
        return
    # Of many parameters, only those that the condition is about.
    asked = condition.expression.names()
    given = ", ".join(f"{k} = {v}" for k, v in values.items() if k in asked)
    named = {"kernel": kernel.name, "condition": condition.expression.text, "given": given}
    nearest = nearest_size(kernel, problem, params)
    if nearest is not None:
        text = tr(
            "{kernel} requires {condition} ({given}); the nearest size that works is {nearest}",
            nearest=nearest,
            **named,
        )
    elif changes := single_changes(kernel, problem, params):
        any_of = tr(" or ").join(f"{name} = {value}" for name, value in changes.items())
        text = tr("{kernel} requires {condition} ({given}); it works with {any_of}", any_of=any_of, **named)
    else:
        text = tr("{kernel} requires {condition} ({given})", **named)
    raise ConstraintError(f"{text}. {condition.why}" if condition.why else text)


def single_changes(kernel: Kernel, problem: Problem, params: dict[str, int]) -> dict[str, int]:
    """Return the parameters that, changed alone, make a launch possible, each with its nearest such value."""
    must_hold = [condition.expression for condition in conditions(kernel)]
    found: dict[str, int] = {}
    for name, offered in kernel.params.items():
        nearest_first = sorted(offered, key=lambda value: abs(value - params[name]))
        fits = (v for v in nearest_first if holds(must_hold, _names(problem, params | {name: v})))
        value = next(fits, None)
        if value is not None:
            found[name] = value
    return found


def nearest_size(kernel: Kernel, problem: Problem, params: dict[str, int]) -> Problem | None:
    """Return the nearest size for which all constraints hold, or None when the parameters themselves are at fault.

    Each of M, N, K is moved by itself, up before down: by up to 1024, which covers every tile in use, or to a size that
    kernels are often written for: one up to 1024, or a multiple of 1024. Sizes that the kernel takes to be the same
    (``requires = ["K == N"]``) are moved together.
    """
    sizes = {"M": problem.m, "N": problem.n, "K": problem.k}
    must_hold = [condition.expression for condition in conditions(kernel)]
    if not holds([e for e in must_hold if not e.names() & sizes.keys()], params):
        return None  # no size changes that
    for together in _tied(kernel):
        fits = all_hold(e for e in must_hold if e.names() & together)
        start = max(sizes[name] for name in together)
        values = params | sizes
        try:
            for size in _near(start):
                for name in together:
                    values[name] = size
                if fits(values):
                    sizes |= dict.fromkeys(together, size)
                    break
        except FrontMatterError:
            return None
    found = Problem(sizes["M"], sizes["N"], sizes["K"])
    values = _names(found, params)
    return found if all(e.evaluate(values) for e in must_hold) else None


@lru_cache(maxsize=64)
def _near(start: int) -> tuple[int, ...]:
    """Return the sizes to which one may be moved, the nearest first, and of equally near ones the larger first."""
    sizes = {*range(start - _FAR, start + _FAR + 1), *range(1, _FAR), *range(_FAR, _LARGEST_FIXED + 1, _FAR)}
    return tuple(sorted((size for size in sizes if 1 <= size <= LARGEST), key=lambda size: (abs(size - start), -size)))


def _tied(kernel: Kernel) -> list[set[str]]:
    """Return the sizes in groups that must be equal, in the order M, N, K."""
    groups = [{"M"}, {"N"}, {"K"}]
    for condition in kernel.requires:
        pair = re.fullmatch(r"\s*([MNK])\s*==\s*([MNK])\s*", condition.text)
        if pair:
            one, other = (next(g for g in groups if name in g) for name in pair.groups())
            if one is not other:
                one |= other
                groups.remove(other)
    return groups
