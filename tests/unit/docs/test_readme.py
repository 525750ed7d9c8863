"""README and the pages agree with the command line, the ladder, the claims and the proofs."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from gemmviz import cli
from gemmviz.bench import claims as judging
from gemmviz.bench import results
from gemmviz.bench.claims import ClaimVerdict, Evidence
from gemmviz.catalogue.ladder import ladder
from gemmviz.proving import proofs

ROOT = Path(__file__).parents[3]
README, DOCS = ROOT / "README.md", ROOT / "docs"
pytestmark = pytest.mark.skipif(not DOCS.is_dir(), reason="the documents are not beside these tests")


def page(name: str) -> str:
    """Return the text of a page of the site."""
    return (DOCS / f"{name}.md").read_text(encoding="utf-8")


def test_the_page_shows_every_command_and_no_other() -> None:
    blocks = "".join(re.findall(r"^```sh\n(.*?)^```", page("command-line"), re.MULTILINE | re.DOTALL))
    shown = set(re.findall(r"^gemmviz ([a-z]+)", blocks, re.MULTILINE))
    assert shown == set(cli._COMMANDS) - {"window"}


def test_the_page_of_kernels_lists_the_ladder() -> None:
    rows = re.findall(r"^\| `([^`]+)` \| ([^|]*) \| ([^|]*) \|$", page("kernels"), re.MULTILINE)
    own = {True: "gemmviz", False: "reference"}  # no document names it: a kernel of our own, or a library
    assert rows == [(k.alias, k.source or own[k.recordable], k.idea) for k in ladder()]


def test_readme_and_the_page_count_the_ladder() -> None:
    own = sum(kernel.recordable for kernel in ladder())
    counted = (own, len(ladder()) - own)
    for text in (README.read_text(encoding="utf-8"), page("kernels")):
        message = re.search(r"(\d+) kernels and (\d+) library references", text)
        assert message and tuple(map(int, message.groups())) == counted
    words = ("Six", "Seven", "Eight", "Nine", "Ten")
    exhibits = sum(bool(kernel.exhibit) for kernel in ladder())
    assert f"{words[exhibits - 6]} rungs are *exhibits*" in page("kernels")


def test_help_needs_no_qt() -> None:
    code = "import sys; sys.modules['PySide6'] = None; from gemmviz.cli import run; run(['--help'])"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert all(name in answer.stdout for name in cli._COMMANDS)


# The pages' figures on claims and proofs


def verdicts() -> dict[str, ClaimVerdict]:
    """Return the reference's verdict on each claim."""
    (path,) = (README.parent / "resources" / "reference").glob("*.json")
    evidence = Evidence.of(results.read_results(path), reference=True)
    return {claim.id: judging.judge(claim, evidence) for claim in judging.load()}


def shown_as(figure: object, text: str) -> bool:
    """Return whether a figure equals that of a text such as 0.44x, with the digits of the text."""
    digits = len(text.partition(".")[2])
    return isinstance(figure, (int, float)) and f"{figure:.{digits}f}" == text


def test_the_page_counts_the_claims_that_hold() -> None:
    text = re.search(r"(\d+) claims hold, (\d+) cannot be judged[^,]*, [^,]*, and these (\d+)", page("results"))
    assert text, "the page says how many claims hold"
    states = [verdict.state for verdict in verdicts().values()]
    counted = tuple(states.count(state) for state in ("holds", "cannot be judged here", "does not hold"))
    assert tuple(map(int, text.groups())) == counted and sum(counted) == len(states)


def test_the_page_lists_the_claims_that_do_not_hold_with_their_figures() -> None:
    found = verdicts()
    rows = re.findall(r"^\| `(s\d-[^`]+)`: [^|]+\|([^|]*)\|([^|]*)\|$", page("results"), re.MULTILINE)
    assert [name for name, *_ in rows] == [name for name, verdict in found.items() if verdict.state == "does not hold"]
    for name, theirs, ours in rows:
        findings = [one for one in found[name].findings if one.state == "does not hold"]
        for text in re.findall(r"([\d.]+)x", theirs):
            assert any(shown_as(one.theirs, text) for one in findings), (name, theirs)
        for text in re.findall(r"([\d.]+)x", ours):
            assert any(shown_as(one.ours, text) for one in findings), (name, ours)
        assert name == "s3-multiples" or re.search(r"\dx", ours), name


def test_the_example_of_a_verdict_is_one() -> None:
    text = page("results").replace("\n", " ")
    message = re.search(r"stated ([\d.]+)x; holds for (.+?); measured ([\d.]+)x: (.+?)\" \(`(.+?)`\)", text)
    assert message, "the page shows an example"
    theirs, rule, ours, state, name = message.groups()
    verdict = verdicts()[name]
    (one,) = verdict.findings
    assert (one.rule, one.state) == (rule, state) and shown_as(one.theirs, theirs) and shown_as(one.ours, ours)


def test_the_page_counts_the_proofs() -> None:
    text = re.search(r"(\d+) counters are equal, (\d+) are explained, and no difference is left", page("proofs"))
    assert text, "the page counts the proofs"
    kept = [proof for file in proofs.kept() for kernel in ladder() for proof in file.of(kernel)]
    verdict = [row.verdict for proof in kept for row in proof.compared]
    assert tuple(map(int, text.groups())) == (verdict.count("equal"), verdict.count("explained"))
    assert set(verdict) == {"equal", "explained"} and all(proof.holds for proof in kept)
