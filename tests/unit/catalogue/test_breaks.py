"""Declared changes of a kernel: variants of the source with their declared effects."""

import json
from functools import cache

import pytest

from gemmviz import data
from gemmviz.bench import results
from gemmviz.bench.figures import Shown
from gemmviz.bench.ranking import beside_base, standings
from gemmviz.catalogue.breaks import Break, Edit, broken, changed_lines, fitting, removes
from gemmviz.catalogue.errors import FrontMatterError, UnknownKernel
from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.launch import launch, nearest_size
from gemmviz.catalogue.problem import Problem
from gemmviz.catalogue.switches import DEFECTS, NOTHING
from gemmviz.checking import report_text
from gemmviz.checking.examine import examine
from gemmviz.cli import run

LADDER = ladder()
BREAKABLE = [kernel for kernel in LADDER if kernel.breaks]
EVERY = [(kernel, change) for kernel in BREAKABLE for change in kernel.breaks]
FIRST = {effect: change for _, change in reversed(EVERY) for effect in change.expect}
"""The first change of the ladder with each effect."""
# A line that is a little better at the edge of a matrix is no better line.
_MUCH = 1.01
# No tile divides it, and an index that mixes up M, N and K shows.
_UNEVEN = Problem(37, 45, 41)
# The same for tiles of up to 16: more than one in each direction, too.
_UNEVEN_SMALL, _SMALL_TILE, _LARGEST_TILE = Problem(21, 29, 25), 16, 128
# Several warps, and more than one box, or row of threads, of each kind.
_TILES_FP32 = {"BM": 64, "BN": 128, "TM": 8, "TN": 8, "WM": 1, "WN": 2}
_TILES_FP16 = {"BM": 32, "BN": 32, "BK": 32, "WM": 16, "WN": 16}
_TILES_MAPPED = {"BM": 64, "BN": 128}


def worst_costs(report):
    """Return how far the worst line of each array is from the best possible, by (class, array)."""
    found = {}
    for site in report.costs:
        key = report_text.kind(site), site.array
        found[key] = max(found.get(key, 1.0), site.degree)
    return found


def where(kernel, change):
    """Return the size and parameters at which a change shows: of the large tiles of our own rungs, small ones."""
    small = {}
    if not change.at and kernel.backend == "cuda" and not kernel.source:
        small = _TILES_FP32 if kernel.dtype == "float32" else _TILES_MAPPED if kernel.maps else _TILES_FP16
    params = kernel.defaults | {name: value for name, value in small.items() if name in kernel.params} | change.params
    tiles = [value for value in params.values() if value <= _LARGEST_TILE]
    wanted = _UNEVEN_SMALL if tiles and max(tiles) <= _SMALL_TILE else _UNEVEN
    return Problem(*change.at) if change.at else nearest_size(kernel, wanted, params), params


@cache
def base_costs(name, size, params):
    return worst_costs(examine(find(name, LADDER), size, dict(params)))


def in_the_sample(change):
    """Return whether a change is the first of the ladder with an effect."""
    return any(FIRST[effect] is change for effect in change.expect)


@pytest.mark.parametrize(
    ("kernel", "change"),
    [
        pytest.param(k, c, id=f"{k.name}~{c.id}", marks=[] if in_the_sample(c) else pytest.mark.thorough)
        for k, c in EVERY
    ],
)
def test_the_checker_names_the_effect_of_a_change(kernel, change):
    size, params = where(kernel, change)
    report = examine(broken(kernel, [change.id]), size, params)
    assert not report.refused
    found = {finding.kind for finding in report.findings}
    if not found:
        before, now = base_costs(kernel.name, size, tuple(params.items())), worst_costs(report)
        found |= {kind for kind, array in now if now[kind, array] > _MUCH * before.get((kind, array), 1.0)}
        gains = {"uncoalesced": "fewer sectors", "bank conflicts": "fewer bank conflicts"}
        found |= {gains[kind] for kind, array in before if before[kind, array] > _MUCH * now.get((kind, array), 1.0)}
    assert found == set(change.expect) - {NOTHING}


def test_every_rung_with_a_source_can_be_broken():
    assert [kernel.name for kernel in LADDER if kernel.recordable and not kernel.breaks] == []


@pytest.mark.sweep
@pytest.mark.parametrize("kernel", BREAKABLE, ids=lambda kernel: kernel.name)
def test_every_declared_place_is_in_the_code_and_lines_keep_their_numbers(kernel):
    assert fitting(kernel) == kernel.breaks
    for change in kernel.breaks:
        variant = broken(kernel, [change.id])
        assert variant.text.count("\n") == kernel.text.count("\n")
        lines = changed_lines(kernel.text, variant.text)
        code = kernel.text[: kernel.text.index("// ---gemmviz breaks")].count("\n")
        assert lines and max(lines) <= code and min(lines) > kernel.line_of("entry")


def test_a_variant_is_a_separate_kernel_beside_its_original():
    kernel = find("gputiled", LADDER)
    variant = find("gputiled~no-second-barrier", LADDER)
    assert variant.path == kernel.path.with_name("30_gputiled~no-second-barrier.cu")
    assert variant.name == variant.alias == "gputiled~no-second-barrier"
    assert variant.base_name == "gputiled" and not kernel.changes
    assert variant.sha256 != kernel.sha256
    assert variant.changes == ("without the second barrier",) and variant.defects == ("race",)
    assert launch(variant, Problem.cube(32)).label == "gputiled<16>~no-second-barrier"
    assert variant.text.count("__syncthreads();\n") == kernel.text.count("__syncthreads();\n") - 1


def test_several_changes_make_one_variant_whatever_their_order():
    both = find("gputiled~no-second-barrier+no-first-barrier", LADDER)
    assert both.name == "gputiled~no-first-barrier+no-second-barrier"
    code = both.text[: both.text.index("// ---gemmviz breaks")]
    assert "__syncthreads" not in code
    assert find("gputiled~no-first-barrier+no-second-barrier", LADDER) == both


def test_the_message_about_an_unknown_change_lists_the_known_ones():
    with pytest.raises(UnknownKernel, match=r"has no change 'barrier'; it has: no-first-barrier, no-second"):
        find("gputiled~barrier", LADDER)
    with pytest.raises(UnknownKernel, match="it has: none"):
        find("cublas~barrier", LADDER)


def test_two_changes_of_one_place_are_refused():
    with pytest.raises(UnknownKernel, match="change the same place"):
        find("gputiled~no-check-a+no-zero-fill", LADDER)


def test_an_own_file_is_broken_by_its_path(tmp_path):
    text = find("gputiled", LADDER).text
    (tmp_path / "mine.cu").write_text(text, encoding="utf-8")
    variant = find(f"{tmp_path}/mine.cu~pad-a", LADDER)
    assert variant.path == tmp_path / "mine~pad-a.cu" and "As[TS][TS + 1]" in variant.text


def test_a_change_whose_place_is_gone_is_not_offered(tmp_path):
    text = find("gputiled", LADDER).text
    start = text.rindex("        __syncthreads();", 0, text.index("// ---gemmviz breaks"))
    edited = parse(text[:start] + text[start:].replace("__syncthreads();", "", 1), tmp_path / "mine.cu")
    assert "no-second-barrier" not in [change.id for change in fitting(edited)]
    with pytest.raises(UnknownKernel, match=r"mine.cu: no-second-barrier changes '__syncthreads\(\);', which"):
        broken(edited, ["no-second-barrier"])


def test_declared_changes_do_not_alter_a_source():
    document = json.loads((data.root("resources") / "reference" / "nvidia-h200.json").read_text(encoding="utf-8"))
    kernel = find("gputiled", LADDER)
    text = kernel.text
    bare = parse(text[: text.index("\n// ---gemmviz breaks")], kernel.path)
    assert bare.breaks == () and bare.sha256 == kernel.sha256
    assert kernel.sha256 in [row["source_sha256"] for row in document["results"]]


@pytest.mark.parametrize(
    ("edits", "removed"),
    [
        ([Edit("__syncthreads();")], True),
        ([Edit("row < M && k < K ? A[row * K + k] : 0", "A[row * K + k]")], True),
        ([Edit("a + b", "b + a")], False),
        ([Edit("As[TS][TS]", "As[TS][TS + 1]")], False),
        ([Edit("x /* y */", "x // z")], True),
        ([Edit("a[i]"), Edit("b", "c")], False),
    ],
)
def test_a_change_removes_where_nothing_is_put_in(edits, removed):
    assert removes(Break("id", "Title", tuple(edits))) == removed


CODE = """// ---gemmviz
// entry = "f"
// args = ["C", "A", "B", "N"]
// ---
void f(float *C, float *A, float *B, int N) { C[0] = A[0] * B[0]; }
"""


@pytest.mark.parametrize(
    ("declared", "text"),
    [
        ('// [Bad]\n// title = "T"\n// find = "C"', r"mine.c:7: breaks are named in small letters"),
        ('// [a]\n// find = "C"', "mine.c:7: breaks: 'a' needs a title"),
        ('// [a]\n// title = "T"', "breaks: 'a' needs find"),
        ('// [a]\n// title = "T"\n// find = "C"\n// nth = 0', "nth of 'a' counts from 1"),
        ('// [a]\n// title = "T"\n// find = "C"\n// replace = "\\n"', "as many lines as find"),
        ('// [a]\n// title = "T"\n// find = "C"\n// expect = "chaos"', "expect of 'a' must be one or more of out of"),
        ('// [a]\n// title = "T"\n// find = "C"\n// expect = ["race", "none"]', "expect of 'a'"),
        ('// [a]\n// title = "T"\n// find = "C"\n// at = [1, 2]', r"at of 'a' must be \[M, N, K\]"),
        ('// [a]\n// title = "T"\n// find = "C"\n// set = { TS = "x" }', "set of 'a' must be a table"),
        ('// [a]\n// title = "T"\n// seek = "C"', "'a' has the unknown key 'seek'"),
        ('// [a]\n// title = "T"\n// edits = []', "edits of 'a'"),
        ("// a = 1", "'a' stands in no table"),
        ("// [a", r"mine.c:7: breaks are not TOML"),
    ],
)
def test_what_is_declared_wrongly_is_told_with_its_line(tmp_path, declared, text):
    with pytest.raises(FrontMatterError, match=text):
        parse(f"{CODE}// ---gemmviz breaks\n{declared}\n// ---\n", tmp_path / "mine.c")


def row_of(name, gflops, status="ok"):
    kernel = find(name, LADDER)
    row = results.new_row(kernel, Problem.cube(64), {})
    return row | {"status": status, "gflops": gflops, "stats": {"iqr_rel": 0.001}}


def test_a_variant_is_compared_with_its_rung_and_ranked_with_none():
    names = ("gpumult0", "gpumult1~row-by-x", "gpumult1", "cublas")
    rows = {name: row_of(name, figure) for name, figure in zip(names, (100.0, 90.0, 360.0, 9000.0), strict=True)}
    found = standings([find(name, LADDER) for name in names], lambda name: Shown(rows[name]))
    standing = {s.kernel.name: s for s in found}
    assert standing["gpumult1~row-by-x"].of_base == 0.25
    assert standing["gpumult1~row-by-x"].speedup is None and standing["gpumult1~row-by-x"].share is None
    assert standing["gpumult1"].speedup == 3.6 and standing["gpumult1"].of_base is None
    # With other parameters it is another comparison.
    rows["gpumult1"] |= {"params": {"BX": 8, "BY": 8}}
    assert beside_base(list(rows.values())) == []


def test_a_variant_with_a_known_defect_is_flagged_even_when_it_is_right():
    row = row_of("gputiled~no-second-barrier", 100.0)
    assert row["flags"] == ["broken on purpose: race"]
    assert row_of("gputiled~row-by-x", 100.0)["flags"] == []
    # The wrong C of a changed kernel is no failure of the run.
    assert not results.failed([row | {"status": "wrong"}])
    assert results.failed([row_of("gputiled~row-by-x", None, "wrong")])


def test_list_names_the_declared_changes(capsys):
    assert run(["list", "--breaks"]) == 0
    out = capsys.readouterr().out
    assert "gputiled~no-second-barrier" in out and "Without the second barrier" in out and "race" in out
    assert sum(len(kernel.breaks) for kernel in LADDER) == out.count("~")


def test_check_of_a_variant_finds_the_race(capsys):
    assert run(["check", "gputiled~no-second-barrier", "--size", "32"]) == 1
    out = capsys.readouterr().out
    assert "30_gputiled~no-second-barrier.cu:29: race" in out


def test_the_expected_effect_of_a_change_is_a_class_of_the_checker():
    from typing import get_args

    from gemmviz.trace.hazards import Kind

    assert set(DEFECTS) <= set(get_args(Kind))
