"""The lines of code in which two kernels differ."""

from gemmviz.catalogue.ladder import find, ladder
from gemmviz.versions.differing_lines import CodeLine, Passage, differing_lines

BEFORE = """// a comment of the first one
void one(float *C)
{
    C[0] = 1; // one
    C[1] = 2;
}
"""


def test_layouts_differ_in_two_writes_and_one_read() -> None:
    kernels = ladder()
    rr, cc = (find(name, kernels) for name in ("RR", "CC"))
    found = differing_lines(rr.text, cc.text, ("RR", "CC"))
    assert [passage.mine[0].text.partition(" = ")[0] for passage in found[:2]] == ["As[i][j]", "Bs[i][j]"]
    assert found[2].other[0].text == "sum += __fmul_rn(As[k][i], Bs[j][k]);" and len(found) == 3
    for passage in found:
        for line in passage.mine:
            assert rr.text.splitlines()[line.number - 1].strip() == line.text


def test_comments_spaces_empty_lines_and_the_name_do_not_count() -> None:
    after = BEFORE.replace("// one", "/* uno */").replace("one(", "two(").replace("    C[1]  ", "\n  C[1] ")
    assert differing_lines(BEFORE, after, ("one", "two")) == ()
    assert len(differing_lines(BEFORE, after)) == 1


def test_a_line_more_has_nothing_on_the_other_side() -> None:
    after = BEFORE.replace("    C[1]", "    C[2] = 3;\n    C[1]")
    assert differing_lines(BEFORE, after) == (Passage((), (CodeLine(5, "C[2] = 3;"),)),)
    assert differing_lines(after, BEFORE) == (Passage((CodeLine(5, "C[2] = 3;"),), ()),)


def test_front_matter_below_the_code_hides_no_difference() -> None:
    """That of a guess is there: two files of a user had "the same code", whatever was in them."""
    matter = '// ---gemmviz\n// entry = "one"\n// ---\n'
    after = BEFORE.replace("C[1] = 2;", "C[1] = 3;")
    (passage,) = differing_lines(BEFORE + matter, after + matter)
    assert passage == Passage((CodeLine(5, "C[1] = 2;"),), (CodeLine(5, "C[1] = 3;"),))
    assert differing_lines(matter + BEFORE, BEFORE + matter) == ()
