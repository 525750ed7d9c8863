"""A source without comments and texts: the code keeps its place."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemmviz.catalogue.plain_code import plain_code


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("a = b; // c", "a = b;     "),
        ("a // b \\\n c\nd", "a       \n  \nd"),
        ("a /* b\n c */ d", "a     \n      d"),
        ("a /* never ends", "a              "),
        ('f("// \\" b", c)', "f(         , c)"),
        ("f('\"', b) // 1", "f(   , b)     "),
        ("1'000'000 + a", "1'000'000 + a"),
        ('R"x(// " )" )x" + a', "                + a"),
        ("#define A 1 // b\nc", "#define A 1     \nc"),
        ("#define A \\\n/* b \\\n c */ 1\nd", "#define A \\\n     \\\n      1\nd"),
    ],
)
def test_comments_and_texts_become_spaces(text: str, code: str) -> None:
    assert plain_code(text) == code


def test_directives_become_spaces_where_they_are_not_wanted() -> None:
    assert plain_code("#define A \\\n 1\nb", directives=False) == "           \n  \nb"


@given(st.text("ab/*\"'\\\n#R() ", max_size=60))
def test_every_line_keeps_its_length(text: str) -> None:
    assert [len(line) for line in plain_code(text, directives=False).split("\n")] == [
        len(line) for line in text.split("\n")
    ]
