# ruff: noqa: E402  (what needs Qt is imported after `need_qt`)
"""``gemmviz render``, and the line that is said where no window can be opened."""

import subprocess
import sys

import pytest
from window_driving import need_qt

need_qt()

from PySide6.QtGui import QImage

from gemmviz.cli import run
from gemmviz.ui.display import missing, missing_packages


def colours(path):
    image = QImage(str(path))
    size = image.size()
    return {image.pixel(x, y) for x in range(0, size.width(), 7) for y in range(0, size.height(), 7)}, size


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


def test_render_draws_the_whole_window(qapp, tmp_path):
    path = tmp_path / "window.png"
    assert run(["render", "hostmult0", "--window", "--resolution", "1280x800", "-o", str(path)]) == 0
    _, size = colours(path)
    assert (size.width(), size.height()) == (1280, 800)


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["gputiled", "--step", "26"], 1, "steps 1 to 25"),
        (["numpy"], 1, "no source to record"),
        (["gputiled", "--set", "TS=64"], 2, "TS <= 32"),
    ],
)
def test_what_cannot_be_drawn_is_said(qapp, tmp_path, capsys, arguments, code, said):
    assert run(["render", *arguments, "-o", str(tmp_path / "x.png")]) == code
    assert said in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_missing_libraries_end_with_2_and_a_line_that_says_what_to_install(qapp, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("gemmviz.ui.display.missing", lambda environ: "sudo apt-get install libegl1")
    assert run(["render", "gputiled", "-o", str(tmp_path / "x.png")]) == 2
    assert capsys.readouterr().err.strip().endswith("gemmviz: sudo apt-get install libegl1")


def test_without_a_display_the_command_says_what_to_use_instead():
    kept = {"PATH": "/usr/bin:/bin", "HOME": "/tmp"}
    done = subprocess.run([sys.executable, "-m", "gemmviz"], env=kept, capture_output=True, text=True)
    assert done.returncode == 2
    assert "no display" in done.stderr and "gemmviz render" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_a_display_that_does_not_answer_is_named():
    assert ":4321" in missing({"DISPLAY": ":4321"})


def test_offscreen_needs_no_display():
    assert missing({"QT_QPA_PLATFORM": "offscreen"}) is None
    assert missing_packages(x11=False) == []
