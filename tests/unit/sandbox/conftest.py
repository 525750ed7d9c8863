"""An engine for kernels that attack."""

import pytest
from consenting import AllowsAll

from gemmviz.engine.supervisor import Engine


@pytest.fixture(scope="module")
def engine():
    engine = Engine(AllowsAll())
    yield engine
    engine.close()
