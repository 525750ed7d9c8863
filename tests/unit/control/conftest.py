"""A session, and engines whose answers come from the test."""

import pytest
from fake_engines import FakeEngines

from gemmviz.app import new_session
from gemmviz.language import set_language


@pytest.fixture
def session(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    set_language("en")
    return new_session()


@pytest.fixture
def engines():
    return FakeEngines()


@pytest.fixture
def kept(monkeypatch):
    """The result files that were kept among the past runs."""
    documents = []
    monkeypatch.setattr("gemmviz.bench.store.save", documents.append)
    return documents
