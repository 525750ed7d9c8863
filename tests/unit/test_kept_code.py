"""Code that is made from texts at each start, and kept compiled."""

import dataclasses
import os
import subprocess
import sys

import pytest

from gemmviz.kept_code import dataclasses_from_cache, modules_from_cache

_IMPORT = "from gemmviz.kept_code import modules_from_cache as kept\nwith kept() as code:\n    import PySide6.QtCore\n"


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "gemmviz" / "code"


def point():
    with dataclasses_from_cache() as code:

        @dataclasses.dataclass(frozen=True)
        class Point:
            x: int
            y: int = 2

    return Point, code


def test_the_methods_of_a_dataclass_are_compiled_once():
    first, before = point()
    again, after = point()
    assert before.compiled > 0
    assert after.compiled == 0
    assert again.__init__.__code__ == first.__init__.__code__
    assert again(1) == again(1, 2) != again(1, 3)
    assert repr(again(5)).endswith("Point(x=5, y=2)")
    with pytest.raises(dataclasses.FrozenInstanceError):
        again(1).x = 2


def test_a_damaged_file_is_not_used(cache):
    point()
    file = next(cache.glob("dataclasses-*"))
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    kind, code = point()
    assert kind(1).y == 2
    assert code.kept == 0
    assert code.compiled > 0
    assert point()[1].compiled == 0


def test_a_folder_that_cannot_be_written_costs_nothing(monkeypatch):
    def fail():
        raise OSError

    monkeypatch.setattr("gemmviz.kept_code.data.cache_folder", lambda name: fail())
    assert point()[0](1).y == 2


def test_dataclasses_are_made_as_usual_afterwards():
    point()
    assert not hasattr(dataclasses, "exec")


def test_a_text_is_compiled_with_the_features_of_the_code_that_asks():
    ask = "made = compile('def f(x: 1 / 0): pass', 'some', 'exec')"
    with modules_from_cache():
        names = {}
        exec("from __future__ import annotations\n" + ask, names)
        exec(names["made"], names)
        assert names["f"].__annotations__ == {"x": "1 / 0"}
        exec(compile(ask, "other", "exec", 0, True), names)
        with pytest.raises(ZeroDivisionError):
            exec(names["made"], names)


def test_the_modules_inside_of_pyside_are_compiled_once():
    runs = [sys.executable, "-c", _IMPORT + "print(code.compiled)"]
    first, second = (
        int(subprocess.run(runs, check=True, capture_output=True, text=True, env=os.environ).stdout) for _ in range(2)
    )
    assert first > 0
    assert second == 0


_SEARCH = """
import inspect
from gemmviz import kept_code
from PySide6.QtCore import QObject
asked, real = [], inspect.getsource
inspect.getsource = lambda module: asked.append(module) or real(module)
if {skips}:
    kept_code.skip_feature_search()
import colorsys
print(bool(asked), QObject().objectName() == "")
"""


@pytest.mark.parametrize("skips", [True, False])
def test_pyside_reads_no_source_of_a_module_that_is_imported_later(skips):
    run = [sys.executable, "-c", _SEARCH.format(skips=skips)]
    done = subprocess.run(run, check=True, capture_output=True, text=True)
    assert done.stdout.split() == [str(not skips), "True"]
