"""Which values of a kernel's parameters its constants, bounds, assertions and arrays allow."""

import pytest

from gemmviz.catalogue.guessing.constant_conditions import Conditions
from gemmviz.catalogue.guessing.functions import Function
from gemmviz.catalogue.guessing.tokens import tokens_of

PARAMS = frozenset({"BM", "WM", "TM", "THREADS"})


def allowed(body: str, bounds: str = "", constants: str = "", **values: int) -> bool:
    """Return whether the constants in a kernel's body allow some values."""
    name, _, value = constants.partition("=")
    outside = {name: tokens_of(value)} if name else {}
    function = Function("product", (), (), tokens_of(body), tokens_of(bounds))
    return Conditions(function, outside, PARAMS).allow(values)


@pytest.mark.parametrize(
    ("body", "good", "bad"),
    [
        ("constexpr int each = WM / TM;", {"WM": 64, "TM": 16}, {"WM": 64, "TM": 48}),
        ("const int rows = WM / (TM * 8);", {"WM": 64, "TM": 4}, {"WM": 64, "TM": 16}),
        ("const int rows = BM / 4, each = rows / TM;", {"BM": 64, "TM": 8}, {"BM": 64, "TM": 32}),
        ('static_assert(BM == 2 * WM, "two warps");', {"BM": 64, "WM": 32}, {"BM": 64, "WM": 16}),
        ("__shared__ float tile[BM - TM];", {"BM": 16, "TM": 8}, {"BM": 8, "TM": 8}),
        ("__shared__ float tile[2][BM / TM];", {"BM": 16, "TM": 8}, {"BM": 12, "TM": 8}),
        ("constexpr int threads = BM / TM * WM;", {"BM": 64, "TM": 32, "WM": 32}, {"BM": 64, "TM": 8, "WM": 2}),
    ],
)
def test_a_value_that_a_constant_excludes_is_not_allowed(body: str, good: dict[str, int], bad: dict[str, int]) -> None:
    assert allowed(body, **good) and not allowed(body, **bad)


@pytest.mark.parametrize(("threads", "right"), [(32, True), (1024, True), (16, False), (48, False), (1056, False)])
def test_launch_bounds_are_whole_warps_of_one_block(threads: int, right: bool) -> None:
    assert allowed("", bounds="THREADS", THREADS=threads) is right


def test_the_tile_of_a_block_is_whole_tiles_of_warps() -> None:
    assert allowed("", BM=64, WM=32) and not allowed("", BM=48, WM=32)


def test_a_constant_outside_the_kernel_is_filled_in() -> None:
    body = "constexpr int each = BM / STEP;"
    assert allowed(body, constants="STEP=TM * 2", BM=16, TM=8)
    assert not allowed(body, constants="STEP=TM * 2", BM=16, TM=16)


def test_a_condition_waits_until_all_its_parameters_have_values() -> None:
    assert allowed("constexpr int each = WM / TM;", WM=64)


@pytest.mark.parametrize("body", ["constexpr int each = WM / unknown;", "float sum = WM / TM;", "return WM / TM;"])
def test_what_is_no_constant_excludes_nothing(body: str) -> None:
    assert allowed(body, WM=7, TM=3)
