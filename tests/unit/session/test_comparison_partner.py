"""The kernel to compare with first: the nearest slower one, by the figures that are shown."""

import pytest

from gemmviz.bench import reference_results
from gemmviz.bench.row import figure_of
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.session import Session
from gemmviz.session.rules.comparison_partner import nearest_slower


@pytest.fixture(scope="module")
def session():
    made = Session(ladder())
    made.results.set_references(reference_results.load()[0])
    made.results.want_references(True)
    return made


@pytest.mark.parametrize(
    ("name", "partner"),
    [
        ("gputiled", "matmul_kernel_block_tiling"),
        ("gpumult1", "matmul_kernel_naive"),
        ("async_pipeline", "warp_tiling"),
    ],
)
def test_a_twin_is_passed_over(session, name, partner):
    session.choice.choose_kernel(find(name, session.choice.kernels))
    assert nearest_slower(session.choice, session.results).name == partner


def test_the_partner_is_slower_at_the_same_size_and_comes_before_it(session):
    results, found = session.results, 0
    for at, kernel in enumerate(session.choice.kernels):
        session.choice.choose_kernel(kernel)
        partner = nearest_slower(session.choice, results)
        if partner is not None:
            found += 1
            mine, other = results.shown(kernel.name).row, results.shown(partner.name).row
            assert figure_of(other) < figure_of(mine) and other["M"] == mine["M"]
            assert session.choice.kernels.index(partner) < at and partner.recordable and not partner.exhibit
    assert found > 20


def test_without_figures_there_is_none():
    assert nearest_slower(Session(ladder()).choice, Session(ladder()).results) is None


def test_a_comparison_opens_with_it(session):
    session.choice.choose_kernel(find("gputiled", session.choice.kernels))
    session.side_by_side.start()
    assert session.second.choice.kernel.name == "matmul_kernel_block_tiling"
    session.side_by_side.stop()
