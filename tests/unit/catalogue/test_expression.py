import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemmviz.catalogue.errors import FrontMatterError
from gemmviz.catalogue.expression import Expression, all_hold
from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem


@given(st.integers(1, 10**12), st.integers(1, 10**6))
def test_division_is_exact_for_every_integer(n: int, tile: int) -> None:
    assert Expression("ceil(N / T)").integer({"N": n, "T": tile}) == -(-n // tile)


@given(st.integers(-(10**12), 10**12), st.integers(1, 10**6))
def test_rounding_up_and_down_is_exact_also_of_a_fraction_and_below_zero(n: int, tile: int) -> None:
    values = {"N": n, "T": tile}
    assert Expression("ceil(N / T / 3)").integer(values) == math.ceil(Fraction(n, 3 * tile))
    assert Expression("floor((N + 1 / 2) / T)").integer(values) == math.floor(Fraction(2 * n + 1, 2 * tile))
    assert Expression("ceil((N / (0 - T)) / 3)").integer(values) == math.ceil(Fraction(n, -3 * tile))
    for text in ("ceil(N / (T - T))", "ceil((N / (T - T)) / T)", "ceil((N / T) / (T - T))", "ceil(N / (T / (T - T)))"):
        with pytest.raises(FrontMatterError, match="divides by zero"):
            Expression(text).evaluate(values)


@given(st.integers(-(10**12), 10**12), st.integers(1, 10**3), st.integers(1, 60))
def test_a_quotient_is_the_same_number_whether_it_is_whole_or_a_fraction(n: int, tile: int, other: int) -> None:
    values = {"N": n, "T": tile, "S": other}
    assert Expression("N / T").evaluate(values) == Fraction(n, tile)
    whole = Fraction(n, tile) % other + Fraction(n, other * tile)
    assert Expression("(N / T) % S + N / S / T").evaluate(values) == whole
    assert Expression("N / T <= N // T").evaluate(values) == (n % tile == 0)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("M % TS == 0 and N % TS == 0", True),
        ("M % TS == 0 and N % 7 == 0", False),
        ("not M == 8 or N == 16", True),
        ("max(M, N) - min(M, N)", 8),
        ("-M + 3 * (N // TS)", 4),
        ("1 < TS <= 4", True),
    ],
)
def test_arithmetic_and_conditions(text: str, value: int | bool) -> None:
    assert Expression(text).evaluate({"M": 8, "N": 16, "TS": 4}) == value


@pytest.mark.parametrize(
    "text",
    ["__import__('os')", "M.real", "[1]", "M ** 99999", "lambda: 1", "'a'", "1.5", "M if N else K", "f(M)", "M << 60",
     "max(M, default=1)", "", "1 +", "(" * 150, "9" * 300, "True"],
)  # fmt: skip
def test_anything_but_arithmetic_is_refused(text: str) -> None:
    with pytest.raises(FrontMatterError):
        Expression(text)


def test_division_by_zero_and_unknown_names_are_refused() -> None:
    with pytest.raises(FrontMatterError, match="divides by zero"):
        Expression("N / TS").evaluate({"N": 8, "TS": 0})
    with pytest.raises(FrontMatterError, match="'TS'"):
        Expression("N / TS").evaluate({"N": 8})
    with pytest.raises(FrontMatterError, match="whole number"):
        Expression("N / TS").integer({"N": 8, "TS": 3})


def test_a_guard_stops_before_the_division_it_guards() -> None:
    assert Expression("TS > 0 and M % TS == 0").evaluate({"TS": 0, "M": 8}) is False


def test_conditions_hold_together_as_each_by_itself() -> None:
    both = all_hold([Expression("M % TS == 0"), Expression("M / (M - TS) > 0 or M == 3")])
    assert [size for size in range(1, 40) if size != 4 and both({"M": size, "TS": 4})] == list(range(8, 40, 4))
    for values in ({"M": 4, "TS": 4}, {"M": 8}):
        with pytest.raises(FrontMatterError):
            both(values)
    assert all_hold([])({})


@given(st.text(max_size=40))
def test_no_text_gets_past_the_front_matter_error(text: str) -> None:
    try:
        value = Expression(text).evaluate({"M": 1, "N": 2, "K": 3})
    except FrontMatterError:
        return
    assert math.isfinite(value)


def test_an_expression_that_fails_at_some_size_is_placed_in_its_file(tmp_path):
    matter = (
        '// ---gemmviz\n// entry = "f"\n// args = ["C", "A", "B"]\n// block = [1]\n// grid = ["N / (M - 8)"]\n// ---\n'
    )
    kernel = parse(matter + "__global__ void f(float *c, float *a, float *b) {}\n", tmp_path / "my.cu")
    assert launch(kernel, Problem(9, 8, 8)).grid == (8, 1, 1)
    with pytest.raises(FrontMatterError, match=r"^my\.cu:5: 'N / \(M - 8\)' divides by zero") as caught:
        launch(kernel, Problem.cube(8))
    assert caught.value.line == 5
