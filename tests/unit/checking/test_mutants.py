"""Mistakes made by script in the ladder's kernels are reported in a fitting class and on their line; originals are not.

A fixed sample, at small sizes. All mutants: ``python benchmarks/mutants.py``.
"""

import pytest
from mutating import Mutant, mutants, sample
from mutating.expected import is_named, lines
from mutating.sizes import small_launches

from gemmviz.catalogue.errors import KernelFault
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.problem import Problem
from gemmviz.checking.crash import crashed
from gemmviz.checking.examine import examine
from gemmviz.trace.hazards import Finding

# Kernels for several GPUs have the text of `every_shape`.
RUNGS = [kernel for kernel in ladder() if kernel.recordable and not kernel.exhibit and kernel.division is None]
ALL = [mutant for kernel in RUNGS for mutant in mutants(kernel)]
SAMPLE = sample(ALL, 28)
FIRST = {mutant.operator: mutant for mutant in reversed(SAMPLE)}
"""One mutant of each operator."""
# One more step of a loop behind a bounds check, or both indices exchanged in a square block: nothing changes. Nor does
# much of what a C kernel does about its threads, which are run one after the other.
MAY_BE_EQUIVALENT = {"grow-bound", "swap-xy"}
# Changes without effect: a check of the second warp, in blocks of one warp; a second group of four rows, where a thread
# has four rows; two right ways to add up, of which the number of registers chooses one.
IS_EQUIVALENT = {
    ("register_buffer", "drop-factor"),
    ("async_pipeline", "drop-factor"),
    ("every_shape_fp32", "drop-factor"),
}
# All threads raise the same flag.
CHANGES_NOTHING = {"stream_k~remove-guard-211"}
# The products are in another line than the reads of their operands, and the finding names the reads.
NAMES_THE_READS = {("async_pipeline", "drop-accumulate")}
# The loop computes addresses: one that it leaves out points anywhere.
LEAVES_OUT_AN_ADDRESS = {("stream_k", "shrink-bound")}
# At the small sizes these change nothing: the last rows of a tile, whose addresses stay, are below the last one of C;
# no block is without k-steps; there is one block across, or one below. Beside each, a size and parameters where it
# does.
NEEDS_MORE = {
    "stream_k~shrink-bound-131": (Problem(128, 64, 32), {}),
    "stream_k~shrink-bound-239": (Problem(128, 64, 32), {}),
    "stream_k~remove-guard-51-2": (Problem(16, 16, 24), {"BLOCKS": 8}),
    "matmul_tc_2d_warp_tiling~drop-factor-24": (Problem(64, 64, 16), {}),
    "matmul_tc_2d_warp_tiling~drop-factor-24-2": (Problem(64, 64, 16), {}),
    "wmma_shared~drop-factor-34": (Problem(256, 128, 64), {}),
}
# Whole blocks leave together: no barrier is missed, and C is never written. (No tile has two parts there.) Or each
# block leaves its tile to another one, which does not exist.
ALL_LEAVE = {
    ("CC_V_SHORT_CIRCUIT", "return-above-barrier"),
    ("every_shape_bf16", "return-above-barrier"),
    ("stream_k", "remove-guard"),
}
# The copying function takes the shape of the whole array from its type: the compiler refuses another one.
REFUSED = {("async_pipeline", "shrink-shared")}
SIDES = (1, 2, 3, 5, 7, 11, 13, 16, 17, 19, 23, 31, 32, 33)
SIZES = [Problem.cube(n) for n in SIDES] + [
    Problem(*size) for size in ((1, 17, 5), (23, 1, 9), (11, 13, 1), (9, 34, 3), (37, 18, 41), (40, 24, 16))
]


def in_steps_of_four(mutant: Mutant) -> bool:
    """Return whether the end of a loop in steps of four is one less: over a multiple of four, this has no effect."""
    before, after = (text.split("\n") for text in (mutant.original.text, mutant.text))
    (changed,) = (one for one, other in zip(before, after, strict=True) if one != other)
    return mutant.operator == "shrink-bound" and "+= 4" in changed


def reported(mutant: Mutant) -> list[Finding]:
    """Return the findings at the first size that has any."""
    for problem, params in small_launches(mutant.original):
        try:
            report = examine(mutant.kernel, problem, params, deadline_s=5)
        except KernelFault as fault:
            report = crashed(mutant.kernel, problem, params, str(fault), fault.line, fault.defect, fault.array)
        if report.findings:
            return report.findings
    return []


@pytest.mark.parametrize(
    "mutant",
    [pytest.param(m, id=m.name, marks=[] if m in FIRST.values() else pytest.mark.thorough) for m in SAMPLE],
)
def test_a_mistake_is_reported_in_its_class_and_on_its_line(mutant: Mutant) -> None:
    findings, which = reported(mutant), (mutant.original.name, mutant.operator)
    if not findings:
        changes_nothing = mutant.operator in MAY_BE_EQUIVALENT or which in IS_EQUIVALENT or mutant.name in NEEDS_MORE
        changes_nothing = changes_nothing or mutant.name in CHANGES_NOTHING
        assert changes_nothing or in_steps_of_four(mutant) or mutant.original.backend == "c"
        return
    if which in ALL_LEAVE:
        assert [finding.kind for finding in findings] == ["element of C never written"]
        return
    if which in REFUSED and findings[0].kind == "does not compile":
        assert len(findings) == 1 and findings[0].line
        return
    if which in LEAVES_OUT_AN_ADDRESS and findings[0].kind == "crash":
        assert len(findings) == 1 and findings[0].line in lines(mutant)
        return
    assert is_named(mutant, findings) == (True, which not in NAMES_THE_READS), findings


@pytest.mark.thorough
@pytest.mark.parametrize("name", NEEDS_MORE)
def test_a_mistake_without_effect_at_the_small_sizes_is_found_at_another(name: str) -> None:
    (mutant,) = (mutant for mutant in ALL if mutant.name == name)
    problem, other = NEEDS_MORE[name]
    params = small_launches(mutant.original)[0][1] | other
    assert examine(mutant.original, problem, params, deadline_s=20).findings == []
    assert examine(mutant.kernel, problem, params, deadline_s=20).findings


def test_there_are_hundreds_of_mutants_of_every_operator_and_each_changes_one_line() -> None:
    assert len(ALL) > 500
    assert len({mutant.operator for mutant in SAMPLE}) == 14
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
