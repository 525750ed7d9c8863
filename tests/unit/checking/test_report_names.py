"""The names of reports in a sentence: where a finding was seen."""

from gemmviz.catalogue.problem import Problem
from gemmviz.checking.report import Report
from gemmviz.checking.report_text import names


def report(label, *size):
    return Report(label, Problem(*size), {})


def test_a_launch_at_several_sizes_is_named_once():
    """The name of a template, which is long, stood before each size."""
    sizes = [report("tiles<16, 8>", 37, 45, k) for k in (41, 3, 200)]
    assert names(sizes) == "tiles<16, 8> at 37 x 45 x 41, 37 x 45 x 3, 37 x 45 x 200"


def test_launches_of_one_size_are_together_and_each_size_is_of_its_launches():
    reports = [report("tiles<8>", 8, 8, 8), report("tiles<16>", 8, 8, 8), report("tiles<8>", 9, 8, 8)]
    assert names(reports) == "tiles<8>, tiles<16> at 8 x 8 x 8, tiles<8> at 9 x 8 x 8"
