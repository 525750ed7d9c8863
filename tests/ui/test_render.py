# ruff: noqa: E402  (modules that need Qt are imported after `need_qt`)
"""``gemmviz render``, and the message where no window can be opened."""

import subprocess
import sys
from itertools import combinations
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image
from window_driving import need_qt

need_qt()

from PySide6.QtCore import QPoint, QRect, qInstallMessageHandler, qWarning
from PySide6.QtGui import QImage, QPainter
from PySide6.QtSvg import QSvgRenderer
from shiboken6 import getCppPointer

from gemmviz.cli import render, run
from gemmviz.cli.record import engine_reply
from gemmviz.ui.export import picture
from gemmviz.ui.export.platform_messages import without_hints
from gemmviz.ui.look.display import missing, missing_libraries
from gemmviz.ui.window.application import application
from gemmviz.ui.window.window import Window

recorded = {}


@pytest.fixture(autouse=True)
def recorded_once(monkeypatch):
    """Records each launch once for all tests of this file."""

    def reply(request, consent):
        key = str(request)
        if key not in recorded:
            recorded[key] = engine_reply(request, consent)
        return recorded[key]

    monkeypatch.setattr(render, "engine_reply", reply)


def colours(path):
    image = QImage(str(path))
    size = image.size()
    return {image.pixel(x, y) for x in range(0, size.width(), 7) for y in range(0, size.height(), 7)}, size


def test_a_second_picture_does_not_style_every_widget_anew(qapp, qtbot):
    application()
    before = getCppPointer(qapp.style())
    application()
    assert getCppPointer(qapp.style()) == before


def test_render_draws_the_stage_at_the_size_asked_for(qapp, tmp_path):
    path = tmp_path / "stage.png"
    assert run(["render", "gputiled", "--set", "TS=4", "--step", "13", "--resolution", "900x600", "-o", str(path)]) == 0
    seen, size = colours(path)
    assert (size.width(), size.height()) == (900, 600)
    assert len(seen) > 8


def test_steps_and_themes_differ(qapp, tmp_path):
    pictures = []
    for number, extra in enumerate((["--step", "1"], ["--step", "25"], ["--step", "25", "--theme", "light"])):
        path = tmp_path / f"{number}.png"
        assert run(["render", "gputiled", "--resolution", "600x400", *extra, "-o", str(path)]) == 0
        pictures.append(QImage(str(path)))
    assert pictures[0] != pictures[1] != pictures[2]


def test_without_a_step_the_demo_is_drawn_at_its_own(qapp, tmp_path):
    shown = {
        "demo": [],
        "same": ["--step", "15.45"],
        "step": ["--step", "15"],
        "cell": ["--cell", "C,7,7"],
        "step of the cell": ["--step", "15.45", "--cell", "C,7,7"],
    }
    pictures = {}
    for name, extra in shown.items():
        path = tmp_path / f"{name}.png"
        assert run(["render", "gputiled", "--resolution", "600x400", *extra, "-o", str(path)]) == 0
        pictures[name] = QImage(str(path))
    assert pictures["demo"] == pictures["same"] != pictures["step"]
    assert pictures["cell"] == pictures["step of the cell"]


@pytest.mark.parametrize("installed", [True, False])
def test_render_says_that_a_font_is_missing(qapp, tmp_path, monkeypatch, capsys, installed):
    """The picture had a box in place of each Korean letter, without a word."""
    monkeypatch.setattr("gemmviz.ui.look.korean.can_write_korean", lambda: installed)
    options = "--set", "TS=4", "--step", "13", "--resolution", "600x400", "--language", "ko"
    assert run(["render", "gputiled", *options, "-o", str(tmp_path / "stage.png")]) == 0
    assert ("apt-get install fonts-noto-cjk" in capsys.readouterr().err) == (not installed)


def test_render_draws_the_whole_window_at_the_size_that_was_recorded(qapp, tmp_path, monkeypatch):
    outdated = []

    class Seen(Window):
        def close(self):
            outdated.append(self.session.staged.outdated)
            return super().close()

    monkeypatch.setattr("gemmviz.ui.window.window.Window", Seen)
    path = tmp_path / "window.png"
    # One block: the window by itself would choose a size with several.
    one_block = ["gputiled", "--size", "8", "--set", "TS=8"]
    assert run(["render", *one_block, "--window", "--resolution", "1280x800", "-o", str(path)]) == 0
    assert outdated == [False]
    _, size = colours(path)
    assert (size.width(), size.height()) == (1280, 800)


def test_the_window_of_a_picture_shows_the_findings_and_its_complete_layout(qapp, tmp_path, monkeypatch):
    seen = []

    class Seen(Window):
        def close(self):
            parts = (self.rail, self.arena, self.transport, self.inspector.tabBar(), self.source_side.heading)
            parts += (self.source_side.source, self.source_side.found, self.pages.bar)
            places = [QRect(part.mapTo(self, QPoint(0, 0)), part.size()) for part in parts]
            within = all(part.isVisible() and self.rect().contains(at) for part, at in zip(parts, places, strict=True))
            apart = not any(one.intersects(other) for one, other in combinations(places, 2))
            findings = self.inspector.tabText(self.inspector.count() - 1)
            seen.append((self.source_side.found.text(), findings, within, apart))
            return super().close()

    monkeypatch.setattr("gemmviz.ui.window.window.Window", Seen)
    size = ["--m", "7", "--n", "6", "--k", "9", "--set", "TS=4"]
    path = tmp_path / "window.png"
    assert run(["render", "gputiled~no-store-check", *size, "--window", "-o", str(path)]) == 0
    assert seen == [("✗  2 defects; 3 inefficiencies  ›", "Findings 5", True, True)]


@pytest.mark.parametrize(
    ("arguments", "code", "output"),
    [
        (["gputiled", "--step", "26"], 2, "steps 1 to 25"),
        (["gputiled", "--cell", "D,0,0"], 2, "A, B, C, As, Bs"),
        (["gputiled", "--cell", "C,8,0"], 2, "8 x 8"),
        (["gputiled", "--block", "2,0"], 2, "no block (2, 0)"),
        (["gputiled", "--warp", "1"], 2, "no warp 1"),
        (["gputiled", "--steps", "0:20"], 2, ".gif or .mp4"),
        (["numpy"], 1, "no source to record"),
        (["gputiled", "--set", "TS=64"], 2, "TS <= 32"),
    ],
)
def test_a_picture_that_cannot_be_drawn_is_reported(qapp, tmp_path, capsys, arguments, code, output):
    assert run(["render", *arguments, "-o", str(tmp_path / "x.png")]) == code
    assert output in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def rgb(path):
    with Image.open(path) as image:
        return np.asarray(image.convert("RGB")).astype(int)


def still(path, step):
    assert run(["render", "gputiled", "--resolution", "600x400", "--step", str(step), "-o", str(path)]) == 0
    return rgb(path)


def frames_of(path):
    """Return the frames of a GIF, the duration of each in seconds, and the number of repetitions (0: endless)."""
    frames, seconds = [], []
    with Image.open(path) as film:
        for number in range(film.n_frames):
            film.seek(number)
            frames.append(np.asarray(film.convert("RGB")).astype(int))
            seconds.append(film.info["duration"] / 1000)
        return frames, seconds, film.info["loop"]


def test_a_gif_shows_the_steps_asked_for_one_after_another_and_holds_the_last(qapp, tmp_path):
    path = tmp_path / "film.gif"
    options = ["--resolution", "600x400", "--fps", "10"]
    assert run(["render", "gputiled", *options, "--steps", "4:200:3", "-o", str(path)]) == 0
    frames, seconds, times = frames_of(path)
    shown = [5, 8, 11, 14, 17, 20, 23, 25]  # 4 are left out, then every third; the last step always is there
    assert seconds == [0.1] * 7 + [1.5] and times == 0
    assert len(frames) == len(shown)
    # Written cells glow in such a film and have rings in a still: these four have written none in the last four steps.
    for step, frame in [(step, frames[shown.index(step)]) for step in (8, 11, 20, 23)]:
        off = np.abs(frame - still(tmp_path / "still.png", step)).max(axis=2)
        # A palette of 255 colours is near enough everywhere, and exact nearly everywhere.
        assert off.mean() < 3 and (off > 24).mean() < 0.02, step


def test_without_every_a_film_plays_as_the_window_does_with_gestures(qapp, tmp_path):
    path = tmp_path / "film.gif"
    assert run(["render", "gputiled", "--steps", "0:4", "--resolution", "600x400", "-o", str(path)]) == 0
    frames, seconds, _ = frames_of(path)
    assert sum(seconds) == pytest.approx(3 * 0.6 + 1.5, abs=0.1)
    # Three steps, but more pictures than steps: the copies between them are on their way.
    assert len(frames) > 3 * 3


def test_an_mp4_is_h264_that_common_players_play(qapp, tmp_path):
    av = pytest.importorskip("av", reason="PyAV cannot be imported: python -m pip install 'gemmviz[video]'")
    path = tmp_path / "film.mp4"
    options = ["--steps", "0:10:1", "--fps", "8", "--resolution", "641x401", "-o", str(path)]
    assert run(["render", "gputiled", *options]) == 0
    with av.open(str(path)) as film:
        stream = film.streams.video[0]
        assert (stream.codec_context.name, stream.codec_context.pix_fmt) == ("h264", "yuv420p")
        assert (stream.width, stream.height) == (640, 400)  # H.264 wants even sides
        frames = [frame.to_ndarray(format="rgb24").astype(int) for frame in film.decode(video=0)]
    assert len(frames) == 9 + 12  # the last one stands for 1.5 s
    options = ["--resolution", "640x400", "--step", "10", "-o", str(tmp_path / "still.png")]
    assert run(["render", "gputiled", *options]) == 0
    last = rgb(tmp_path / "still.png")
    assert np.abs(frames[-1] - last).mean() < 6
    assert np.abs(frames[0] - last).mean() > np.abs(frames[-1] - last).mean()


def test_without_pyav_an_mp4_says_what_to_install(qapp, tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "av", None)
    assert run(["render", "gputiled", "-o", str(tmp_path / "film.mp4")]) == 2
    assert "pip install 'gemmviz[video]'" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_an_svg_holds_cells_and_text_and_no_pixels(qapp, tmp_path):
    path = tmp_path / "stage.svg"
    options = ["--step", "13", "--cell", "C,3,4", "--resolution", "1000x640"]
    assert run(["render", "gputiled", *options, "-o", str(path)]) == 0
    tree = ElementTree.parse(path)
    tags = [element.tag.rpartition("}")[2] for element in tree.iter()]
    assert "image" not in tags
    texts = {"".join(e.itertext()).strip() for e in tree.iter() if e.tag.endswith("}text")}
    assert any("gputiled" in text for text in texts) and {"0", "7"} <= texts
    image = QImage(1000, 640, QImage.Format.Format_RGB32)
    painter = QPainter(image)
    renderer = QSvgRenderer(str(path))
    assert renderer.isValid()
    renderer.render(painter)
    painter.end()
    png = tmp_path / "stage.png"
    assert run(["render", "gputiled", *options, "-o", str(png)]) == 0
    drawn, meant = (picture.pixels(i.convertToFormat(QImage.Format.Format_RGB32)) for i in (image, QImage(str(png))))
    assert (np.abs(drawn.astype(int) - meant).max(axis=2) > 40).mean() < 0.04


def test_the_chosen_cell_and_warp_are_drawn(qapp, tmp_path):
    path, seen = tmp_path / "x.png", set()
    choices = (
        [],
        ["--cell", "C,3,4"],
        ["--cell", "C,3,4", "--block", "1,1"],
        ["--block", "1,1"],
        ["--type-scale", "1.5"],
    )
    for options in choices:
        arguments = ["gputiled", "--step", "13", "--resolution", "600x400", *options, "-o", str(path)]
        assert run(["render", *arguments]) == 0
        seen.add(path.read_bytes())
    assert len(seen) == len(choices)


@pytest.mark.parametrize(("cell", "lane"), [("C,1,6", 6), ("C,3,3", 15), ("A,1,6", 0)])
def test_the_lens_of_a_picture_shows_the_thread_of_the_chosen_element(qapp, tmp_path, monkeypatch, cell, lane):
    drawn = []
    image = picture.Frames.image
    monkeypatch.setattr(picture.Frames, "image", lambda self, moment: drawn.append(moment) or image(self, moment))
    arguments = ["render", "gputiled", "--cell", cell, "--lens", "thread tile", "--resolution", "600x400"]
    assert run([*arguments, "-o", str(tmp_path / "x.png")]) == 0
    assert [moment.lane for moment in drawn] == [lane]


@pytest.mark.parametrize("name", ["tensor-core", "Tensor_Core", "none"])
def test_the_name_of_a_lens_may_be_spelled_without_spaces(qapp, tmp_path, monkeypatch, name):
    drawn = []
    monkeypatch.setattr(picture.Frames, "__init__", lambda self, *given, **named: drawn.append(given) or exit_now())
    with pytest.raises(SystemExit):
        run(["render", "gputiled", "--lens", name, "-o", str(tmp_path / "x.png")])
    assert drawn


def exit_now():
    raise SystemExit


def test_a_film_that_is_interrupted_leaves_no_file_and_keeps_the_old_one(qapp, tmp_path, monkeypatch):
    path = tmp_path / "film.gif"
    path.write_text("old")
    drawn = []

    def draw_two(frames, moment):
        drawn.append(moment)
        if len(drawn) > 14:
            raise KeyboardInterrupt
        return image(frames, moment)

    image = picture.Frames.image
    monkeypatch.setattr(picture.Frames, "image", draw_two)
    assert run(["render", "gputiled", "--resolution", "100x100", "-o", str(path)]) == 130
    assert len(drawn) == 15  # 12 samples for the palette, two frames, and the one that was interrupted
    assert path.read_text() == "old" and list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("options", "output"),
    [
        (["--steps", "5:5", "-o", "x.gif"], "not a range of steps"),
        (["--steps", "0:9:0", "-o", "x.gif"], "not a range of steps"),
        (["--steps", "30:40", "-o", "x.gif"], "30:40 holds no step"),
        (["--step", "3", "-o", "x.gif"], "--steps FIRST:END"),
        (["-o", "x.jpg"], ".png, .svg, .gif, .mp4"),
        (["-o", "-"], "cannot be written to the standard output"),
        (["-o", "nowhere/x.png"], "no folder"),
        (["--window", "-o", "x.svg"], "leave out --window"),
        (["--fps", "55", "-o", "x.gif"], "at most 50"),
        (["--fps", "99", "-o", "x.gif"], "from 1 to 60"),
    ],
)
def test_an_impossible_film_is_refused(qapp, tmp_path, monkeypatch, capsys, options, output):
    monkeypatch.chdir(tmp_path)
    try:
        code = run(["render", "gputiled", *options])
    except SystemExit as ended:  # argparse ends so
        code = ended.code
    assert code == 2
    assert output in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("render", "(default: the kernel's demo, else 8, or the smallest size with several blocks)"),
        ("window", "(default: the kernel's demo, else 8, or the smallest size with several blocks)"),
        ("record", "(default: the kernel's demo, else 8, or the nearest size that the kernel takes)"),
    ],
)
def test_the_help_describes_the_default_size(monkeypatch, capsys, command, output):
    monkeypatch.setenv("COLUMNS", "200")
    with pytest.raises(SystemExit):
        run([command, "--help"])
    assert f"M = N = K = N {output}" in capsys.readouterr().out


def test_missing_libraries_end_with_2_and_the_command_to_install_them(qapp, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("gemmviz.ui.look.display.missing", lambda environ: "sudo apt-get install libegl1")
    assert run(["render", "gputiled", "-o", str(tmp_path / "x.png")]) == 2
    assert capsys.readouterr().err.strip().endswith("gemmviz: sudo apt-get install libegl1")


def test_without_a_display_the_command_names_alternatives():
    kept = {"PATH": "/usr/bin:/bin", "HOME": "/tmp"}
    done = subprocess.run([sys.executable, "-m", "gemmviz"], env=kept, capture_output=True, text=True)
    assert done.returncode == 2
    assert "no display" in done.stderr and "gemmviz render" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_a_display_that_does_not_answer_is_named():
    assert ":4321" in missing({"DISPLAY": ":4321"})


def test_offscreen_needs_no_display():
    assert missing({"QT_QPA_PLATFORM": "offscreen"}) is None
    assert missing_libraries(x11=False) == []


def test_a_position_between_two_steps_has_its_own_picture(tmp_path):
    def drawn(step, code=0):
        path = tmp_path / f"{step}.png"
        assert (
            run(["render", "gputiled", "--set", "TS=4", "--step", step, "--resolution", "500x400", "-o", str(path)])
            == code
        )
        return path.read_bytes() if code == 0 else b""

    assert drawn("15") == drawn("15.0") != drawn("15.5") == drawn("15.50") != drawn("16")
    drawn("25.5", code=2)  # the last step is 25
    for wrong in ("x", "nan", "1e99"):
        with pytest.raises(SystemExit):
            drawn(wrong)


def test_the_message_about_hints_for_a_window_manager_is_left_out_and_others_are_passed_on():
    heard = []
    before = qInstallMessageHandler(lambda kind, context, text: heard.append(text))
    try:
        with without_hints():
            qWarning("This plugin does not support propagateSizeHints()")
            qWarning("something else")
        qWarning("afterwards")
    finally:
        qInstallMessageHandler(before)
    assert heard == ["something else", "afterwards"]
