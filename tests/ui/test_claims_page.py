# ruff: noqa: E402  (modules that need Qt are imported after `need_qt`)
"""The page of claims, driven with a fake engine: pick a claim, run it, read the verdict, stop."""

from dataclasses import replace

import pytest
from window_driving import need_qt

need_qt()

from fake_engines import FakeEngines
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QLabel, QPushButton

from gemmviz.app import new_session
from gemmviz.bench import results
from gemmviz.bench.claims import Case, Check, Claim, Source
from gemmviz.bench.claims.record import Quantity
from gemmviz.bench.claims.record import StatedTable as ClaimTable
from gemmviz.bench.figures import Figures
from gemmviz.bench.protocol import Protocol
from gemmviz.bench.reference_results import ReferenceResults
from gemmviz.bench.stats import summarise
from gemmviz.catalogue.errors import GemmvizError, Unavailable
from gemmviz.catalogue.ladder import find
from gemmviz.catalogue.problem import Problem
from gemmviz.control.claims_runner import ClaimsRunner
from gemmviz.engine.messages import (
    BenchDone,
    BenchRequest,
    Failed,
    Profiled,
    ProfileRequest,
    Progress,
    Result,
)
from gemmviz.ui.claims.claims_page import ClaimsPage

FAST = Quantity(Case("hostmult1", (64, 64, 64)), "gflops")
SLOW = Quantity(Case("hostmult0", (64, 64, 64)), "gflops")
ON_GPU = tuple(
    Quantity(Case(name, (64, 64, 64), (("BX", 16), ("BY", 16))), "gflops") for name in ("gpumult1", "gpumult0")
)
WRITES = Quantity(Case("hostmult0", (4, 4, 4)), "recorded.C.writes")


def ratio(*quantities, theirs=2.0):
    return Check(
        "at least", "GFLOPS of the one over the other", quantities, ("one", "other"), theirs, "x", {"least": 1.5}
    )


RATIO = Claim(
    "t-ratio",
    "T",
    "Twice as fast",
    "The one is twice as fast as the other.",
    where="a GPU",
    checks=(ratio(FAST, SLOW),),
)
GPU = Claim("t-gpu", "T", "On a GPU", "The register pays.", where="RTX 3060", checks=(ratio(*ON_GPU),))
COUNT = Claim(
    "t-count",
    "U",
    "Writes of C",
    "C is written 80 times.",
    checks=(Check("equal", "writes of C", (WRITES,), ("w",), 80.0),),
)
HOPELESS = Claim("t-hopeless", "U", "Speed of light", "It reaches 75% of the peak.", why="It needs a profiler.")
TABLE = Claim(
    "t-table",
    "U",
    "A table",
    "The last is the best.",
    where="RTX 3080",
    checks=(Check("smallest", "next best", (FAST, SLOW), ("f", "s"), 1.1, "x"),),
    table=ClaimTable(
        "Time",
        "ms",
        "block",
        "layout",
        ("4", "8", "16"),
        ("RR", "CR", "CC"),
        tuple((FAST, SLOW, None) for _ in range(3)),
        ((4.0, 3.0, 2.0), (3.0, 2.0, 1.0), (5.0, 4.0, 3.0)),
        1.0,
    ),
)
CLAIMS = [RATIO, GPU, COUNT, HOPELESS, TABLE]
SOURCES = [
    Source("T", "First document", "blog post", "Korean", (), 2025),
    Source("U", "Second document", "slides", "Spanish", ()),
]


@pytest.fixture
def kept(monkeypatch):
    """The result files that were kept in the folder of past runs."""
    documents = []
    monkeypatch.setattr("gemmviz.bench.store.save", documents.append)
    return documents


@pytest.fixture
def make_page(qtbot, kept):
    def make(claims):
        session = new_session("dark")
        session.results.set_device("Some CPU (2 cores)", None)
        engines = FakeEngines()
        page = ClaimsPage(session, ClaimsRunner(session, engines, claims, SOURCES))
        page.engines = engines
        qtbot.addWidget(page)
        page.resize(1040, 740)
        page.show()
        return page

    return make


@pytest.fixture
def page(make_page):
    return make_page(CLAIMS)


def words(page, claim):
    page.refresh()
    return [badge.words for badge in page.list.badges(claim)]


def row(session, name, gflops, params=None, status="ok"):
    kernel, problem = find(name, session.choice.kernels), Problem.cube(64)
    made = results.new_row(kernel, problem, params or {})
    seconds = 2 * 64**3 / gflops / 1e9
    made |= {"status": status, "gflops": gflops, "samples_s": [seconds], "stats": summarise([seconds])}
    return made


def answer(page, rows):
    """Let the engine answer the last request with these rows, one after another, and end."""
    request = page.engines.bench.requests[-1]
    assert isinstance(request, BenchRequest)
    for one in rows:
        page.engines.bench.replied.emit(Result(request.run, one))
    document = results.document({}, None, Protocol()) | {"results": rows}
    page.engines.bench.replied.emit(BenchDone(request.run, document))


def press_enter(page, qtbot, claim):
    page.list.choose(claim.id)
    qtbot.keyClick(page.list, Qt.Key.Key_Return)


def test_claims_are_listed_under_their_documents(page):
    headings = [page.list.topLevelItem(i).text(0) for i in range(page.list.topLevelItemCount())]
    assert headings == ["T  First document (Korean blog post, 2025)", "U  Second document (Spanish slides)"]
    assert page.list.items["t-count"].parent() is page.list.topLevelItem(1)
    assert words(page, RATIO) == ["not run yet"]
    assert "stated 2x (a GPU); holds for 1.5x or more; not run yet" in page.list.figures(RATIO)


def test_enter_runs_the_chosen_claim_and_the_verdict_appears(page, qtbot, kept):
    press_enter(page, qtbot, RATIO)
    (request,) = page.engines.bench.requests
    assert sorted(entry["path"].rsplit("_")[-1] for entry in request.kernels) == ["hostmult0.c", "hostmult1.c"]
    assert request.sizes == [(64, 64, 64)]
    assert words(page, RATIO) == ["running"]
    assert page.stop.isEnabled() and not page.run_all.isEnabled()
    page.engines.bench.replied.emit(Progress(request.run, "hostmult0: timing", 0.5))
    page.refresh()
    assert "hostmult0: timing" in page.progress.text() and page.bar.value() == 500

    answer(page, [row(page.session, "hostmult1", 6.0), row(page.session, "hostmult0", 2.0)])
    assert words(page, RATIO) == ["holds"]
    assert "measured 3x (Some CPU (2 cores)" in page.list.figures(RATIO)
    assert page.list.figures(RATIO).endswith("): holds")
    assert "✓ holds" in page.detail.verdict.text()
    texts = [label.text() for label in page.detail.checks.findChildren(QLabel)]
    assert "3x (measured)" in texts and "1.5x or more" in texts
    assert page.session.progress["bench"] is None and page.run_all.isEnabled()
    assert [len(document["results"]) for document in kept] == [2]


def test_a_claim_that_does_not_hold_is_reported(page, qtbot):
    qtbot.mouseClick(page.list.buttons["t-ratio"], Qt.MouseButton.LeftButton)
    answer(page, [row(page.session, "hostmult1", 2.0), row(page.session, "hostmult0", 2.0)])
    assert words(page, RATIO) == ["does not hold"]
    assert "✗ 1 does not" in page.counts.text()


def test_stop_keeps_finished_runs_and_starts_no_further_run(page, qtbot):
    qtbot.mouseClick(page.run_all, Qt.MouseButton.LeftButton)
    assert len(page.engines.recorder.requests) == 1 and not page.engines.bench.requests
    record = page.engines.recorder.requests[-1]
    page.engines.recorder.replied.emit(Failed(record.run, "compile", "no C here"))
    request = page.engines.bench.requests[-1]
    page.engines.bench.replied.emit(Result(request.run, row(page.session, "hostmult1", 6.0)))
    page.engines.bench.replied.emit(Result(request.run, row(page.session, "hostmult0", 2.0)))
    page.refresh()
    qtbot.mouseClick(page.stop, Qt.MouseButton.LeftButton)
    answer(page, [row(page.session, "hostmult1", 6.0), row(page.session, "hostmult0", 9.0, status="cancelled")])
    assert page.engines.bench.requests == [request]
    assert words(page, RATIO) == ["holds"]
    assert not page.runner.active and page.session.progress["bench"] is None


def test_no_claim_starts_during_another_measurement(page, qtbot):
    page.session.progress.set("bench", ("hostmult0: timing", 0.5))
    page.refresh()
    assert not page.run_all.isEnabled() and not page.list.buttons["t-ratio"].isEnabled()
    press_enter(page, qtbot, RATIO)
    assert not page.engines.bench.requests
    assert "being measured" in page.session.messages.current.text


def test_without_a_gpu_the_reference_is_shown_as_one(page):
    params = {"BX": 16, "BY": 16}
    rows = [row(page.session, "gpumult1", 300.0, params), row(page.session, "gpumult0", 100.0, params)]
    page.session.results.set_references([ReferenceResults("NVIDIA H200", "Big CPU", "2026-11-21", Figures(rows))])
    assert words(page, GPU) == ["cannot be judged here", "reference: holds"]
    page.list.choose("t-gpu")
    assert "no CUDA device" in page.detail.verdict.text()
    assert "reference: holds" in page.detail.elsewhere.text() and page.detail.elsewhere.isVisible()
    assert "reference 3x (NVIDIA H200, 2026-11-21): holds" in page.list.figures(GPU)
    assert page.detail.chart.bars.reference
    page.session.results.want_references(False)
    assert words(page, GPU) == ["cannot be judged here"]


SHARE = Quantity(Case("CC", (64, 64, 64), (("BLOCK", 16),)), "profiled.compute")
PROFILED = Claim(
    "t-share",
    "U",
    "Busy",
    "It is busy.",
    where="RTX 3080",
    checks=(Check("above", "compute throughput", (SHARE,), ("CC",), 75.1, "%", {"least": 60}),),
)


def shares(compute):
    size = {"kernel": "CC", "M": 64, "N": 64, "K": 64, "params": {"BLOCK": 16}}
    figures = {"compute": compute, "memory": 50.0, "occupancy": 97.0}
    return [size | {"source_sha256": None, "figures": figures, "fault": None}]


def give_gpu(page):
    page.session.results.set_device("A GPU / Some CPU (2 cores)", {"name": "A GPU"})


def test_a_share_of_the_peak_is_profiled_judged_and_kept(make_page, qtbot, kept, monkeypatch):
    monkeypatch.setattr("gemmviz.proving.ncu.tool", lambda: "/usr/bin/ncu")
    page = make_page([PROFILED])
    give_gpu(page)
    assert words(page, PROFILED) == ["not run yet"]
    press_enter(page, qtbot, PROFILED)
    (request,) = page.engines.bench.requests
    assert isinstance(request, ProfileRequest)
    assert [(e["m"], e["params"]) for e in request.launches] == [(64, {"BLOCK": 16})]
    assert words(page, PROFILED) == ["running"]
    page.engines.bench.replied.emit(Profiled(request.run, shares(74.6)))
    assert words(page, PROFILED) == ["holds"] and not page.runner.active
    assert "measured by Nsight Compute 74.6% (A GPU" in page.list.figures(PROFILED)
    assert [document["profiles"] for document in kept] == [shares(74.6)]


def test_a_failed_profiler_is_reported_at_its_claims_and_the_run_continues(make_page, qtbot, monkeypatch):
    monkeypatch.setattr("gemmviz.proving.ncu.tool", lambda: "/usr/bin/ncu")
    page = make_page([PROFILED])
    give_gpu(page)
    press_enter(page, qtbot, PROFILED)
    run = page.engines.bench.requests[-1].run
    page.engines.bench.replied.emit(Failed(run, "unsupported", "this user may not read the GPU's counters"))
    assert words(page, PROFILED) == ["cannot be judged here"] and not page.runner.active
    page.list.choose("t-share")
    page.refresh()
    assert "may not read" in page.detail.verdict.text()


def test_without_nsight_compute_the_reference_is_shown(make_page, monkeypatch):
    def missing():
        raise Unavailable("Nsight Compute (ncu) is not on the PATH")

    monkeypatch.setattr("gemmviz.proving.ncu.tool", missing)
    page = make_page([PROFILED])
    give_gpu(page)
    page.session.results.set_references(
        [ReferenceResults("NVIDIA H200", "Big CPU", "2026-11-21", Figures([]), profiles=tuple(shares(80.0)))]
    )
    assert words(page, PROFILED) == ["cannot be judged here", "reference: holds"]
    assert "reference 80% (NVIDIA H200, 2026-11-21): holds" in page.list.figures(PROFILED)
    page.list.choose("t-share")
    assert "ncu" in page.detail.verdict.text()


def test_a_claim_of_many_minutes_is_run_separately(make_page, qtbot):
    page = make_page([replace(RATIO, id="t-long", long=True), COUNT])
    qtbot.mouseClick(page.run_all, Qt.MouseButton.LeftButton)
    page.engines.recorder.replied.emit(Failed(page.engines.recorder.requests[-1].run, "compile", "no C here"))
    assert not page.engines.bench.requests and not page.runner.active
    qtbot.mouseClick(page.list.buttons["t-long"], Qt.MouseButton.LeftButton)
    assert len(page.engines.bench.requests) == 1


def test_a_claim_that_no_run_can_judge_has_a_reason_and_no_button(page, qtbot):
    assert words(page, HOPELESS) == ["cannot be judged here"]
    assert "t-hopeless" not in page.list.buttons
    press_enter(page, qtbot, HOPELESS)
    assert "It needs a profiler." in page.detail.verdict.text() and not page.detail.run_button.isVisible()
    assert "Nothing to run" in page.session.messages.current.text


def test_a_ratio_is_drawn_as_bars_and_a_table_as_heat_maps(page, qtbot):
    page.list.choose("t-ratio")
    assert page.detail.chart.current is page.detail.chart.bars
    assert [(p.theirs, p.ours) for p in page.detail.chart.bars.pairs] == [(2.0, None)]
    press_enter(page, qtbot, TABLE)
    answer(page, [row(page.session, "hostmult1", 4.0), row(page.session, "hostmult0", 2.0)])
    page.refresh()
    heat_map = page.detail.chart.heat_map
    assert page.detail.chart.current is heat_map
    theirs, ours = heat_map.tables
    assert (theirs.title, theirs.best, theirs.share(0, 0)) == ("stated: RTX 3080", 1.0, 0.25)
    assert ours.title.startswith("measured: Some CPU") and ours.values[0][2] is None
    assert "block (down) by layout (across), ms" in heat_map.caption
    assert "stated: RTX 3080: 8, CC: 1 ms, 100% of the best" in heat_map.accessibleDescription()


def test_figures_in_words_are_read_and_not_drawn_and_stay_inside_the_page(make_page, qtbot):
    walk = ", ".join(f"A[0:4,{k}:{k + 4}] x B[{k}:{k + 4},0:4]" for k in range(0, 40, 4))
    text = Check("equal", "what block 0 multiplies", (replace(WRITES, what="recorded.first_tiles"),), ("w",), walk)
    page = make_page([Claim("t-walk", "T", "The walk", "It walks.", checks=(text,))])
    assert page.detail.chart.isHidden()
    qtbot.waitUntil(lambda: page.detail.widget().width() == page.detail.viewport().width())


def test_the_best_cell_of_a_heat_map_is_the_brightest(page, qtbot):
    page.list.choose("t-table")
    heat_map = page.detail.chart.heat_map
    picture = heat_map.grab().toImage()
    light = {}
    for cell, text in heat_map._cells:
        if text.startswith("stated"):
            corner = cell.topLeft() + QPoint(6, 6)
            light[text.split(":")[2]] = picture.pixelColor(corner.toPoint()).lightnessF()
    assert max(light, key=light.get) == " 8, CC"


def test_letters_grow_and_the_list_moves_beside_the_detail_where_there_is_room(page, qtbot):
    sizes = {}
    for width in (640, 1700):
        page.resize(width, 700)
        sizes[width] = page.list.font().pointSizeF()
        beside = page.splitter.orientation() == Qt.Orientation.Horizontal
        assert beside == (width == 1700)
    assert sizes[1700] > sizes[640]


def test_every_button_and_view_has_a_name(page):
    for button in page.findChildren(QPushButton):
        assert button.text() or button.accessibleName()
    assert page.list.accessibleName() and page.detail.accessibleName() and page.bar.accessibleName()
    spoken = page.list.items["t-ratio"].data(0, Qt.ItemDataRole.AccessibleTextRole)
    assert "Twice as fast: not run yet" in spoken


def test_the_lists_own_keys_are_no_shortcuts_of_the_window(page, qtbot):
    jumps = []
    for key in ("End", "Home"):
        shortcut = QShortcut(QKeySequence(key), page)
        shortcut.activated.connect(lambda key=key: jumps.append(key))
    page.activateWindow()
    page.list.setFocus()
    page.list.choose("t-ratio")
    qtbot.keyClick(page.list, Qt.Key.Key_End)
    assert page.detail.claim is TABLE and not jumps


def test_a_light_theme_redraws_the_page(page):
    page.list.choose("t-ratio")
    dark = page.grab().toImage().pixelColor(2, 200).lightnessF()
    page.session.preferences.set_theme("light")
    assert page.grab().toImage().pixelColor(2, 200).lightnessF() > dark


def test_unreadable_claims_are_reported(qtbot, monkeypatch):
    def broken():
        raise GemmvizError("s9.toml: claim x lacks 'statement'")

    monkeypatch.setattr("gemmviz.bench.claims.load", broken)
    session = new_session("dark")
    page = ClaimsPage(session, ClaimsRunner(session, FakeEngines()))
    qtbot.addWidget(page)
    assert "s9.toml" in page.counts.text() and not page.run_all.isEnabled()
