"""A broken file, a missing package, a full disk: a line that says so, and an exit code."""

import json
import os
import shutil
import subprocess
import sys

import pytest

from gemmviz import data
from gemmviz.cli import run

ENVIRONMENT = dict(os.environ)


def test_list_goes_on_and_says_which_file_is_bad(tmp_path, monkeypatch, capsys):
    shutil.copy(data.root("kernels") / "cuda" / "30_gputiled.cu", tmp_path)
    (tmp_path / "31_bad.cu").write_text("no kernel")
    shipped = data.root
    monkeypatch.setattr(data, "root", lambda name: tmp_path if name == "kernels" else shipped(name))
    assert run(["list", "--json"]) == 1
    output = capsys.readouterr()
    assert [kernel["name"] for kernel in json.loads(output.out)] == ["gputiled"]
    (line,) = output.err.splitlines()
    assert line.startswith(f"gemmviz: {tmp_path / '31_bad.cu'} is left out: 31_bad.cu: no front matter")
    assert run(["list"]) == 1
    assert "gputiled" in capsys.readouterr().out


def test_another_command_goes_on_and_says_it_too(tmp_path, monkeypatch, capsys):
    shutil.copy(data.root("kernels") / "cuda" / "30_gputiled.cu", tmp_path)
    (tmp_path / "31_bad.cu").write_text("no kernel")
    shipped = data.root
    monkeypatch.setattr(data, "root", lambda name: tmp_path if name == "kernels" else shipped(name))
    assert run(["record", "bad"]) == 2
    output = capsys.readouterr().err
    assert "31_bad.cu is left out" in output and "no kernel 'bad'" in output


@pytest.mark.sweep("psygnal-*", "rich-*")
@pytest.mark.parametrize(
    ("module", "command", "package"),
    [
        ("psygnal", "window", "psygnal"),
        ("pyqtgraph", "window", "pyqtgraph"),
        ("pygments", "window", "pygments"),
        ("PySide6", "window", "PySide6-Essentials"),
        ("rich", "list", "rich"),
    ],
)
def test_a_missing_package_is_one_line_with_the_package_to_install(module, command, package, tmp_path):
    if module in ("pyqtgraph", "pygments"):
        pytest.importorskip("PySide6.QtWidgets", exc_type=ImportError)
    code = f"import sys; sys.modules[{module!r}] = None; from gemmviz.__main__ import main; main()"
    found = subprocess.run(
        [sys.executable, "-c", code, *command.split()],
        capture_output=True,
        text=True,
        timeout=300,
        env=ENVIRONMENT | {"QT_QPA_PLATFORM": "offscreen", "XDG_CONFIG_HOME": str(tmp_path)},
        check=False,
    )
    (line,) = found.stderr.splitlines()
    assert found.returncode == 2, line
    assert "python -m pip install" in line and package in line


def test_record_reports_a_full_disk(capsys):
    assert run(["record", "hostmult0", "--size", "2", "--json", "/dev/full"]) == 1
    assert "gemmviz: cannot write /dev/full: No space left on device" in capsys.readouterr().err


def test_a_full_disk_behind_the_standard_output_is_said_in_words():
    with open("/dev/full", "w") as full:  # noqa: PTH123
        done = subprocess.run(
            [sys.executable, "-m", "gemmviz", "trust"], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 1
    assert done.stderr.strip() == "gemmviz: the output is not complete: No space left on device"
