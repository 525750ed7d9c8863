"""Mistakes made by script in the ladder's kernels are reported in a fitting class and on their line; originals are not.

A sample at small sizes: a mutant of each operator from each chapter, chosen by a hash. All mutants: ``python
benchmarks/mutants.py``. Each mutant that is not reported so was read, and stands below with the reason.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import pytest
from mutating import Mutant, mutants, sample
from mutating.expected import is_named
from mutating.sizes import small_launches

from gemmviz.catalogue.errors import KernelFault
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.checking.crash import crashed
from gemmviz.checking.examine import examine
from gemmviz.checking.fault_reason import blame_locals
from gemmviz.trace.hazards import Finding

# Kernels for several GPUs have the text of `every_shape`.
RUNGS = [kernel for kernel in ladder() if kernel.recordable and not kernel.exhibit and kernel.division is None]
ALL = [mutant for kernel in RUNGS for mutant in mutants(kernel)]
SAMPLE = sample(ALL, 112)
FIRST = {mutant.operator: mutant for mutant in reversed(SAMPLE)}
"""One mutant of each operator."""


class What(NamedTuple):
    """A mutant by its kernel, its operator and its line without the mistake: other lines of the kernel may change."""

    kernel: str
    operator: str
    line: str


# All threads raise the same flag. Or the function is that for a C of 16 bits, and this kernel has floats. Or the check
# is about what is fetched into the cache: without it, this is something that nobody needs. Or the number decides what
# stays in L2, which is not recorded.
CHANGES_NOTHING = {
    What("every_shape_bf16", "remove-guard", "if (me == 0)"),
    What(
        "every_shape_bf16", "drop-factor", "int lane = threadIdx.x % 32, row = threadIdx.x % 128 / 32 * 16 + lane % 16;"
    ),
    What("simd_threads", "remove-guard", "else if (row >= 0 && row < rows)"),
    What(
        "fp8_in_turns",
        "swap-stride",
        "cache_policy policy_c = (long long)M * N > LARGE ? evict_first() : evict_unchanged();",
    ),
}
# At the small sizes these change nothing: there is one step of k; rows of B are not copied in pairs; there is one tile
# below; a cluster has several blocks; no tile has two parts; a thread has fewer sums. Beside each, a size and
# parameters where it does.
NEEDS_MORE = {
    What("persistent", "swap-xy", "if (threadIdx.x % 128 == 0)"): (Problem(64, 64, 200), {}),
    What(
        "every_shape_fp32",
        "drop-factor",
        "cp_async_ca_zfill<4 * EACH>(to + k * BN + j, from + j, row + k < rows && col + j < columns ? 4 * EACH : 0);",
    ): (Problem(16, 14, 16), {}),
    What(
        "mma_pipeline",
        "swap-xy",
        "unsigned top = blockIdx.x / (GROUP * across) * GROUP, high = min((unsigned)GROUP, down - top);",
    ): (Problem(64, 32, 32), {"GROUP": 1}),
    What(
        "every_shape_bf16",
        "return-above-barrier",
        "unsigned short column = ((1 << CLUSTER) - 1) << col_in * CLUSTER, row = 0;",
    ): (Problem(16, 16, 16), {"CLUSTER": 1, "ACROSS": 1}),
    What("every_shape", "swap-xy", "} else if (threadIdx.x / 32 == 1 && adds) {"): (
        Problem(64, 64, 256),
        {"SPLIT": 2, "CLUSTER": 1, "ACROSS": 1, "TOGETHER": 0, "BLOCKS": 2},
    ),
    What("every_shape_fp32", "grow-bound", "for (int i = 0; i < TM; i++) {"): (
        Problem(128, 256, 32),
        {"TM": 8, "WM": 2, "WN": 4, "TN": 16, "BLOCKS": 3},
    ),
}
SIDES = (1, 2, 3, 5, 7, 11, 13, 16, 17, 19, 23, 31, 32, 33)
SIZES = [Problem.cube(n) for n in SIDES] + [
    Problem(*size) for size in ((1, 17, 5), (23, 1, 9), (11, 13, 1), (9, 34, 3), (37, 18, 41), (40, 24, 16))
]


def what(mutant: Mutant) -> What:
    line = mutant.original.text.split("\n")[mutant.line - 1].split(" // ")[0].strip()
    return What(mutant.original.name, mutant.operator, line)


def in_larger_steps(mutant: Mutant) -> bool:
    """Return whether the end of a loop in steps of several is one less: over a multiple of these it has no effect."""
    steps = re.search(r"\+= (\d+)", what(mutant).line)
    return mutant.operator == "shrink-bound" and steps is not None and int(steps[1]) > 1


def in_a_square_block(mutant: Mutant) -> bool:
    """Return whether x and y of a thread are exchanged in a square block: then the threads exchange their work."""
    problem, params = small_launches(mutant.original)[0]
    x, y, _ = launch(mutant.original, problem, params).block
    return mutant.operator == "swap-xy" and "threadIdx" in what(mutant).line and x == y


def reported(mutant: Mutant, launches: Sequence[tuple[Problem, dict[str, int]]] = ()) -> list[Finding]:
    """Return the findings at the first size that has any, as the engine makes them of a kernel that ends early."""
    for problem, params in launches or small_launches(mutant.original):
        try:
            findings = examine(mutant.kernel, problem, params, deadline_s=5).findings
        except KernelFault as fault:
            findings = _crashed(mutant, problem, params, fault)
        if findings:
            return findings
    return []


def _crashed(mutant: Mutant, problem: Problem, params: dict[str, int], fault: KernelFault) -> list[Finding]:
    try:
        blame_locals(launch(mutant.kernel, problem, params), deadline_s=5)
    except KernelFault as reason:
        fault = reason if reason.defect == "read of memory nobody wrote" else fault
    return crashed(mutant.kernel, problem, params, str(fault), fault.line, fault.defect, fault.array).findings


@pytest.mark.parametrize(
    "mutant",
    [pytest.param(m, id=m.name, marks=[] if m in FIRST.values() else pytest.mark.thorough) for m in SAMPLE],
)
def test_a_mistake_is_reported_in_its_class_and_on_its_line(mutant: Mutant) -> None:
    findings = reported(mutant)
    if not findings:
        judged = what(mutant) in CHANGES_NOTHING or what(mutant) in NEEDS_MORE
        assert judged or in_larger_steps(mutant) or in_a_square_block(mutant)
        return
    if findings[0].kind == "does not compile":
        assert len(findings) == 1 and findings[0].line
        return
    assert is_named(mutant, findings) == (True, True), findings


@pytest.mark.thorough
@pytest.mark.parametrize("one", NEEDS_MORE)
def test_a_mistake_without_effect_at_the_small_sizes_is_found_at_another(one: What) -> None:
    mutant = next(mutant for mutant in SAMPLE if what(mutant) == one)
    problem, other = NEEDS_MORE[one]
    params = small_launches(mutant.original)[0][1] | other
    assert examine(mutant.original, problem, params, deadline_s=20).findings == []
    assert reported(mutant, [(problem, params)])


def test_what_is_judged_is_in_the_sample() -> None:
    assert {*CHANGES_NOTHING, *NEEDS_MORE} <= {what(mutant) for mutant in SAMPLE}


def test_a_change_in_one_kernel_leaves_the_mutants_of_the_others_in_the_sample() -> None:
    one, other = find("gputiled", RUNGS), find("vectorised", RUNGS)
    every = [*mutants(one), *mutants(other)]
    # The line moves, and what is made of it stays.
    moved = mutants(replace(one, text=one.text.replace("// ---\n", "// ---\n// A comment.\n", 1)))
    assert [m.digest for m in moved] == [m.digest for m in mutants(one)]
    fewer = [*mutants(one)[::2], *mutants(other)]
    before, after = ({m.digest for m in sample(some, 28) if m.original.name == other.name} for some in (every, fewer))
    assert before <= after


def test_there_are_hundreds_of_mutants_of_every_operator_and_each_changes_one_line() -> None:
    assert len(ALL) > 500
    assert len({mutant.operator for mutant in SAMPLE}) == 14 and len(SAMPLE) == 112
    for mutant in ALL:
        before, after = (text.split("\n") for text in (mutant.original.text, mutant.text))
        assert [i + 1 for i, (a, b) in enumerate(zip(before, after, strict=True)) if a != b] == [mutant.line]


@pytest.mark.sweep("gputiled")
@pytest.mark.parametrize("name", ["gputiled", "matmul_kernel_thread_tiling", "gpumult0"])
def test_nothing_is_reported_of_an_original_at_any_of_twenty_sizes(name: str) -> None:
    kernel = find(name, RUNGS)
    params = small_launches(kernel)[0][1]
    assert len(SIZES) == 20
    assert [(str(size), examine(kernel, size, params).findings) for size in SIZES] == [
        (str(size), []) for size in SIZES
    ]
