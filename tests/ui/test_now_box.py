"""The box below the source: the chosen thread's access at a step, the cost of its warp's request, and no spoiler."""

from time import monotonic

from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QApplication
from recordings import small_tiled

from gemmviz.trace.order.story import KINDS
from gemmviz.ui.source.now_box import access_text


def test_a_copy_names_both_ends_at_its_read_and_at_its_write():
    playable = small_tiled()
    timeline, story = playable.timeline, playable.story
    steps = [s for s in range(timeline.steps) if story.kinds[s] == KINDS.index("copy")]
    read = next(s for s in steps if timeline.array[s] == 1 and not timeline.write[s])
    write = next(s for s in steps if s > read and timeline.write[s])
    texts = [access_text(playable, step, 0, 5) for step in (read, write)]
    assert texts[0].startswith("Thread (1, 1) reads B[1, 1] = ") and texts[0].endswith(", for Bs[1, 1]")
    assert texts[1].startswith("Thread (1, 1) writes Bs[1, 1] = ") and texts[1].endswith(", read from B[1, 1]")
    value = float(playable.recording.b[1, 1])
    assert all(f"= {value:.0f},".replace("-", "\N{MINUS SIGN}") in text for text in texts)


def test_the_box_follows_the_step_and_is_hidden_while_a_step_is_predicted(window):
    session, now = window.session, window.source_side.now
    window.inspector.show_panel("source")
    session.cursor.seek(0)
    assert now.isVisible() and now.heading.text() == f"Now: line {session.cursor.line}"
    assert now.access.text().startswith("Thread (0, 0) reads A[0, 0] = ")
    assert now.cost.text().startswith("Warp 0: 16 lanes, 64 bytes asked for, ")
    session.predict.toggle()
    assert not now.isVisible()
    session.predict.toggle()
    assert now.isVisible()


def test_while_it_plays_the_box_does_not_get_lower_so_that_the_source_above_rests(window):
    session, now = window.session, window.source_side.now
    window.inspector.show_panel("source")
    now.in_turn.turns = None
    long, short = "a long sentence " * 30, "short"
    session.playback.play()
    heights = []
    for text in (short, long, short):
        now.access.setText(text)
        QApplication.processEvents()
        heights.append(now.height())
        session.cursor.seek(session.cursor.step + 1)
        QApplication.processEvents()
    assert heights[0] < heights[1] == now.height()
    session.playback.pause()
    QApplication.processEvents()
    assert now.height() < heights[1]


def test_while_it_plays_the_source_scrolls_at_most_twice_a_second(window, monkeypatch):
    session, source = window.session, window.source
    window.inspector.show_panel("source")
    source.in_turn.turns = None
    source.setFixedHeight(3 * source.fontMetrics().lineSpacing())
    # Later than any scrolling of the tests before.
    now, lines = [monotonic() + 100], sorted({site.line for site in session.cursor.playable.recording.sites})
    monkeypatch.setattr("gemmviz.ui.source.source.monotonic", lambda: now[0])
    steps = [next(s for s in range(session.cursor.steps) if session.cursor.playable.line(s) == at) for at in lines]

    def shown_at(step):
        session.cursor.seek(step)
        return source.verticalScrollBar().value()

    session.playback.play()
    first = shown_at(steps[0])
    now[0] += 1
    last = shown_at(steps[-1])
    assert last != first, "the lines are far apart"
    assert shown_at(steps[0]) == last
    now[0] += 0.6
    assert shown_at(steps[-1]) == last and shown_at(steps[0]) == first
    assert shown_at(steps[-1]) == first
    session.playback.pause()
    assert source.verticalScrollBar().value() == last


class Painted(QObject):
    """Counts how often a widget is painted."""

    count = 0

    def eventFilter(self, watched, event):
        self.count += event.type() == QEvent.Type.Paint
        return False


def test_a_new_text_in_the_box_leaves_the_source_above_as_it_is(window):
    now, painted = window.source_side.now, Painted()
    window.inspector.show_panel("source")
    for _ in range(3):  # until nothing is to be laid out any more
        QApplication.processEvents()
    window.source.viewport().installEventFilter(painted)
    for text in ("one text", "other one"):
        now.access.setText(text)
        for _ in range(3):
            QApplication.processEvents()
    assert not painted.count
    now.access.setText("a longer text " * 30)  # the source has less room
    for _ in range(3):
        QApplication.processEvents()
    assert painted.count


def test_a_step_that_is_described_already_is_not_described_again(window, monkeypatch):
    from gemmviz.ui.source import now_box

    window.inspector.show_panel("source")
    described = []
    monkeypatch.setattr(now_box, "access_text", lambda *of: described.append(of) or "")
    window.session.cursor.seek(3)
    window.session.playback.changed.emit()
    assert len(described) == 1
    window.session.cursor.show(window.session.cursor.playable)
    assert len(described) == 2  # a recording begins at its first step
