# ruff: noqa: E402  (modules that need Qt are imported after `need_qt`)
"""The titles of claims are in the chosen language."""

import pytest
from window_driving import need_qt

need_qt()

from fake_engines import FakeEngines

from gemmviz.app import new_session
from gemmviz.bench import claims as judging
from gemmviz.control.claims_runner import ClaimsRunner
from gemmviz.language import set_language, tr
from gemmviz.ui.claims.claims_page import ClaimsPage


@pytest.mark.parametrize("code", ["es", "ko"])
def test_titles_of_claims_are_in_the_chosen_language(code, qtbot):
    claim = next(one for one in judging.load() if one.id == "s1-bounds")
    source = judging.Source(claim.source, "Notes", "slides", "Spanish", ())
    set_language(code)
    try:
        session = new_session("dark")
        page = ClaimsPage(session, ClaimsRunner(session, FakeEngines(), [claim], [source]))
        qtbot.addWidget(page)
        page.show()
        title = tr(claim.title)
        assert title != claim.title and page.list.items[claim.id].text(0) == title
        page.list.choose(claim.id)
        assert page.detail.title.text() == title
    finally:
        set_language("en")
