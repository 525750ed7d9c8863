"""One product on several GPUs, as the front matter divides it: who holds what, who launches what, what is refused."""

from pathlib import Path

import pytest

from gemmviz.catalogue.division import Panel, panels
from gemmviz.catalogue.errors import ConstraintError, FrontMatterError
from gemmviz.catalogue.kernel import Kernel, parse
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.catalogue.scheduled import scheduled

CODE = """__global__ void product(const float *A, const float *B, float *C, int M, int N, int K)
{
    int i = blockIdx.y * 8 + threadIdx.y, j = blockIdx.x * 8 + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < K; k++)
        sum += A[i * K + k] * B[k * N + j];
    C[i * N + j] = sum;
}
"""
SHARED = {
    "devices": '"GPUS"',
    "divided": '{ A = "rows", B = "columns", C = "columns" }',
    "crossing": '"meanwhile"',
}


def kernel(file: str = "mine.cu", **keys: str) -> Kernel:
    """Return a kernel whose blocks compute 8 x 8 elements, with further keys; an empty one is left out."""
    known = {
        "version": "7",
        "entry": '"product"',
        "args": '["A", "B", "C", "M", "N", "K"]',
        "params": "{ GPUS = [2, 4] }",
        "block": "[8, 8]",
        "grid": '["N / 8", "M / 8"]',
        "requires": '["M % 8 == 0", "N % 8 == 0"]',
        **SHARED,
        **keys,
    }
    matter = "".join(f"// {key} = {value}\n" for key, value in known.items() if value)
    return parse(f"// ---gemmviz\n{matter}// ---\n{CODE}", Path(file))


def test_a_launch_is_that_of_a_part_and_the_problem_is_the_whole_product() -> None:
    for crossing, part in (("meanwhile", Problem(16, 32, 24)), ("before", Problem(32, 32, 24))):
        made = launch(kernel(crossing=f'"{crossing}"'), Problem(32, 64, 24))
        assert made.part is not None and made.part.problem == part
        assert made.grid == (part.n // 8, part.m // 8, 1)
        assert (made.devices, made.problem, made.flops) == (2, Problem(32, 64, 24), 2 * 32 * 64 * 24)
    assert launch(kernel(), Problem(32, 64, 24), {"GPUS": 4}).part.problem == Problem(8, 16, 24)


def test_each_gpu_begins_with_its_own_rows_and_multiplies_those_of_all() -> None:
    assert panels(2, True) == [Panel(0, 0), Panel(0, 1), Panel(1, 1), Panel(1, 0)]
    assert [one.owner for one in panels(4, True) if one.device == 2] == [2, 3, 0, 1]
    assert panels(3, False) == [Panel(0, 0), Panel(1, 1), Panel(2, 2)]
    assert launch(kernel(crossing='"before"'), Problem(32, 64, 24)).panels == panels(2, False)


def test_conditions_are_those_of_the_part_and_the_nearest_size_meets_them() -> None:
    with pytest.raises(ConstraintError, match="the nearest size that works is 32 x 64 x 24"):
        launch(kernel(), Problem(33, 65, 24))
    # Rows are not divided where all of A is multiplied at once, but each GPU holds equally many.
    with pytest.raises(ConstraintError, match="Each GPU has an equal part"):
        launch(kernel(crossing='"before"', requires=""), Problem(33, 64, 24))
    with pytest.raises(ConstraintError, match="whole sectors of 32 bytes"):
        launch(kernel(requires="", grid='["ceil(N / 8)", "ceil(M / 8)"]'), Problem(32, 60, 24))


def test_the_bytes_that_cross_are_all_foreign_rows_of_each_gpu() -> None:
    division = kernel().division
    assert division is not None and division.link_bytes(4, 1000) == 3000
    read = kernel(crossing='"reads"').division  # what crosses depends on the kernel
    assert read is not None and read.link_bytes(4, 1000) is None and read.in_panels and not read.copied
    inside = kernel(crossing='"inside"', args='["A", "A.pointers", "B", "C", "M", "N", "K", "GPU"]').division
    assert inside is not None and inside.link_bytes(4, 1000) is None and not inside.in_panels and not inside.copied
    whole = kernel(divided='{ B = "columns", C = "columns" }', crossing="").division
    assert whole is not None and whole.link_bytes(4, 1000) == 0


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"devices": ""}, "needs divided"),
        ({"divided": ""}, "needs divided"),
        ({"divided": '{ A = "columns", B = "columns", C = "columns" }'}, "needs divided"),
        ({"divided": '{ A = "rows", B = "columns" }'}, "needs divided"),
        ({"divided": '{ B = "columns", C = "columns" }'}, "crossing"),
        ({"crossing": ""}, "crossing"),
        ({"crossing": '"later"'}, 'crossing must be one of "before", "meanwhile", "reads", "inside"'),
        ({"divided": '{ A = "halves" }'}, "divided must give matrices"),
        ({"devices": '"CARDS"'}, "'CARDS', which is not declared"),
        ({"layout": '{ A = "column" }'}, "stored by rows"),
        ({"zero": '["C"]'}, "without batch and zero"),
        ({"args": '["A", "A.pointers", "B", "C", "M", "N", "K"]'}, "without batch and zero"),
        ({"crossing": '"inside"'}, "needs in args A, where the kernel puts all rows, and A.pointers"),
        ({"args": '["A", "B", "C", "M", "N", "K", "beta"]'}, "without batch and zero"),
    ],
)
def test_what_does_not_belong_together_is_refused(keys: dict[str, str], said: str) -> None:
    with pytest.raises(FrontMatterError, match=said):
        kernel(**keys)


def test_a_kernel_in_c_is_refused() -> None:
    with pytest.raises(FrontMatterError, match="devices is for CUDA kernels"):
        kernel("mine.c", block="", grid="")


def test_the_digest_follows_the_division() -> None:
    one = kernel(devices="", divided="", crossing="")
    crossing = {kernel(crossing=f'"{how}"').sha256 for how in ("before", "meanwhile", "reads")}
    assert len({one.sha256, kernel().sha256, kernel(devices='"2"').sha256, *crossing}) == 5


def test_the_rungs_choose_their_tiles_by_the_part_of_each_gpu() -> None:
    rung = find("panels", ladder())
    part, whole = (launch(rung, Problem.cube(n)).params for n in (2048, 8192))
    assert part["GPUS"] == whole["GPUS"] == 2
    assert part["BM"] * part["BN"] < whole["BM"] * whole["BN"]
    # As alone, but for turned tiles and what a cluster costs a k-step.
    alone = find("every_shape_bf16_c16", ladder())
    sets = [one.params | {"GPUS": 2} for one in scheduled(alone, Problem(1024, 1024, 2048))]
    assert part in sets
    assert part["TURNED"] == 0
