"""How a request's banks follow from the lane, as one formula."""

import pytest

from gemmviz.trace.lenses.bank_use import BankFormula, bank_formula


@pytest.mark.parametrize(
    ("step", "start", "period"), [(1, 0, 32), (16, 3, 32), (1, 7, 16), (5, 31, 8), (0, 4, 32)], ids=str
)
def test_the_formula_gives_every_bank(step, start, period):
    banks = {lane: (step * (lane % period) + start) % 32 for lane in range(32)}
    found = bank_formula(banks)
    assert found == BankFormula(step, start, period)
    assert {lane: (found.step * (lane % found.period) + found.start) % 32 for lane in range(32)} == banks


def test_banks_without_a_formula_have_none():
    assert bank_formula({lane: lane * lane % 32 for lane in range(32)}) is None
    assert bank_formula({4: 0, 5: 1}) is None
