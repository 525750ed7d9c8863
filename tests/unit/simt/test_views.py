"""The two views of a recording: as compiled (what a compiler leaves) and as written (what the text names)."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from arriving import arrived
from recordings import own
from sampled import FEW

from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.launch import Launch, launch
from gemmviz.catalogue.problem import Problem
from gemmviz.session.values.picture_size import picture_params, picture_problem
from gemmviz.trace.cost import traffic
from gemmviz.trace.cost.traffic import ArrayTraffic
from gemmviz.trace.hazards import find as defects
from gemmviz.trace.recording import recording_cost
from gemmviz.trace.recording.record import record
from gemmviz.trace.recording.recording import Recording

EIGHT = Problem.cube(8)
EVERY = [kernel.name for kernel in ladder() if kernel.recordable and kernel.name != "mm_optimizado_printed"]
"""Also the exhibits; one of these does not compile."""


def shown(name: str) -> Launch:
    """Return the launch of a rung as the window opens it."""
    kernel = find(name, ladder())
    problem = picture_problem(kernel, EIGHT)
    return launch(kernel, problem, kernel.defaults | picture_params(kernel, problem))


def both(job: Launch) -> tuple[Recording, Recording]:
    return record(job), record(job, as_written=True)


def counts(recording: Recording) -> dict[str, ArrayTraffic]:
    return {array.name: array for array in traffic.measure(recording, None).arrays}


@cache
def of_rung(name: str, size: int, **params: int) -> tuple[dict[str, ArrayTraffic], dict[str, ArrayTraffic]]:
    compiled, written = both(launch(find(name, ladder()), Problem.cube(size), params))
    return counts(compiled), counts(written)


@pytest.mark.sweep(*FEW)
@pytest.mark.parametrize("name", EVERY)
def test_every_rung_records_in_both_views_and_the_text_names_no_fewer_accesses(name: str) -> None:
    compiled, written = both(shown(name))
    assert (compiled.as_written, written.as_written) == (False, True)
    assert (compiled.view, written.view) == ("as compiled", "as written")
    assert compiled.wrong == written.wrong
    assert np.array_equal(compiled.c, written.c, equal_nan=True)
    assert compiled.notes == written.notes
    assert all(site.line for site in written.sites)
    few, many = counts(compiled), counts(written)
    assert few.keys() == many.keys()
    for array in few:
        assert few[array].reads <= many[array].reads
        assert few[array].writes <= many[array].writes
        # An access is as wide in both: one vector is one access.
        assert few[array].reads * many[array].read_bytes == few[array].read_bytes * many[array].reads


@pytest.mark.parametrize("name", ["hostmult0", "gpumult0"])
def test_a_sum_in_memory_reads_c_at_every_step_as_written_and_never_as_compiled(name: str) -> None:
    params = {"BX": 32, "BY": 32} if name == "gpumult0" else {}
    compiled, written = of_rung(name, 64, **params)
    steps = 64**3
    assert [written[array].reads for array in "ABC"] == [steps] * 3
    assert [compiled[array].reads for array in "ABC"] == [steps, steps, 0]
    assert written["C"].writes == compiled["C"].writes == steps + 64**2
    if name == "gpumult0":
        assert (written["C"].read_requests, written["C"].read_units) == (8_192, 32_768)


@pytest.mark.parametrize("name", ["hostmult1", "gpumult0_restrict"])
def test_restrict_lets_the_compiler_keep_what_the_text_names(name: str) -> None:
    compiled, written = of_rung(name, 8)
    assert (compiled["C"].reads, compiled["C"].writes) == (0, 2 * 8**2)
    assert (written["C"].reads, written["C"].writes) == (8**3, 8**3 + 8**2)


@pytest.mark.parametrize("name", ["hostmult1_opt", "gpumult1", "gputiled"])
def test_a_sum_in_a_local_variable_is_the_same_in_both_views(name: str) -> None:
    params = {"TS": 8} if name == "gputiled" else {"BX": 8, "BY": 8} if name == "gpumult1" else {}
    compiled, written = of_rung(name, 16, **params)
    assert compiled == written


@pytest.mark.parametrize("name", ["matmul_kernel_thread_tiling", "matmul_kernel_2d_thread_tiling"])
def test_a_tile_that_is_named_for_each_row_is_read_for_each_row(name: str) -> None:
    compiled, written = of_rung(name, 64, BLOCK=32, TT=8)
    assert (compiled["Bs"].reads, written["Bs"].reads) == (64**3 // 8, 64**3)
    assert compiled["As"].reads == written["As"].reads == 64**3


# What is one access


@pytest.mark.sweep("float2 v*", "?(float4 ?)C = ?(const float4*", "?(half2*", "atomicAdd*", "C?0? += A*")
@pytest.mark.parametrize(
    ("body", "before", "reads", "writes"),
    [
        ("float4 v = *(const float4 *)A; ((float4 *)C)[0] = v;", "", [("A", 16)], [("C", 16)]),
        ("*(float4 *)C = *(const float4 *)A;", "", [("A", 16)], [("C", 16)]),
        ("uint4 v = ((const uint4 *)A)[1]; *(uint4 *)C = v;", "", [("A", 16)], [("C", 16)]),
        ("float2 v = ((const float2 *)A)[1]; C[0] = v.x + v.y;", "", [("A", 8)], [("C", 4)]),
        ("*(float4 *)C = make_float4(A[0], A[1], 0, 0);", "", [("A", 4), ("A", 4)], [("C", 16)]),
        ("C[0] = ((const float4 *)A)->w;", "", [("A", 4)], [("C", 4)]),
        ("*(half2 *)C = ((const half2 *)A)[1];", "#include <cuda_fp16.h>", [("A", 4)], [("C", 4)]),
        ("*(nv_bfloat16 *)C = ((const nv_bfloat16 *)A)[1];", "#include <cuda_bf16.h>", [("A", 2)], [("C", 2)]),
        ("*(nv_bfloat162 *)C = ((const nv_bfloat162 *)A)[1];", "#include <cuda_bf16.h>", [("A", 4)], [("C", 4)]),
        ("*(q *)C = ((const q *)A)[1];", "struct alignas(8) q { float x, y; };", [("A", 8)], [("C", 8)]),
        ("C[0] = __ldg(A) + __ldcs(B);", "", [("A", 4), ("B", 4)], [("C", 4)]),
        (
            "float sum[8] = {}; for (int i = 0; i < 8; i++) sum[i] += A[i]; C[0] = sum[3];",
            "",
            [("A", 4)] * 8,
            [("C", 4)],
        ),
        ("atomicAdd(C, A[0]);", "", [("A", 4), ("C", 4)], [("C", 4)]),
        ("volatile float *c = C; *c = A[0]; *c = *c + 1;", "", [("A", 4), ("C", 4)], [("C", 4), ("C", 4)]),
        ("C[0] += A[0]; C[0] += A[0];", "", [("A", 4), ("C", 4)] * 2, [("C", 4), ("C", 4)]),
    ],
)
def test_what_the_text_names_once_is_one_access(
    body: str, before: str, reads: list[tuple[str, int]], writes: list[tuple[str, int]]
) -> None:
    recording = own(body, EIGHT, "[1]", before=before, as_written=True)
    log, names = recording.accesses, [array.name for array in recording.arrays]
    seen = [(names[a], int(b), bool(w)) for a, b, w in zip(log.array, log.bytes, log.write, strict=True)]
    assert sorted((name, size) for name, size, write in seen if not write) == sorted(reads)
    assert [(name, size) for name, size, write in seen if write] == writes


def test_lines_are_the_kernels_own_also_in_its_functions_and_in_those_of_cuda() -> None:
    before = "template <class T> __device__ T twice(const T *p)\n{\n    return *p + *p;\n}"
    recording = own("C[0] = twice(A);\nC[1] = __ldg(B);", EIGHT, "[1]", before=before, as_written=True)
    text = recording.text.splitlines()
    lines = [text[recording.sites[site].line - 1] for site in recording.accesses.site]
    assert lines == ["    return *p + *p;"] * 2 + ["C[0] = twice(A);"] + ["C[1] = __ldg(B);"] * 2


def test_a_local_variable_that_nobody_set_is_not_right_by_chance() -> None:
    assert np.isnan(own("float sum; C[0] = sum;", EIGHT, "[1]", as_written=True).c[0, 0])


def test_the_same_defects_are_found_in_both_views() -> None:
    kernel = find("gputiled~no-second-barrier", ladder())
    compiled, written = both(launch(kernel, EIGHT, {"TS": 4}))
    found = [{(f.kind, f.line) for f in defects(recording)} for recording in (compiled, written)]
    assert found[0] == found[1] != set()


def test_what_it_costs_is_said_of_the_view_that_is_asked_for() -> None:
    job = launch(find("hostmult0", ladder()), EIGHT)
    assert recording_cost.expect(job, as_written=True).accesses - recording_cost.expect(job).accesses == 8**3


def test_a_kernel_of_ones_own_is_built_once_per_view(tmp_path: Path) -> None:
    text = find("hostmult0", ladder()).text
    job = launch(parse(text, tmp_path / "mine.c"), EIGHT)
    order = [len(record(job, as_written=view).accesses) for view in (False, True, False, True)]
    assert order[:2] == order[2:] and order[0] < order[1]


def test_a_recording_keeps_its_view_on_its_way() -> None:
    for recording in both(launch(find("gpumult0", ladder()), EIGHT, {"BX": 4, "BY": 4})):
        assert arrived(recording).recording.as_written == recording.as_written
