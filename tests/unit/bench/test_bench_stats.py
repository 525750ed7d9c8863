"""Figures of samples, and how many of their digits are shown."""

import pytest

from gemmviz.bench.protocol import Protocol
from gemmviz.bench.stats import significant, summarise
from gemmviz.catalogue.errors import GemmvizError


def test_quantiles():
    stats = summarise([float(i) for i in range(1, 102)])
    assert (stats["n"], stats["min"], stats["median"], stats["q1"], stats["q3"]) == (101, 1, 51, 26, 76)
    assert (stats["p5"], stats["p95"]) == (6, 96)
    assert stats["iqr_rel"] == pytest.approx(50 / 51)


def test_one_sample_has_no_spread():
    stats = summarise([0.5])
    assert (stats["median"], stats["iqr_rel"], stats["std"]) == (0.5, 0, 0)


def test_samples_of_no_duration_have_no_spread():
    assert summarise([0.0, 0.0, 0.0])["iqr_rel"] == 0


def test_no_samples_are_refused():
    with pytest.raises(ValueError, match="no samples"):
        summarise([])


@pytest.mark.parametrize(
    ("value", "spread", "text"),
    [
        (1234.567, 0.0, "1235"),
        (1234.567, 0.01, "1230"),
        (1234.567, 0.1, "1200"),
        (98765.4, 0.0001, "98770"),
        (0.0123456, 0.001, "0.01235"),
        (0, 0, "0"),
        (3.14159, 0.9, "3.1"),
    ],
)
def test_digits_follow_the_spread(value, spread, text):
    assert significant(value, spread) == text


def test_a_protocol_comes_back_from_plain_data():
    assert Protocol.from_plain(Protocol.quick().to_plain()) == Protocol.quick()
    assert Protocol.from_plain({"min_samples": 7}).min_samples == 7


@pytest.mark.parametrize("plain", [{"speed": 1}, {"timeout_s": "soon"}, {"timeout_s": -1}, {"seed": True}])
def test_a_protocol_that_cannot_be_is_refused(plain):
    with pytest.raises(GemmvizError, match="protocol"):
        Protocol.from_plain(plain)
