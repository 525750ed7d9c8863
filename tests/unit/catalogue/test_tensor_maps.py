"""The driver's description of a matrix that the copy engine moves, and the GPUs that a kernel is made for."""

from pathlib import Path

import pytest

from gemmviz.backends.base import LaunchError
from gemmviz.backends.tensor_maps import Geometry, encode, geometry
from gemmviz.catalogue.capability import architecture, need, suits
from gemmviz.catalogue.errors import ConstraintError
from gemmviz.catalogue.kernel import load
from gemmviz.catalogue.launch import launch, nearest_size
from gemmviz.catalogue.problem import Problem

HOPPER = Path(__file__).parents[1] / "hopper"
HALF, SINGLE = 6, 7


def test_the_driver_gets_rows_as_stored_with_the_innermost_side_first():
    mine = load(HOPPER / "tma_tiles.cu")
    job = launch(mine, Problem(40, 24, 72))
    assert geometry(job, "A") == Geometry(HALF, (72, 40), (144,), (64, 32), 3)
    assert geometry(job, "B") == Geometry(HALF, (24, 72), (48,), (16, 64), 1)
    assert geometry(job, "C") == Geometry(SINGLE, (24, 40), (96,), (16, 32), 2)


def test_a_matrix_stored_by_columns_is_described_by_columns(tmp_path):
    file = tmp_path / "mine.cu"
    text = (HOPPER / "tma_tiles.cu").read_text(encoding="utf-8")
    file.write_text(text.replace("// block", '// layout = { B = "column" }\n// block', 1), encoding="utf-8")
    assert geometry(launch(load(file), Problem(40, 24, 72)), "B").sizes == (72, 24)


def test_a_tensor_of_more_dimensions_has_panels_as_wide_as_the_swizzle(tmp_path):
    file = tmp_path / "mine.cu"
    text = (HOPPER / "tma_tiles.cu").read_text(encoding="utf-8")
    for rank, ones in ((3, ()), (5, (1, 1))):
        message = text.replace("swizzle = 128 }", f"swizzle = 128, rank = {rank} }}", 1)
        assert message != text
        file.write_text(message, encoding="utf-8")
        found = geometry(launch(load(file), Problem(40, 24, 192)), "A")
        assert found.sizes == (64, 40, 3, *ones) and found.box == (64, 32, 1, *ones)
        assert found.strides == (384, 128, *(384,) * len(ones))
        assert geometry(launch(load(file), Problem(40, 24, 192)), "B").sizes == (24, 192)


@pytest.mark.parametrize(
    ("swizzle", "panel"), [("128", 64), ('"4 * 32"', 64), ("64", 32), ("0", 64), ('"32 - 32"', 64)]
)
def test_panels_divide_each_stored_row(tmp_path, swizzle, panel):
    """The driver refuses a tensor of no panels, and the copy engine leaves out the columns after the last whole one."""
    file = tmp_path / "mine.cu"
    text = (HOPPER / "tma_tiles.cu").read_text(encoding="utf-8")
    file.write_text(text.replace("swizzle = 128 }", f"swizzle = {swizzle}, rank = 3 }}", 1), encoding="utf-8")
    mine = load(file)
    assert geometry(launch(mine, Problem(40, 24, 3 * panel)), "A").sizes == (panel, 40, 3)
    for k in (panel // 2, panel + 8):
        with pytest.raises(ConstraintError, match="divides each stored row into panels"):
            launch(mine, Problem(40, 24, k))
    assert nearest_size(mine, Problem(40, 24, panel + 8), mine.defaults) == Problem(40, 24, panel)


def test_a_matrix_at_an_odd_address_is_refused_before_the_driver_is_asked():
    with pytest.raises(LaunchError, match="tensor map of A needs a matrix that begins at a multiple of 16 bytes"):
        encode(launch(load(HOPPER / "tma_tiles.cu"), Problem.cube(64)), "A", 4096 + 8)


@pytest.mark.parametrize(
    ("needed", "device", "runs"),
    [
        ("", "3.5", True),
        ("8.0", "8.0", True),
        ("8.0", "12.0", True),
        ("9.0", "8.6", False),
        ("9.0a", "9.0", True),
        # Features of one architecture alone are in no later one.
        ("9.0a", "10.0", False),
        ("10.0", "9.0", False),
    ],
)
def test_a_device_suits_a_kernel_or_the_difference_is_named(needed, device, runs):
    assert suits(needed, device) is runs
    text = need(needed, device)
    assert (text == "") is runs
    assert runs or (device in text and needed.removesuffix("a") in text)


def test_without_a_gpu_the_needed_one_is_named():
    assert need("9.0a") == "needs exactly compute capability 9.0"
    assert need("8.0") == "needs compute capability 8.0 or later"
    assert need("") == ""


def test_only_an_exact_architecture_is_asked_of_the_compiler():
    assert [architecture(text) for text in ("", "8.0", "9.0a", "10.0a")] == ["", "", "sm_90a", "sm_100a"]
