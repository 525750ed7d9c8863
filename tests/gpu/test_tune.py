"""Tuning on a real GPU: every candidate is compiled, verified and timed; a crash costs only itself."""

import threading

import pytest
from consenting import AllowsAll

from gemmviz.catalogue.ladder import find, ladder
from gemmviz.engine.messages import Searched, TuneRequest
from gemmviz.engine.supervisor import Engine

pytestmark = pytest.mark.gpu


@pytest.fixture
def engine():
    engine = Engine(AllowsAll())
    yield engine
    engine.close()


def tune(engine, text):
    path = str(find("gputiled_more_work", ladder()).path)
    # Time enough on any GPU: a search of six candidates ends by itself.
    replies = list(engine.run(TuneRequest(1, path, text, 512, 512, 512, seconds=300.0), threading.Event()))
    assert isinstance(replies[-1], Searched), replies[-1]
    return replies[-1].document


def test_a_kernel_is_tuned(engine):
    kernel = find("gputiled_more_work", ladder())
    document = tune(engine, kernel.text)
    assert document["tried"] == document["combinations"] == 6 and document["failed"] == {}
    assert document["tuned_on"] == document["device"]["name"]
    assert document["gflops"] > 0 and document["default"]["params"] == kernel.defaults
    for candidate in document["candidates"]:
        assert candidate["verify"]["before"] == candidate["verify"]["after"] == "ok"
        assert candidate["regs"] > 0 and candidate["gflops"] > 0


def test_candidates_that_break_the_device_cost_only_themselves(engine):
    text = find("gputiled_more_work", ladder()).text
    entry = text.index("{", text.index("__global__"))
    broken = f"{text[: entry + 1]}\n    if (WPT == 4) *(volatile int *)8 = 1;\n{text[entry + 1 :]}"
    document = tune(engine, broken)
    statuses = {(c["params"]["TS"], c["params"]["WPT"]): c["status"] for c in document["candidates"]}
    assert {status for (_, wpt), status in statuses.items() if wpt == 4} == {"crash"}
    assert {status for (_, wpt), status in statuses.items() if wpt != 4} == {"ok"}
    assert document["params"]["WPT"] != 4
