"""Batches and structures as parameters: recorded as they stand, and what is wrong with them is found."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gemmviz.backends.base import Guarded, all_entries, from_entries
from gemmviz.backends.struct_arguments import filling_source
from gemmviz.catalogue.errors import ConstraintError, FrontMatterError
from gemmviz.catalogue.kernel import load, parse
from gemmviz.catalogue.launch import Launch, launch
from gemmviz.catalogue.problem import Problem
from gemmviz.checking.examine import examine
from gemmviz.trace.recording.record import record

STYLES = Path(__file__).parents[1] / "styles"
SIZE = Problem(9, 10, 11)


def text(style: str) -> str:
    return (STYLES / f"{style}.cu").read_text(encoding="utf-8")


def of_style(style: str, old: str = "", new: str = "") -> Launch:
    return launch(parse(text(style).replace(old, new) if old else text(style), Path(f"{style}.cu")), SIZE)


def entry_of(job: Launch, entry: int) -> Launch:
    assert job.batch is not None
    return replace(job, batch=replace(job.batch, entry=entry))


@pytest.mark.parametrize("style", ["batched", "batched_pointers"])
def test_each_entry_of_a_batch_is_recorded_by_itself(style: str) -> None:
    job = of_style(style)
    first, last = record(job), record(entry_of(job, job.batch.count - 1))
    assert first.wrong == last.wrong == 0 and not first.diagnostics and not last.diagnostics
    assert first.grid == (2, 2, 1)
    assert first.label.endswith(f"entry 0 of {job.batch.count}")
    assert len(first.accesses) == len(last.accesses)


@pytest.mark.parametrize("style", ["batched", "batched_pointers", "parameters"])
def test_right_kernels_have_no_finding(style: str) -> None:
    assert examine(load(STYLES / f"{style}.cu"), SIZE, {}).findings == []


@pytest.mark.sweep("batched-*", "parameters-*")
@pytest.mark.parametrize(
    ("style", "old", "new", "kind"),
    [
        ("batched", "A += entry * strideA", "A += entry * M * K", "out of bounds"),
        ("batched", "C += entry * strideC", "C += entry * (M * N)", "out of bounds"),
        ("batched_pointers", "*b = B[blockIdx.z]", "*b = B[0]", "out of bounds"),
        ("parameters", "p.beta * *c", "*c", "wrong result"),
    ],
)
def test_a_mistake_with_entries_or_members_is_found(style: str, old: str, new: str, kind: str) -> None:
    kernel = parse(text(style).replace(old, new), Path(f"{style}.cu"))
    assert kernel.text != text(style)
    findings = examine(kernel, SIZE, {}).findings
    assert kind in {finding.kind for finding in findings}


def test_the_work_of_a_batch_is_that_of_all_entries() -> None:
    assert of_style("batched").flops == 3 * SIZE.flops
    assert of_style("parameters").flops == SIZE.flops


def test_the_entries_in_memory_are_different_and_come_back_as_one() -> None:
    job = of_style("batched")
    rng = np.random.default_rng(0)
    a, b, c = (rng.integers(-3, 4, SIZE.shape(name)).astype(np.float32) for name in "ABC")
    flat_a, flat_b = all_entries(job, "A", a), all_entries(job, "B", b)
    assert flat_a.size == 3 * 99 + 2 * 8 and flat_b.size == b.size
    memory = Guarded(np, job)
    memory.poison()
    for entry in range(3):
        own = flat_a[entry * 107 : entry * 107 + 99].reshape(9, 11)
        assert (own == a).all() == (entry == 0)
        memory.view[entry * 94 : entry * 94 + 90] = (own @ b).reshape(-1)
    assert memory.intact()
    assert (from_entries(job, memory.view) == np.concatenate([a @ b] * 3)).all()
    assert all_entries(job, "C", c).size == memory.view.size
    memory.fill(all_entries(job, "C", c), None)  # what lies between entries keeps its pattern
    assert memory.intact()
    memory.view[91] = 1  # between two entries
    assert not memory.intact()


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('"COUNT"]', "1]", "needs 3 blocks along z of the grid, not 1"),
        ("M * N + 4", "M * N - 4", "entries of C are 86 elements apart and have 90: they overlap"),
    ],
)
def test_a_batch_that_cannot_be_is_refused(old: str, new: str, says: str) -> None:
    with pytest.raises(ConstraintError, match=says):
        of_style("batched", old, new)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('// batch = "COUNT"\n', "", "strides are those of a batch"),
        ('"strideA", ', '"strideX", ', "args names 'strideX'"),
        ("COUNT", "batch", "choose another name"),
    ],
)
def test_front_matter_of_a_batch_that_does_not_fit_is_refused(old: str, new: str, says: str) -> None:
    with pytest.raises(FrontMatterError, match=says):
        of_style("batched", old, new)


def test_a_batch_without_its_key_is_refused() -> None:
    with pytest.raises(FrontMatterError, match=r"args names 'A.pointers', but there is no batch"):
        of_style("batched_pointers", "// batch = 4\n", "")


def test_the_gpu_s_compiler_lays_out_a_structure_of_its_members() -> None:
    source = filling_source(of_style("parameters"))
    assert "gv_m = {gv_number<long long>{gv_v[0]}, gv_number<long long>{gv_v[1]}" in source
    assert "gv_pointer{gv_v[3]}" in source and "gv_number<double>{__longlong_as_double(gv_v[9])}" in source
    assert "gv_parameter<0, decltype(&gemm<Parameters<float>>)>" in source
    assert filling_source(of_style("batched")) == ""


def test_digests_of_kernels_without_them_stay() -> None:
    kernel = of_style("batched").kernel
    assert kernel.sha256 != replace(kernel, batch=None).sha256
    assert replace(kernel, batch=None, structs=()).sha256 == replace(kernel, batch=None).sha256
