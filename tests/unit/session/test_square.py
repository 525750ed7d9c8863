"""The link between the three sides of a size."""

from gemmviz.catalogue.problem import Problem
from gemmviz.session.values.square import Square

EQUAL, UNEQUAL = Problem.cube(8), Problem(8, 9, 10)


def test_unequal_sides_loosen_the_link_and_equal_ones_fasten_it_again():
    square = Square()
    for problem, linked in ((EQUAL, True), (UNEQUAL, False), (UNEQUAL, False), (EQUAL, True)):
        square.follow(problem)
        assert square.linked == linked


def test_a_link_that_was_loosened_stays_loose():
    square = Square()
    square.follow(UNEQUAL)
    square.choose(False)
    square.follow(EQUAL)
    assert not square.linked


def test_a_link_that_was_fastened_at_unequal_sides_holds_until_the_next_size():
    square = Square()
    square.follow(UNEQUAL)
    square.choose(True)
    assert square.linked
    square.follow(UNEQUAL)
    assert not square.linked
