"""The engine answers each request in the language of the requesting process; names of classes are not translated."""

import re
import threading

import hostile
import pytest
from consenting import AllowsAll

from gemmviz.catalogue.ladder import find, ladder
from gemmviz.checking import report_text
from gemmviz.engine.messages import Checked, CheckRequest, Failed, Progress, Recorded, RecordRequest
from gemmviz.engine.supervisor import Engine
from gemmviz.language import set_language, tr

TILED = find("gputiled", ladder())
NO_BARRIER = TILED.text.replace("        __syncthreads();\n", "\n", 1)
KOREAN = re.compile("[가-힣]")


@pytest.fixture
def engine():
    engine = Engine(AllowsAll())
    yield engine
    engine.close()
    set_language("en")


def record(engine, text, path="/nowhere/mine.c", params=None):
    return list(engine.run(RecordRequest(4, path, text, 4, 4, 4, params or {}), threading.Event()))


def test_a_broken_rung_is_explained_in_the_language_that_is_spoken(engine):
    values = {}
    for code in ("ko", "en"):
        set_language(code)
        *before, recorded = record(engine, NO_BARRIER, str(TILED.path), {"TS": 2})
        assert isinstance(recorded, Recorded)
        found = recorded.findings
        values[code] = [(f.kind, f.line, f.other_line) for f in found], [f.text for f in found]
        progress = [reply.text for reply in before if isinstance(reply, Progress)]
        assert progress and all(bool(KOREAN.search(text)) == (code == "ko") for text in progress)
    assert values["ko"][0] == values["en"][0] and values["en"][0][0][0] == "race"
    assert re.search(r"^Thread \(\d,\d\) .*reads .* before thread .*A __syncthreads\(\)", values["en"][1][0])
    assert KOREAN.search(values["ko"][1][0]) and "before" not in values["ko"][1][0]
    # The names of arrays and elements are the source's in every language.
    assert re.findall(r"\w+\[\d\]\[\d\]", values["ko"][1][0]) == re.findall(r"\w+\[\d\]\[\d\]", values["en"][1][0])


def test_a_crash_keeps_its_class_in_another_language(engine):
    set_language("ko")
    loops = hostile.LOOPS.replace("c[i * n + j] = sum", "c[i * n + j + (1 << 29)] = sum")
    launches = [{"m": 4, "n": 4, "k": 4, "params": {}}]
    request = CheckRequest(3, "/nowhere/mine.c", hostile.source(loops=loops), launches)
    (checked,) = [r for r in engine.run(request, threading.Event()) if isinstance(r, Checked)]
    (finding,) = checked.report.findings
    assert finding.kind == "out of bounds" and "C[536870912]" in finding.text
    assert KOREAN.search(finding.text) and "bounds" not in finding.text
    assert report_text.kind(finding) == tr("out of bounds") != "out of bounds"


def test_a_size_that_does_not_fit_is_refused_in_spanish(engine):
    set_language("es")
    text = hostile.RIGHT.replace("// ---\n", '// requires = ["M % 3 == 0"]\n// ---\n')
    (*_, failed) = record(engine, text)
    assert isinstance(failed, Failed) and failed.kind == "refused"
    assert "M % 3 == 0" in failed.message and "requires" not in failed.message and "nearest" not in failed.message
