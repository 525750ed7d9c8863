"""Titles of kernels in another language."""

from dataclasses import replace

import pytest

from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.titles import title_text
from gemmviz.language import set_language, tr


@pytest.fixture
def spanish():
    set_language("es")
    yield
    set_language("en")


@pytest.mark.usefixtures("spanish")
def test_the_title_of_a_user_s_file_is_not_translated(tmp_path):
    """`race.cu` was on the list as "condición de carrera"."""
    shipped = find("gputiled", ladder())
    assert title_text(shipped) == tr(shipped.title) != shipped.title
    variant = replace(shipped, path=shipped.path.with_stem("30_gputiled~no-second-barrier"))
    assert title_text(variant) == title_text(shipped)
    assert tr("race") != "race" and title_text(replace(shipped, title="race", path=tmp_path / "race.cu")) == "race"
