# ruff: noqa: E402  (modules that need Qt are imported after `need_qt`)
"""Removing parts of a kernel in the window: the effect in the source, on the stage, in the ladder and in the chart."""

import pytest
from result_rows import add, result, rung
from window_driving import need_qt, wait_recorded

need_qt()

from PySide6.QtCore import Qt

from gemmviz.catalogue.breaks import broken, changed_lines
from gemmviz.catalogue.kernel import parse
from gemmviz.ui.look.figure_text import standing_text
from gemmviz.ui.source.breaks import BreakBox, look_for


@pytest.fixture
def idle(make_window):
    """A window without automatic recording, with the tiled rung chosen."""
    window = make_window()
    window.session.choice.auto = False
    window.session.choice.choose_kernel(rung(window.session, "gputiled"))
    return window


def box_of(window):
    return window.findChild(BreakBox)


def entry(window, name):
    """Return the entry of the menu for a change."""
    return next(action for action in box_of(window).menu.actions() if action.objectName() == name)


def ticked(window):
    return [action.objectName() for action in box_of(window).menu.actions() if action.isChecked()]


def test_the_menu_offers_the_declared_changes(idle):
    kernel = idle.session.choice.kernel
    titles = [action.text() for action in box_of(idle).menu.actions() if action.isCheckable()]
    assert sorted(titles) == sorted(change.title for change in kernel.breaks)
    assert "no barrier between" in entry(idle, "no-first-barrier").toolTip()
    idle.session.choice.choose_kernel(rung(idle.session, "cublas"))
    assert not box_of(idle).button.isEnabled()


def test_the_menu_separates_removals_from_other_changes(idle):
    parts, part = {}, ""
    for action in box_of(idle).menu.actions():
        if action.isCheckable():
            parts[part].append(action.objectName())
        elif action.text() and action.isVisible():
            part = action.text()
            parts[part] = []
    assert list(parts) == ["Remove", "Change"]
    assert parts["Remove"] == ["no-first-barrier", "no-second-barrier", "no-check-a", "no-check-b", "no-store-check"]
    assert {"pad-a", "unroll-k", "row-by-x"} <= set(parts["Change"])


def test_a_broken_kernel_is_recorded_and_its_race_is_found(window, qtbot):
    session = window.session
    session.choice.choose_kernel(rung(session, "gputiled"))
    wait_recorded(window, qtbot)
    entry(window, "no-second-barrier").trigger()
    wait_recorded(window, qtbot)
    assert session.choice.kernel.name == "gputiled~no-second-barrier" and session.choice.variant
    kinds = {found.thing.kind for found in session.findings.entries() if not found.is_cost}
    assert kinds == {"race"}
    assert session.cursor.playable.recording.text == window.source.text()


def test_changed_lines_are_marked_in_the_source(idle):
    session, source = idle.session, idle.source
    entry(idle, "no-second-barrier").trigger()
    lines = changed_lines(session.choice.base.text, session.choice.kernel.text)
    marked = {line: mark.text for line, marks in source.marks.items() for mark in marks if mark.kind == "changed"}
    assert list(marked) == lines and marked[lines[0]].endswith("__syncthreads();")
    # The line that is empty now is as visible as one with text.
    assert [tint.cursor.blockNumber() + 1 for tint in source.extraSelections()] == lines
    entry(idle, "no-second-barrier").trigger()
    assert not source.marks and source.text() == session.choice.base.text


def test_several_parts_are_removed_and_restored_together(idle):
    session, box = idle.session, box_of(idle)
    entry(idle, "no-first-barrier").trigger()
    entry(idle, "no-second-barrier").trigger()
    assert session.choice.kernel.name == "gputiled~no-first-barrier+no-second-barrier"
    assert ticked(idle) == ["no-first-barrier", "no-second-barrier"] and box.button.text() == "What if…? (2)"
    next(action for action in box.menu.actions() if action.text() == "Undo all changes").trigger()
    assert session.choice.kernel is session.choice.base and ticked(idle) == [] and box.button.text() == "What if…?"


def test_two_changes_of_one_place_are_refused_with_a_reason(idle):
    entry(idle, "no-check-a").trigger()
    entry(idle, "no-zero-fill").trigger()
    assert "change the same place" in idle.session.messages.current.text
    assert ticked(idle) == ["no-check-a"] and idle.session.choice.breaks == ("no-check-a",)


def test_the_menu_works_with_keys_only(idle, qtbot):
    idle.activateWindow()
    qtbot.waitUntil(lambda: idle.isActiveWindow())
    qtbot.keyClick(idle, Qt.Key.Key_B, Qt.KeyboardModifier.ControlModifier)
    menu = box_of(idle).menu
    qtbot.waitUntil(menu.isVisible)
    qtbot.keyClick(menu, Qt.Key.Key_Down)
    qtbot.keyClick(menu, Qt.Key.Key_Return)
    assert idle.session.choice.kernel.name == "gputiled~no-second-barrier"
    assert box_of(idle).button.focusPolicy() == Qt.FocusPolicy.TabFocus


def test_a_change_whose_place_was_edited_away_is_not_offered(idle, tmp_path):
    text = idle.session.choice.kernel.text.replace("        __syncthreads();\n    }", "    }", 1)
    idle.session.choice.add_kernel(parse(text, tmp_path / "own.cu"))
    offered = [action.objectName() for action in box_of(idle).menu.actions()]
    assert "no-first-barrier" in offered and "no-second-barrier" not in offered


def test_the_ladder_describes_the_change_of_the_chosen_rung(idle):
    item = idle.ladder.item_of("gputiled")
    entry(idle, "row-by-x").trigger()
    assert idle.ladder.currentItem() is item
    assert "Now with threadIdx.x counting rows: not measured yet" in item.toolTip()
    idle.session.choice.choose_kernel(rung(idle.session, "gputiled1"))
    assert "Now" not in item.toolTip()


def measured(window):
    """Give gputiled figures and three variants: a wrong one, a slower one and a faster one; return the chart."""
    session = window.session
    add(window, {"gpumult0": 500.0, "gputiled": 2000.0, "gputiled1": 2500.0})
    base = rung(session, "gputiled")
    for change, gflops in (("no-second-barrier", None), ("row-by-x", 800.0), ("unroll-k", 2200.0)):
        variant = broken(base, [change])
        session.results.keep_variant(variant)
        row = result(variant, gflops or 1.0)
        wrong = {"status": "wrong", "gflops": None, "stats": None, "message": "C is not A x B"}
        session.results.add_result(row if gflops else row | wrong)
    window.pages.turn_to("charts")
    window.charts.ladder.refresh()
    return window.charts.ladder


def test_variants_follow_their_rung_in_the_chart(idle):
    chart = measured(idle)
    assert chart.bars() == [
        ("gpumult0", 500.0),
        ("gputiled", 2000.0),
        ("gputiled without the second barrier", 0.0),
        ("gputiled with threadIdx.x counting rows", 800.0),
        ("gputiled with the loop over k unrolled", 2200.0),
        ("gputiled1", 2500.0),
    ]
    drawing, bars = chart._drawing, chart.figures.bars
    chart.plot.grab()
    assert drawing._gflops(bars[2]) == "✗ wrong"
    # A variant is compared with its kernel only, so it has no rank.
    assert [drawing._share(bar) for bar in bars] == ["–", "–", "–", "costs 2.5×", "gains 1.1×", "–"]
    assert drawing._name(bars[3], bars[2]) == "↳ with threadIdx.x counting rows"


def test_a_variants_bar_is_hatched_and_describes_the_variant(idle):
    chart = measured(idle)
    idle.resize(1600, 1000)
    image = chart.plot.grab().toImage()
    left, hatched = round(chart._drawing._left), []
    for mark in chart.plot.marks:
        line = [image.pixel(left + right, round(mark.area.center().y())) for right in range(3, 12)]
        hatched.append(len(set(line)) > 1)
    assert hatched == [False, False, False, True, True, False]
    wrong, slower = (standing_text(chart.figures.bars[at].standing, idle.session) for at in (2, 3))
    assert "without the second barrier" in wrong and "C is not A x B" in wrong and "GFLOPS" not in wrong
    assert "with threadIdx.x counting rows: costs 2.5×, never ranked" in slower
    assert chart.table().rows[2][8] is None


def test_every_declared_change_has_a_hint(idle):
    for kernel in idle.session.choice.kernels:
        for change in kernel.breaks:
            assert look_for(change).startswith("Look for ")
