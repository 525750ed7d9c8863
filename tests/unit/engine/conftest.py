"""An engine that has to be gone at the end of its test."""

import pytest
from benching import is_alive
from consenting import AllowsAll

from gemmviz.engine.supervisor import Engine


@pytest.fixture
def engine():
    engine = Engine(AllowsAll())
    yield engine
    pid = engine.pid
    engine.close()
    assert engine.pid is None
    if pid is not None:
        assert not is_alive(pid)
