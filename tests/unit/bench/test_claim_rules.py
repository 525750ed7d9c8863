"""The required fields of a file of claims, the rules, and the sentence of a finding."""

import pytest

from gemmviz.bench import claims as judging
from gemmviz.bench.claims.rules import RULES
from gemmviz.catalogue.errors import GemmvizError


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[[claim]]", "lacks"),
        ('source = "S0"\n[[claim]]\nid = "x"\ntitle = ""\nstatement = ""', "x: a claim has checks, or says why"),
        ('source = "S0"\n[[claim]]\nid = "x"\nrule = 1', "x: unknown key 'rule'"),
        ("= 1", "broken.toml"),
        (
            'source = "S0"\n[[claim]]\nid = "x"\ntitle = ""\nstatement = ""\n'
            '[claim.cases]\nloop = { kernel = "hostmult0", size = "8" }',
            'x: has a cases.loop.size that cannot be: "8"',
        ),
        (
            'source = "S0"\n[[claim]]\nid = "x"\ntitle = ""\nstatement = ""\n'
            '[[claim.checks]]\nrule = "equal"\nwhat = "gflops"\ncases = []',
            "x: lacks label",
        ),
        (
            'source = "S0"\n[[claim]]\nid = "x"\ntitle = ""\nstatement = ""\n'
            '[[claim.checks]]\nrule = "guess"\nwhat = "gflops"\nlabel = ""\ncases = []',
            "x: no rule 'guess'",
        ),
    ],
)
def test_a_claim_with_a_missing_or_wrong_field_is_refused(tmp_path, text, says):
    (tmp_path / "broken.toml").write_text(text)
    with pytest.raises(GemmvizError, match=says):
        judging.load(tmp_path)


@pytest.mark.parametrize(
    ("rule", "limits", "theirs", "good", "bad", "words"),
    [
        ("at least", {"least": 52}, 65, [184, 1], [51, 1], "52x or more"),
        ("about", {"factor": 2}, 4, [8, 1], [8.1, 1], "2x to 8x"),
        ("same", {"within": 0.1}, None, [1.1, 1], [1.11, 1], "a difference of up to 10%"),
        ("same", {"within": 0}, None, [7, 7], [7, 8], "an equal value"),
        ("slightly above", {"within": 0.1}, None, [1.1, 1], [1.11, 1], "more than 1x and up to 1.1x"),
        ("slightly above", {"within": 0.1}, None, [1.01, 1], [1, 1], "more than 1x and up to 1.1x"),
        ("ascending", {}, None, [1, 2, 3], [1, 3, 3], "each larger than the one before"),
        ("smallest", {}, None, [1, 2, 1], [2, 3, 1], "1x or more"),
        ("greatest", {}, None, [3, 2, 1], [2, 3, 1], "1x or more"),
        ("greater ratio", {}, None, [3, 1, 2, 1], [2, 1, 2, 1], "the first greater than the second"),
        ("above", {"least": 80}, 98.3, [80], [79.9], "80% or more"),
        ("equal", {}, "no", ["no"], ["yes"], "an equal value"),
        ("unlike", {"value": "right"}, None, ["refused"], ["right"], "anything but “right”"),
        ("near", {"within": 0.5}, 3, [3.5], [3.6], "a difference of up to 0.5%"),
        ("near", {"within": 0}, 3, [3], [4], "an equal value"),
        ("none", {}, None, [0], [1], "none"),
        ("some", {}, None, [1], [0], "one or more"),
    ],
)
def test_a_rule_holds_up_to_its_limit_and_says_where_that_is(rule, limits, theirs, good, bad, words):
    found = RULES[rule]
    assert found.words(theirs, limits, "%") == words
    assert found.apply(good, theirs, limits).holds
    assert not found.apply(bad, theirs, limits).holds
    assert set(limits) == set(found.limits)


def finding(**changes):
    plain = {"label": "GFLOPS", "unit": "x", "theirs": 65.0, "ours": 184.0, "state": "holds"}
    plain |= {"origin": "measured", "rule": "52x or more"}
    return judging.CheckResult(**plain | changes)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({}, "stated 65x; holds for 52x or more; measured 184x: holds"),
        (
            {"where": "RTX 3060", "origin": "measured: NVIDIA H200, 2026-11-21"},
            "stated 65x (RTX 3060); holds for 52x or more; measured 184x (NVIDIA H200, 2026-11-21): holds",
        ),
        (
            {"theirs": None, "state": "does not hold", "ours": 9.0},
            "holds for 52x or more; measured 9x: does not hold",
        ),
        (
            {"theirs": 3, "ours": 2, "unit": "", "origin": "recorded", "rule": "3 or less"},
            "stated 3; holds for 3 or less; recorded 2: holds",
        ),
        (
            {"ours": None, "state": "cannot be judged here", "because": "no CUDA device here"},
            "stated 65x; holds for 52x or more; cannot be judged here (no CUDA device here)",
        ),
        (
            {"state": "cannot be judged here", "because": "too noisy here; flagged noisy"},
            "stated 65x; holds for 52x or more; measured 184x: cannot be judged here (too noisy here; flagged noisy)",
        ),
    ],
)
def test_a_finding_explains_itself(changes, says):
    one = finding(**changes)
    assert one.sentence == says
    verdict = judging.ClaimVerdict("x", one.state, says, (one,), None)
    assert verdict.to_plain()["findings"][0]["sentence"] == says
