# ruff: noqa: E402  (modules that need Qt are imported after `need_qt`)
"""The tab of machine code: source lines and their instructions, chosen together, or the reason why there are none."""

import listings
import pytest
from listings import needs_tools, tiled_listing
from window_driving import need_qt

need_qt()

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QStyle, QStyleOptionComboBox

from gemmviz.assembly.summary import summary
from gemmviz.catalogue.ladder import find
from gemmviz.language import LANGUAGES, set_language
from gemmviz.ui.inspect.inspector import PANELS
from gemmviz.ui.look.theme import READ, THEMES, contrast, rgb


@pytest.fixture
def tab(make_inspector):
    inspector = make_inspector(376, 640)
    session = inspector.session
    session.choice.choose_kernel(find("gputiled", session.choice.kernels))
    inspector.show_panel("assembly")
    return inspector.assembly


def filled(tab):
    listing = tiled_listing()
    tab.code.show(listing, summary(listing))
    return listing


def texts(table, column):
    model = table.model()
    return [model.index(row, column).data() for row in range(model.rowCount())]


def click(qtbot, table, row):
    index = table.model().index(row, 2)
    table.scrollTo(index)
    qtbot.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=table.visualRect(index).center())


def test_the_tab_shows_the_resources_and_the_main_loop(tab):
    listing = filled(tab)
    text = tab.usage.text()
    assert text.startswith("sm_80: 32 registers")
    assert "512 B shared" in text and "nothing spilled" in text
    loop = summary(listing).loop
    assert f"{loop.counts['FFMA']} FFMA" in tab.loop.text()
    assert f"{loop.counts['LDS']} LDS ({loop.ratio('LDS'):.3g} per FFMA)" in tab.loop.text()
    assert "products" in tab.loop.toolTip()
    source = listing.files[0].text.splitlines()
    multiply = next(at for at, line in enumerate(source) if line.strip().startswith("sum += As"))
    assert texts(tab.source, 1)[multiply].startswith(f"{summary(listing).whole.counts['FFMA']} FFMA ")
    assert "FFMA" in tab.source.model().index(multiply, 1).data(Qt.ItemDataRole.ToolTipRole)


@pytest.mark.parametrize("code", LANGUAGES)
def test_the_usual_architecture_is_whole_in_its_box(make_inspector, code):
    """In Spanish the first words took the whole box."""
    set_language(code)
    try:
        inspector = make_inspector(376, 640)
        inspector.show_panel("assembly")
        filled(inspector.assembly)
        box, option = inspector.assembly.architecture, QStyleOptionComboBox()
        box.initStyleOption(option)
        room = box.style().subControlRect(
            QStyle.ComplexControl.CC_ComboBox, option, QStyle.SubControl.SC_ComboBoxEditField
        )
        assert "sm_80" in box.currentText()
        assert box.fontMetrics().horizontalAdvance(box.currentText()) <= room.width()
    finally:
        set_language("en")


def test_a_source_line_marks_its_instructions_and_an_instruction_its_line(tab, qtbot):
    listing = filled(tab)
    source = listing.files[0].text.splitlines()
    multiply = next(at for at, line in enumerate(source) if line.strip().startswith("sum += As"))
    click(qtbot, tab.source, multiply)
    assert tab.code.line == multiply + 1
    marked = [row for row, text in enumerate(texts(tab.rows, 0)) if text.startswith("▸")]
    assert marked == [at for at, one in enumerate(listing.instructions) if listing.line(one.place) == multiply + 1]
    assert tab.rows.visualRect(tab.rows.model().index(marked[0], 0)).intersects(tab.rows.viewport().rect())
    barrier = next(at for at, one in enumerate(listing.instructions) if one.stem == "BAR")
    click(qtbot, tab.rows, barrier)
    assert "__syncthreads" in source[tab.code.line - 1]
    assert tab.source.currentIndex().row() == tab.code.line - 1
    assert tab.rows.currentIndex().row() == barrier
    # By keys, too.
    tab.rows.setFocus()
    qtbot.keyClick(tab.rows, Qt.Key.Key_Down)
    assert tab.code.index == barrier + 1


def test_recorded_figures_of_a_line_are_beside_its_instructions(window, qtbot):
    listing = tiled_listing()
    window.inspector.show_panel("assembly")
    tab = window.inspector.assembly
    tab.code.show(listing, summary(listing))
    source = listing.files[0].text.splitlines()
    multiply = next(at for at, line in enumerate(source) if line.strip().startswith("sum += As"))
    text = tab.source_model.whole(multiply + 1).splitlines()
    assert "FFMA" in text[0]
    # 8 x 8 x 8 in tiles of 4 x 4: each product reads one value of either tile.
    assert [line.split(", ")[0].rpartition(" ")[2] for line in text[1:]] == ["As", "Bs"]
    assert all("512 reads in " in line for line in text[1:])
    assert "warp requests" not in tab.source_model.whole(17)


def test_a_new_listing_starts_at_the_code_and_the_main_loop(tab, qtbot):
    listing = filled(tab)
    first = min(listing.line(one.place) for one in listing.instructions if listing.line(one.place))
    begins = summary(listing).loop.instructions[0]
    for table, row in ((tab.source, first - 1), (tab.rows, begins)):
        shown = table.model().index(row, 0)
        qtbot.waitUntil(lambda table=table, shown=shown: 0 <= table.visualRect(shown).top() < table.height() // 3)


def test_ptx_is_linked_as_well_and_the_loop_is_marked_in_sass(tab, qtbot):
    listing = filled(tab)
    loop = summary(listing).loop
    assert [row for row, text in enumerate(texts(tab.rows, 1)) if text.startswith("┃")] == list(loop.instructions)
    tab.form.setCurrentIndex(1)
    tab.form.activated.emit(1)
    assert texts(tab.rows, 2) == [line.text.rstrip() for line in listing.ptx]
    barrier = next(at for at, line in enumerate(listing.ptx) if "bar.sync" in line.text)
    click(qtbot, tab.rows, barrier)
    assert "__syncthreads" in listing.files[0].text.splitlines()[tab.code.line - 1]
    assert "BAR.SYNC" in tab.rows.model().index(barrier, 2).data(Qt.ItemDataRole.ToolTipRole)


def test_a_reason_replaces_the_tables(tab):
    filled(tab)
    assert tab.tables.isVisible() and not tab.message.isVisible()
    tab.code.fail("Machine code needs nvdisasm: pip install 'gemmviz[assembly]'")
    assert tab.message.isVisible() and "pip install" in tab.message.text() and tab.again.isVisible()
    assert not tab.tables.isVisible() and not tab.usage.isVisible()
    wanted = []
    tab.code.wanted.connect(lambda: wanted.append(1))
    tab.again.click()
    assert wanted
    tab.code.fail("identifier is undefined", 12)
    assert tab.message.text().startswith("line 12: ")


def test_architectures_are_those_of_the_compiler(tab):
    assert tab.architecture.itemText(0) == "default"
    filled(tab)
    names = [tab.architecture.itemText(at) for at in range(tab.architecture.count())]
    assert names == ["default (sm_80)", "sm_75", "sm_80", "sm_90", "sm_90a"]
    tab.architecture.activated.emit(names.index("sm_90"))
    assert tab.code.architecture == "sm_90"
    filled(tab)
    assert tab.architecture.currentText() == "sm_90" and tab.architecture.itemText(0) == "default"


@pytest.mark.parametrize("theme", ["dark", "light"])
def test_marked_rows_are_readable(tab, theme):
    filled(tab)
    tab.session.preferences.theme = theme
    tab.code.choose_line(
        next(tab.code.listing.line(o.place) for o in tab.code.listing.instructions if o.stem == "FFMA")
    )
    model = tab.rows.model()
    for row in tab.code.marked:
        for column in range(3):
            index = model.index(row, column)
            front = index.data(Qt.ItemDataRole.ForegroundRole).name()
            back = index.data(Qt.ItemDataRole.BackgroundRole).name()
            assert contrast(rgb(front), rgb(back)) >= READ, (index.data(), front, back)
    assert theme in THEMES


@pytest.mark.sweep("1280-800-es")
@pytest.mark.parametrize("language", ["en", "es", "ko"])
@pytest.mark.parametrize(("width", "height"), [(1280, 800), (1920, 1080)])
def test_all_tabs_are_visible(make_window, qtbot, language, width, height):
    set_language(language)
    window = make_window()
    window.resize(width, height)
    inspector = window.inspector
    for count in (0, 12):
        inspector.source_side.findings.count = lambda count=count: count
        inspector._count()
        qtbot.waitUntil(lambda: inspector.tabBar().sizeHint().width() <= inspector.width())
    assert inspector.tabText(PANELS.index("assembly"))


@pytest.mark.skipif(listings.HAS_TOOLS, reason="NVRTC and nvdisasm are here")
def test_without_the_tools_the_window_shows_the_command_that_installs_them(window, qtbot):
    code = window.session.machine_code
    window.inspector.show_panel("assembly")
    qtbot.waitUntil(lambda: bool(code.fault))
    assert "pip install 'gemmviz[assembly]'" in window.inspector.assembly.message.text()


@needs_tools
def test_the_window_shows_the_machine_code_of_the_kernel_on_the_stage(window, qtbot):
    session = window.session
    window.inspector.show_panel("assembly")
    code = session.machine_code
    qtbot.waitUntil(lambda: code.listing is not None)
    assert code.listing.label == session.choice.launch().label
    session.choice.choose(params={"TS": 2})
    qtbot.waitUntil(lambda: code.listing is not None and code.listing.label == "gputiled<2>")
    window.inspector.show_panel("source")
    session.choice.choose(params={"TS": 4})
    assert code.listing.label == "gputiled<2>", "nothing is compiled while nobody looks"
