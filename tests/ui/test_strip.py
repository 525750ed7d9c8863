# ruff: noqa: E402  (modules that need Qt are imported after `need_qt`)
"""The GFLOPS strip: three bars, their ratios, the samples so far, and the reason if a kernel cannot be measured."""

import subprocess
import sys

import pytest
from result_rows import result, rung
from window_driving import need_qt

need_qt()

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor

from gemmviz.app import new_session
from gemmviz.bench import reference_results
from gemmviz.bench.figures import Turn
from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.problem import Problem
from gemmviz.session.measurable import why_not
from gemmviz.ui.charts.painted import role_colour
from gemmviz.ui.charts.strip import Strip, _against_before
from gemmviz.ui.look.figure_text import gflops_text
from gemmviz.ui.look.style import set_scale

H200 = {"name": "NVIDIA H200", "cc": "9.0"}
SIZE = (4096, 4096, 4096)


@pytest.fixture
def strip(qtbot):
    session = new_session("dark")
    session.choice.auto = False
    session.results.set_device("a laptop", None, 2)
    session.results.set_references(reference_results.load()[0])
    session.choice.choose_kernel(rung(session, "gputiled"))
    made = Strip(session)
    qtbot.addWidget(made)
    made.resize(1280, 60)
    made.show()
    qtbot.waitExposed(made)
    return made


def inside(strip, name, right):
    """Return the colour inside the bar of a kernel, at a distance in pixels from its left end."""
    image = strip.bars.grab().toImage()
    mark = next(m for m in strip.bars.marks if m.kernel.name == name)
    y = round(mark.area.center().y())
    line = [QColor(image.pixel(x, y)) for x in range(image.width())]
    role = next(bar.role for bar in strip.shown() if bar.kernel.name == name)
    start = next(x for x, colour in enumerate(line) if colour == role_colour(role, strip._drawing._theme))
    return line[start + right]


def test_a_file_of_the_user_has_no_kernel_before_it(strip, tmp_path):
    """The strip named the last kernel of the ladder, before and after the user's file was measured."""
    session = strip.session
    mine = parse(rung(session, "gputiled").text, tmp_path / "mine.cu")
    session.choice.add_kernel(mine)
    strip.refresh()
    assert {bar.role for bar in strip.shown()} <= {"library"} and strip.headline.text() == "not measured yet"
    session.results.add_result(result(mine, 9.5, n=4096))
    strip.refresh()
    assert [bar.kernel.name for bar in strip.shown()] == ["mine", "cublas"]
    assert strip.headline.text() == "9.5 GFLOPS" and "before" not in strip.detail.text()
    assert all(bar.jump is None for bar in strip.figures.bars if bar.role == "chosen")


def test_the_strip_compares_with_the_kernel_before_and_the_library(strip):
    bars = {bar.role: bar for bar in strip.shown()}
    assert [bar.kernel.name for bar in strip.shown()] == ["matmul_kernel_block_tiling", "gputiled", "cublas"]
    ratio = bars["chosen"].gflops / bars["before"].gflops
    assert strip.headline.text() == f"{ratio:.3g}× the kernel before"
    # The reference is made of several runs: the share is of the library in the same run.
    share = f"{bars['chosen'].gflops / bars['chosen'].standing.row['library_gflops']:.1%}".rstrip("%")
    assert strip.detail.text() == f"{share}\N{NARROW NO-BREAK SPACE}% of cuBLAS"
    assert strip.below.text() == "4096³ · FP32 · cold L2"
    assert strip.tag.text() == "reference: H200" and strip.tag.dashed
    assert "2026" in strip.tag.toolTip() and strip.note.text() == "nothing measured here"


@pytest.mark.parametrize("name", ["gputiled", "tf32", "tf32_by_rows"])
def test_the_bar_of_the_library_belongs_to_the_share(strip, name):
    """Beside "15.8 % of cuBLAS" stood the bar of another run, and of a call with another layout of B."""
    session = strip.session
    session.choice.choose_kernel(rung(session, name))
    strip.refresh()
    bars = {bar.role: bar for bar in strip.shown()}
    chosen, library = bars["chosen"], bars["library"]
    assert chosen.gflops / library.gflops == pytest.approx(chosen.standing.share)
    assert library.kernel.column_major == chosen.kernel.column_major
    assert library.gflops == chosen.standing.row["library_gflops"]
    strip.bars.grab()
    of_kernel, of_library = (next(m for m in strip.bars.marks if m.kernel is bar.kernel) for bar in (chosen, library))
    assert f"({gflops_text(library.gflops)} GFLOPS in the same run)" in of_kernel.facts()
    assert (library.beside is None) == (session.results.shown(library.kernel.name).row["gflops"] == library.gflops)
    if library.beside is not None:
        assert of_library.facts().endswith(f"{gflops_text(library.gflops)} GFLOPS, in the same run as {name}")


def test_a_kernel_that_is_as_fast_as_the_one_before_is_not_once_as_fast():
    assert _against_before(0.9985) == _against_before(1.0004) == "as fast as the kernel before"
    assert _against_before(2.0) == "2× the kernel before"
    assert _against_before(0.5) == "the kernel before is 2× as fast"


def test_the_doors_show_the_way_from_a_kernel_to_the_best_one(strip, qtbot):
    strip.compare_from("matmul_kernel_naive")
    bars = strip.shown()
    assert [bar.kernel.name for bar in bars] == ["matmul_kernel_naive", "every_shape_fp32", "cublas"]
    assert strip.headline.text().startswith(f"every_shape_fp32 is {bars[1].gflops / bars[0].gflops:.3g}× as fast")
    with qtbot.waitSignal(strip.page_wanted):  # no kernel is chosen yet
        qtbot.mouseClick(strip.button, Qt.MouseButton.LeftButton)
    strip.session.results.set_references([])  # as long as they are not loaded
    strip.refresh()
    assert strip.headline.text() == "" and strip.shown() == []
    strip.compare_from("")
    assert strip.headline.text() == "not measured yet"
    strip.session.results.set_references(reference_results.load()[0])
    strip.refresh()
    assert "gputiled" in [bar.kernel.name for bar in strip.shown()]


def test_bars_of_another_machine_have_their_tag_where_the_chosen_kernel_has_no_figure(strip, tmp_path):
    """They had none: a processor of 16 cores stood there without a word, beside a kernel for this one's two."""
    session = strip.session
    session.choice.add_kernel(parse(rung(session, "gputiled").text, tmp_path / "mine.cu"))
    strip.refresh()
    assert [bar.role for bar in strip.shown()] == ["library"] and strip.headline.text() == "not measured yet"
    assert strip.tag.text() == "reference: H200" and strip.tag.dashed


def test_until_the_first_sample_the_figures_of_another_machine_keep_their_tag(strip):
    """They stood beside "measuring" and nothing else, as if they had been measured here."""
    strip.session.progress.set("bench", ("gputiled: compiling", None))
    strip.refresh()
    assert strip.headline.text() == "Measuring" and strip.shown()
    assert strip.tag.text() == "reference: H200" and strip.tag.dashed and strip.tag.isVisible()
    strip.session.results.set_references([])
    strip.refresh()
    assert strip.shown() == [] and strip.tag.isHidden()
    strip.session.progress.set("bench", None)


def test_in_a_duel_the_strip_compares_its_two_kernels(strip):
    """It compared the left one with the kernel before it."""
    session = strip.session
    session.choice.choose_kernel(rung(session, "RR"))
    session.comparison.on, session.comparison.kernel = True, rung(session, "CC")
    strip.refresh()
    bars = strip.shown()
    assert [bar.kernel.name for bar in bars] == ["RR", "CC", "cublas"]
    assert strip.headline.text() == f"CC is {bars[1].gflops / bars[0].gflops:.3g}× as fast as RR"
    session.comparison.on, session.comparison.kernel = False, None


def test_a_reference_is_hollow_and_a_measured_figure_is_filled(strip):
    accent = QColor(strip._drawing._theme.accent)
    assert inside(strip, "gputiled", 8) != accent
    session = strip.session
    session.results.set_device("NVIDIA H200", H200, 2)
    session.results.want_references(True)
    session.results.add_result(result(rung(session, "gputiled"), 8000.0, 4096))
    strip.refresh()
    assert inside(strip, "gputiled", 8) == accent
    assert strip.tag.text() == "measured" and not strip.tag.dashed and strip.note.isHidden()
    # Figures of two machines are never compared.
    assert "before" not in strip.headline.text() and "cuBLAS" not in strip.detail.text()


def test_the_strip_is_higher_in_a_wide_window(strip):
    assert strip.height() == 60
    strip.resize(1920, 60)
    assert strip.height() == 68


def test_samples_are_shown_batch_by_batch_with_a_stop_button(strip, qtbot):
    session = strip.session
    session.progress.set("bench", ("gputiled<16>: compiling", 0.1))
    strip.refresh()
    assert strip.headline.text() == "Measuring" and strip.detail.text() == "gputiled<16>: compiling"
    assert strip.measuring.text() == "measuring" and strip.button.text() == "Stop"
    session.progress.set("bench", ("gputiled<16>: a long name of what is being done now, part 1 of 3", 0.1))
    strip.refresh()
    assert strip.detail.text() == "a long name of what is being done now, part 1 of 3"  # the kernel's name has its bar
    texts = []
    for number, batch in ((1, [8130.0, 8140.0, 8150.0]), (2, [8140.0])):
        session.results.add_samples("gputiled<16>", "x", batch, 8140.0, Turn("gputiled", SIZE, number, 3, True))
        qtbot.waitUntil(lambda n=number: f"round {n}" in strip.detail.text())
        texts.append(strip.detail.text())
    assert texts[0].startswith("3 samples · spread 0.1") and texts[1].startswith("4 samples · spread")
    assert texts[1].endswith("round 2 of 3") and strip.headline.text() == "8\N{NARROW NO-BREAK SPACE}140 GFLOPS so far"
    assert strip.verified.isVisible() and "verified" in strip.verified.text()
    assert next(bar for bar in strip.shown() if bar.role == "chosen").gflops == 8140.0
    with qtbot.waitSignal(strip.stop_wanted):
        qtbot.mouseClick(strip.button, Qt.MouseButton.LeftButton)
    session.results.end_samples()
    session.progress.set("bench", None)
    qtbot.waitUntil(lambda: strip.button.text() == "Measure…")
    assert strip.measuring.isHidden() and strip.verified.isHidden()


def test_without_a_gpu_the_button_goes_to_the_references(strip, qtbot):
    session = strip.session
    wanted = []
    strip.measure_wanted.connect(lambda: wanted.append("measure"))
    assert "no GPU" in strip.button.toolTip()
    session.results.want_references(False)
    with qtbot.waitSignal(strip.page_wanted):
        qtbot.mouseClick(strip.button, Qt.MouseButton.LeftButton)
    # The page says why; a message would cover the strip.
    assert session.results.references_shown and session.messages.current is None and wanted == []
    session.choice.choose_kernel(rung(session, "hostmult1"))
    strip.refresh()
    qtbot.mouseClick(strip.button, Qt.MouseButton.LeftButton)
    assert wanted == ["measure"] and "Verify" in strip.button.toolTip()


def test_a_gpu_that_is_too_old_is_reported(strip):
    session = strip.session
    session.results.set_device("T4", {"name": "T4", "cc": "7.5"}, 2)
    session.choice.choose_kernel(rung(session, "wgmma"))
    strip.refresh()
    assert "9.0" in strip.button.toolTip()
    session.choice.choose_kernel(rung(session, "gputiled"))
    strip.refresh()
    assert why_not(session) == ""


def test_a_cpu_s_reference_shows_its_cores_and_disappears_after_a_measurement(strip):
    session = strip.session
    session.choice.choose_kernel(rung(session, "hostmult0"))
    strip.refresh()
    assert strip.tag.text() == "reference: 16 cores"
    session.results.add_result(result(rung(session, "hostmult0"), 2.0, 256))
    strip.refresh()
    assert [bar.kernel.name for bar in strip.shown()] == ["hostmult0"] and strip.tag.text() == "measured"
    assert strip.headline.text() == "2 GFLOPS" and strip.below.text() == "256³ · FP32"


def test_a_kernel_without_a_figure_is_labelled(strip):
    session = strip.session
    session.choice.choose_kernel(rung(session, "mm_printed"))
    strip.refresh()
    assert strip.headline.text() == "not measured yet"
    assert strip.tag.text() == "reference: H200"  # of the other kernels' bars


def test_a_failed_kernel_shows_its_status(strip):
    session = strip.session
    kernel = rung(session, "hostmult1")
    wrong = {"status": "wrong", "gflops": None, "message": "C[0][0] is 3, not 4"}
    session.results.add_result(result(kernel, 1.0) | wrong)
    session.choice.choose_kernel(kernel)
    strip.refresh()
    assert strip.headline.text() == "wrong" and "C[0][0] is 3" in strip.headline.toolTip()


def test_the_strip_grows_with_the_size_of_type(strip):
    strip.session.preferences.set_type_scale(1.5)
    set_scale(1.5)
    strip.refresh()
    assert strip.height() == 90


def test_a_click_on_a_bar_chooses_its_kernel(strip, qtbot):
    strip.bars.grab()
    at = strip.bars.marks[0].area.center().toPoint()
    qtbot.mouseClick(strip.bars, Qt.MouseButton.LeftButton, pos=at)
    assert strip.session.choice.kernel.name == "matmul_kernel_block_tiling"


LATE = (
    "pyqtgraph",
    "gemmviz.catalogue.guessing.cxx",
    "gemmviz.catalogue.guessing.guess",
    "gemmviz.trace.hazards.defects",
    "gemmviz.ui.charts.measure_page",
    "gemmviz.ui.claims.claims_page",
    "gemmviz.ui.lenses.page",
    "gemmviz.ui.lenses.registry",
    "gemmviz.ui.versions.versions_page",
)


def test_the_first_paint_does_not_wait_for_modules_that_it_does_not_need():
    code = (
        "import sys, gemmviz.app, gemmviz.ui.window.application, gemmviz.ui.window.window; gemmviz.app.new_session(); "
    )
    code += f"print({{*{LATE}}} & {{*sys.modules}})"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "set()"


def test_a_real_run_shows_its_samples_while_it_runs(make_window, qtbot):
    window = make_window()
    session = window.session
    session.choice.auto = False
    session.choice.choose_kernel(rung(session, "hostmult1"))
    session.choice.choose_bench(problem=Problem.cube(64))
    session.choice.protocol = {"rounds": 2, "min_time_s": 0.4, "timeout_s": 2.0}
    strip = Strip(session)
    qtbot.addWidget(strip)
    strip.measure_wanted.connect(window.controller.measuring.measure_this)
    strip.show()
    seen = []
    session.results.sampled.connect(
        lambda: (
            seen.append((session.results.live.turn.round, len(session.results.live.gflops)))
            if session.results.live
            else None
        )
    )
    qtbot.mouseClick(strip.button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: "so far" in strip.headline.text())
    qtbot.waitUntil(lambda: session.progress["bench"] is None and bool(session.results.rows))
    row = session.results.rows["hostmult1"]
    assert {number for number, _ in seen} == {1, 2}
    # The samples of every round arrived in several batches, and none arrived twice.
    assert len(seen) > 2 and [count for _, count in seen] == sorted({count for _, count in seen})
    assert seen[-1][1] == row["stats"]["n"] and [entry["n"] for entry in row["rounds"]] == [
        len(samples) for samples in session.results.samples.by_round()
    ]
    strip.refresh()
    assert strip.tag.text() == "measured" and session.results.live is None
