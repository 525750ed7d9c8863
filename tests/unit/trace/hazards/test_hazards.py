"""Defects are found in the recording, named as a person would, and nothing is said about a kernel that is right."""

from pathlib import Path

import pytest

from gemmviz.catalogue.errors import KernelFault
from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.checking.crash import crashed
from gemmviz.trace import hazards
from gemmviz.trace.hazards import Finding
from gemmviz.trace.recording.record import record

TILED = find("gputiled", ladder())
HEAD = """// ---gemmviz
// entry = "k"
// args = ["A", "B", "C", "N"]
// block = [64]
// grid = [2]
// ---
__global__ void k(const float *A, const float *B, float *C, int N)
{
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
"""


def found(body: str, *, c_is_input: bool = False) -> list[Finding]:
    kernel = parse(HEAD + body + "\n}\n", Path("k.cu"))
    return hazards.find(record(launch(kernel, Problem(8, 16, 4)), deadline_s=5), c_is_input=c_is_input)


def kinds(body: str) -> set[str]:
    return {f.kind for f in found(body)} - {"wrong result"}


@pytest.mark.parametrize("dropped", [0, 1])
def test_a_barrier_that_was_dropped_is_a_race_between_the_tiles_lines(dropped: int) -> None:
    lines = TILED.text.splitlines()
    barriers = [n for n, line in enumerate(lines) if "__syncthreads" in line]
    del lines[barriers[dropped]]
    mutant = parse("\n".join(lines), TILED.path)
    races = hazards.find(record(launch(mutant, Problem.cube(8), {"TS": 4})))
    assert {f.kind for f in races} == {"race"}
    assert {lines[f.line - 1].split()[0][:2] for f in races} == {"As", "Bs"}
    assert all("sum +=" in lines[f.other_line - 1] or "for (" in lines[f.other_line - 1] for f in races)
    for race in races:
        assert f"(line {race.line})" in race.text and f"(line {race.other_line})" in race.text
        # A block of 16 threads is half a warp.
        assert race.text.endswith("A __syncthreads() or a __syncwarp() is missing between them.")
        assert ("overwrites " in race.text, " for the next tile " in race.text) == (dropped == 1, dropped == 1)
        assert (" has written it " in race.text) == (dropped == 0)


def test_the_sentence_about_a_race_in_a_loop_names_both_threads_and_lines() -> None:
    lines = TILED.text.splitlines()
    second = [n for n, line in enumerate(lines) if "__syncthreads" in line][1]
    del lines[second]
    mutant = parse("\n".join(lines), TILED.path)
    race = hazards.find(record(launch(mutant, Problem.cube(16), {"TS": 8})))[0]
    assert race.text == (
        f"Thread (0,0) overwrites As[0][0] for the next tile (line {race.line}) before thread (7,0) has read it "
        f"(line {race.other_line}). A __syncthreads() is missing between them."
    )


def test_a_race_names_both_threads_both_lines_and_the_element() -> None:
    race = found("    __shared__ float s[64];\n    s[t] = t;\n    C[i] = s[63 - t];")[0]
    assert (race.kind, race.line, race.other_line, race.count) == ("race", 11, 12, 128)
    assert race.text == (
        "Thread 31 reads s[32] (line 12) before thread 32 has written it (line 11). "
        "A __syncthreads() is missing between them."
    )


def test_a_race_that_the_recording_does_not_show_may_happen() -> None:
    # Each thread reads the value of an earlier one: recorded one after the other, all values are right.
    race = found("    __shared__ float s[64];\n    s[t] = t;\n    C[i] = s[t ? t - 1 : 0];")[0]
    assert race.text.startswith("Thread 32 may read s[31] (line 12) before thread 31 has written it (line 11).")


def test_a_race_between_blocks_names_both_blocks() -> None:
    texts = [race.text for race in found("    C[i] = 0;\n    if (t == 0) C[5] = 1;")]
    assert (
        "Thread 0 of block 0 writes C[0, 5] (line 11) while thread 0 of block 1 writes it (line 11): "
        "there is no happens-before order between two blocks"
    ) in texts


def test_lanes_of_a_warp_are_put_in_order_by_syncwarp_and_by_nothing_else() -> None:
    body = "    __shared__ float s[64];\n    s[t] = t;\n    WAIT\n    C[i] = s[t ^ 1];"
    assert kinds(body.replace("WAIT", "")) == {"race"}
    assert kinds(body.replace("WAIT", "__syncwarp();")) == set()
    assert kinds(body.replace("WAIT", "__syncwarp();").replace("t ^ 1", "t ^ 32")) == {"race"}


def test_two_blocks_that_write_one_element_race_and_atomics_do_not() -> None:
    assert kinds("    C[i] = 0;\n    if (t == 0) C[5] = 1;") == {"race"}
    assert kinds("    atomicAdd(&C[t], 1);\n    atomicAdd(&C[t + 64], 1);") == {"read of memory nobody wrote"}
    assert found("    atomicAdd(&C[t], 1);\n    atomicAdd(&C[t + 64], 1);", c_is_input=True)[0].kind == "wrong result"


def test_c_that_is_read_before_it_is_written_is_named_with_its_line() -> None:
    finding = found("    C[i] += A[t % 32];")[0]
    assert (finding.kind, finding.line, finding.count) == ("read of memory nobody wrote", 10, 128)
    assert "C[0, 0]" in finding.text
    assert "read of memory nobody wrote" not in {f.kind for f in found("    C[i] += A[t % 32];", c_is_input=True)}


def test_unwritten_shared_memory() -> None:
    body = "    __shared__ float s[64];\n    if (t < 63) s[t] = t;\n    __syncthreads();\n    C[i] = s[t];"
    finding = found(body)[0]
    assert (finding.kind, finding.line, finding.count) == ("read of memory nobody wrote", 13, 2)


def test_elements_of_c_that_are_left_out_or_written_twice() -> None:
    assert kinds("    if (i != 7) C[i] = 0;") == {"element of C never written"}
    twice = "    C[i] = 0;\n    __syncthreads();\n    C[blockIdx.x * 64 + (t + 1) % 64] = 1;"
    assert kinds(twice) == {"element of C written by two threads"}


def test_an_index_that_runs_out_of_a_shared_array_does_not_land_in_the_next_one() -> None:
    body = "    __shared__ float s[64], u[64];\n    u[t] = 0;\n    s[t + 1] = 0;\n    __syncthreads();\n"
    body += "    C[i] = u[t] + s[t];"
    finding = found(body)[0]
    assert (finding.kind, finding.line) == ("out of bounds", 12)
    assert "s[64], out of bounds (it has 64 elements)" in finding.text


def test_many_instructions_of_one_line_are_one_overrun() -> None:
    body = "    float x = 0;\n#pragma unroll\n    for (int q = 0; q < 4; q++) x += A[32 + q * 2];\n    C[i] = x;"
    overruns = [f for f in found(body) if f.kind == "out of bounds"]
    assert [(f.line, f.array, f.count) for f in overruns] == [(12, "A", 4 * 128)]


def test_a_read_before_the_write_of_another_thread_is_not_said_to_be_in_another_step() -> None:
    body = "    __shared__ float s[64];\n    s[t] = t;\n    __syncthreads();\n    float x = s[63 - t];\n    s[t] = x;\n"
    race = found(body + "    C[i] = x;")[0]
    assert race.text.startswith("Thread 0 overwrites s[0] (line 14) before thread 63 has read it (line 13).")


def test_threads_that_wait_at_different_barriers() -> None:
    body = "    C[i] = 0;\n    if (t < 32)\n        __syncthreads();\n    else\n        __syncthreads();"
    finding = found(body)[0]
    assert (finding.kind, finding.line) == ("barrier divergence", 14)
    assert "the one in line 12" in finding.text


def test_a_vector_at_an_odd_address_stops_as_on_a_gpu() -> None:
    with pytest.raises(KernelFault, match=r"k.cu:10: thread \(0, 0, 0\).*misaligned") as error:
        found("    float4 v = ((const float4 *)(A + 1))[t % 4]; C[i] = v.x + v.y + v.z + v.w;")
    assert error.value.line == 10
    # The address of the array changes from run to run, so no finding may depend on it.
    assert "reads A[1], 16 bytes at once: the index must be a multiple of 4 (A has 32 elements)" in str(error.value)
    assert "0x" not in str(error.value)


@pytest.mark.parametrize(
    ("body", "does"),
    [
        (
            "*(float2 *)(C + 2 * i + 1) = make_float2(0, 0);",
            "writes C[1], 8 bytes at once: the index must be a multiple of 2",
        ),
        (
            "__shared__ float s[8][7]; s[t % 8][0] = 0; float4 v = *(float4 *)&s[1][0]; C[i] = v.x;",
            "reads s[1][0], 16 bytes at once: this is element 7 in memory, and that number must be a multiple of 4 "
            "(s has 56 elements)",
        ),
        (
            "C[i] = *(const float *)((const char *)A + 6);",
            "reads A[1], 4 bytes at once: it begins 2 bytes into that element",
        ),
    ],
    ids=["write", "shared", "within an element"],
)
def test_a_misaligned_access_is_a_finding_that_names_its_element(body: str, does: str) -> None:
    kernel = parse(f"{HEAD}    {body}\n}}\n", Path("k.cu"))
    with pytest.raises(KernelFault) as error:
        record(launch(kernel, Problem(8, 16, 4)), deadline_s=5)
    fault = error.value
    report = crashed(kernel, Problem(8, 16, 4), {}, str(fault), fault.line, fault.defect, fault.array)
    (finding,) = report.findings
    assert (finding.kind, finding.line) == ("misaligned vector access", 10)
    assert finding.text.startswith(f"thread (0, 0, 0) of block (0, 0, 0) {does}")
    assert finding.array == does.split()[1].split("[")[0]


COPY = """    __shared__ float s[64];
    s[t] = 0;
    __syncthreads();
    __pipeline_memcpy_async(&s[t], A + t % 32, 4);
    __pipeline_commit();
    BEFORE
    __pipeline_wait_prior(0);
    __syncthreads();
    C[i] = s[63 - t];"""


def of_copy(before: str) -> list[Finding]:
    text = HEAD.replace("// ---\n__global__", "// ---\n#include <cuda_pipeline.h>\n__global__")
    kernel = parse(text + COPY.replace("BEFORE", before) + "\n}\n", Path("k.cu"))
    return [f for f in hazards.find(record(launch(kernel, Problem(8, 16, 4)))) if f.kind != "wrong result"]


def test_an_asynchronous_copy_is_in_flight_from_its_issue_to_its_wait() -> None:
    assert of_copy("") == []
    (mine,) = of_copy("C[i] = s[t];")
    assert (mine.kind, mine.line, mine.other_line) == ("race", 14, 16)
    assert "copies to s[0] in line 14, and it reads s[0] in line 16 before the copy is waited for" in mine.text
    (others,) = of_copy("__syncthreads(); C[i] = s[63 - t]; __syncthreads();")
    assert (others.kind, others.line, others.other_line, others.count) == ("race", 14, 16, 128)
    assert "and thread (63, 0, 0) of block (0, 0, 0) reads s[0]" in others.text


@pytest.mark.parametrize(
    ("after_the_copy", "missing"),
    [
        (
            "__syncthreads(); float seen = s[63 - t]; __pipeline_wait_prior(0);",
            "the copy was not waited for before the barrier",
        ),
        (
            "__syncthreads(); __pipeline_wait_prior(0);\n float seen = s[63 - t];",
            "(line 17) before thread 32 has written it (line 14). A __syncthreads() is missing between them.",
        ),
    ],
)
def test_a_copy_without_a_wait_differs_from_a_missing_barrier(after_the_copy: str, missing: str) -> None:
    head = HEAD.replace("// ---\n__global__", "// ---\n#include <cuda_pipeline.h>\n__global__")
    text = head + COPY.partition("    BEFORE")[0] + after_the_copy + " C[i] = seen;\n}\n"
    races = hazards.find(record(launch(parse(text, Path("k.cu")), Problem(8, 16, 4))))
    assert [race.kind for race in races] == ["race"]
    assert races[0].text.endswith(missing)


def test_where_not_all_overruns_could_be_kept_it_says_so() -> None:
    lines = "\n".join(f"    x += A[{n} + i];" for n in range(32, 72))
    overruns = [f for f in found(f"    float x = 0;\n{lines}\n    C[i] = x;") if f.kind == "out of bounds"]
    assert len(overruns) == 32
    assert "there may be more" in overruns[-1].text
    assert "there may be more" not in overruns[0].text


def test_a_line_that_writes_the_element_only_later_is_not_said_to_write_others() -> None:
    finding = found("    float before =\n        C[i];\n    C[i] = before + A[t % 32];")[0]
    assert (finding.kind, finding.line, finding.other_line) == ("read of memory nobody wrote", 11, 12)
    assert finding.text.endswith("which is uninitialised; line 12 writes it only later")


def test_a_line_that_writes_only_other_elements_is_named() -> None:
    body = "    __shared__ float s[64];\n    if (t < 63)\n        s[t] = t;\n    __syncthreads();\n    C[i] = s[t];"
    finding = found(body)[0]
    assert (finding.line, finding.other_line) == (14, 12)
    assert finding.text.endswith("line 12 writes other elements")
