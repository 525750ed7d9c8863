"""The jobs that claims need run one after the other, beside what the user records and measures."""

from dataclasses import replace

import pytest
from fake_engines import FakeEngines, FakeLoop

from gemmviz.bench import results
from gemmviz.bench.claims import Case, Check, Claim
from gemmviz.bench.claims.record import Quantity
from gemmviz.bench.protocol import Protocol
from gemmviz.bench.stats import summarise
from gemmviz.catalogue.ladder import find
from gemmviz.catalogue.problem import Problem
from gemmviz.cluster.piece import Seat
from gemmviz.control.claims_runner import ClaimsRunner
from gemmviz.control.engines import Engines
from gemmviz.engine.messages import BenchDone, Failed, RecordRequest, Result
from gemmviz.engine.supervisor import Engine
from gemmviz.language import set_language

FAST = Quantity(Case("hostmult1", (64, 64, 64)), "gflops")
SLOW = Quantity(Case("hostmult0", (64, 64, 64)), "gflops")
WRITES = Quantity(Case("hostmult0", (4, 4, 4)), "recorded.C.writes")


def ratio(*quantities):
    return Check("at least", "one over the other", quantities, ("one", "other"), 2.0, "x", {"least": 1.5})


RATIO = Claim("t-ratio", "T", "Twice as fast", "The one is twice as fast.", checks=(ratio(FAST, SLOW),))
FIRST = Claim("t-first", "T", "First", "It costs.", checks=(ratio(replace(SLOW, what="first_launch_s"), SLOW),))
COUNT = Claim(
    "t-count", "U", "Writes of C", "80 times.", checks=(Check("equal", "writes of C", (WRITES,), ("w",), 80.0),)
)


pytestmark = pytest.mark.usefixtures("kept")


@pytest.fixture
def runner(session, engines):
    return ClaimsRunner(session, engines, [RATIO, FIRST, COUNT], [])


def row(session, name, gflops):
    made = results.new_row(find(name, session.choice.kernels), Problem.cube(64), {})
    seconds = 2 * 64**3 / gflops / 1e9
    return made | {"status": "ok", "gflops": gflops, "samples_s": [seconds], "stats": summarise([seconds])}


def answer(engines, rows):
    """Make the measuring engine end its last request with these rows."""
    document = results.document({}, None, Protocol()) | {"results": rows}
    engines.bench.replied.emit(BenchDone(engines.bench.requests[-1].run, document))


def state(runner, claim):
    return runner.judge.verdict(claim).state


def test_a_verdict_follows_the_rounds(session, engines, runner):
    runner.run(["t-ratio"])
    run = engines.bench.requests[-1].run
    for fast, wanted in ((6.0, "holds"), (2.0, "does not hold")):
        for one in (row(session, "hostmult1", fast), row(session, "hostmult0", 2.0)):
            engines.bench.replied.emit(Result(run, one))
        assert state(runner, RATIO) == wanted


def test_another_benchmark_may_take_the_place_of_a_run(session, engines, runner):
    runner.run(["t-ratio"])
    session.progress.set("bench", ("Starting", None))
    engines.bench.replied.emit(Failed(engines.bench.requests[-1].run, "cancelled", "cancelled"))
    assert not runner.active
    assert session.progress["bench"] == ("Starting", None)


def test_a_recording_of_the_users_goes_first(session, engines, runner):
    session.progress.set("record", ("Recording mm", None))
    runner.run(["t-count"])
    assert not engines.recorder.requests
    session.progress.set("record", None)
    (first,) = engines.recorder.requests
    assert isinstance(first, RecordRequest) and (first.m, first.n, first.k) == (4, 4, 4)
    # The user records something else meanwhile: ours is cancelled by the worker, and made again afterwards.
    session.progress.set("record", ("Recording mm", None))
    engines.recorder.replied.emit(Failed(first.run, "cancelled", "cancelled"))
    assert engines.recorder.requests == [first] and runner.active
    session.progress.set("record", None)
    assert [r.path for r in engines.recorder.requests] == [first.path] * 2


def test_closing_while_a_recording_waits_starts_nothing(session, engines, runner):
    session.progress.set("record", ("Recording mm", None))
    runner.run(["t-count"])
    engines.close()
    session.progress.set("record", None)
    assert not engines.recorder.requests and not runner.active


def test_first_launches_are_measured_in_a_fresh_engine(engines, runner):
    runner.run(["t-ratio"])
    answer(engines, [])
    assert engines.bench.stops == 0
    runner.run(["t-first"])
    assert engines.bench.stops == 1
    assert len(engines.bench.requests) == 2


def test_another_text_of_a_kernel_makes_the_claims_open_again(session, engines, runner, tmp_path):
    runner.run(["t-ratio"])
    answer(engines, [row(session, "hostmult1", 6.0), row(session, "hostmult0", 2.0)])
    kernel = find("hostmult1", session.choice.kernels)
    session.choice.add_kernel(replace(kernel, name="mine", path=tmp_path / "mine.c"))
    assert state(runner, RATIO) == "holds"
    session.choice.add_kernel(replace(kernel, text=kernel.text + "// changed"))
    assert state(runner, RATIO) == "not run"


def test_an_engine_that_fails_ends_the_run_with_its_message(session, engines, runner):
    runner.run(["t-ratio"])
    engines.bench.replied.emit(Failed(engines.bench.requests[-1].run, "internal", "the engine does not start"))
    assert "the engine does not start" in session.messages.current.text
    assert not runner.active and state(runner, RATIO) == "not run"


def test_a_recording_is_counted_by_the_real_engine(session, kept):
    loop, ends = FakeLoop(), []
    engines = Engines(lambda: Engine(session.permission.trust), loop)
    runner = ClaimsRunner(session, engines, [COUNT], [])
    runner.finished.connect(lambda: ends.append(True))
    try:
        runner.run(["t-count"])
        loop.turn_until(lambda: ends)
    finally:
        engines.close()
    verdict = runner.judge.verdict(COUNT)
    assert (verdict.state, verdict.findings[0].ours, verdict.findings[0].origin) == ("holds", 80, "recorded")
    assert not kept  # recordings alone are no run worth keeping


def test_claims_that_cannot_be_judged_by_running_are_said_so(session):
    hopeless = Claim("t-hopeless", "U", "Speed of light", "75% of the peak.", why="It needs a profiler.")
    engines = FakeEngines()
    runner = ClaimsRunner(session, engines, [hopeless], [])
    runner.run(["t-hopeless"])
    assert not runner.active and session.messages.current.text.startswith("Nothing to run")


def test_a_verdict_is_kept_while_its_figures_and_the_language_stay(session, runner):
    judge = runner.judge
    judge.add_rows([row(session, "hostmult1", 20.0)])
    first = judge.verdict(RATIO)
    assert first.state == "not run" and judge.verdict(RATIO) is first
    set_language("es")
    try:
        assert judge.verdict(RATIO) is not first
    finally:
        set_language("en")
    judge.add_rows([row(session, "hostmult0", 5.0)])
    assert judge.verdict(RATIO).state == "holds"


def test_a_claim_never_compares_figures_of_two_devices(session, engines, runner):
    runner.run(["t-ratio"])
    answer(engines, [row(session, "hostmult1", 20.0), row(session, "hostmult0", 5.0)])
    assert runner.judge.verdict(RATIO).state == "holds"
    session.places.choose(Seat(address="tcp://lab:1", host="lab", gpu="", uuid="", cpu="a CPU", busy=False))
    assert runner.judge.verdict(RATIO).state == "not run"
    runner.judge.add_rows([row(session, "hostmult0", 5.0)])  # half of it, there
    assert runner.judge.verdict(RATIO).state == "not run"
