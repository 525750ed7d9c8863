"""No file of these rooms imports itself by way of others: each can be read, and loaded, after those it needs."""

import subprocess
import sys
from functools import cache
from graphlib import TopologicalSorter

import grimp
import pytest

WITHOUT_QT = """
import sys
from importlib import import_module
sys.modules |= dict.fromkeys(("PySide6", "shiboken6", "pyqtgraph"))
for name in sys.argv[1:]:
    import_module(name)
"""
WINDOW = "import sys, gemmviz.app, gemmviz.control.controller; print(*{'elftools', 'cupy', 'ziglang'} & {*sys.modules})"


@cache
def graph_of_imports() -> grimp.ImportGraph:
    return grimp.build_graph("gemmviz", cache_dir=None)


@pytest.mark.parametrize("room", ["control", "engine", "session", "trace", "ui"])
def test_files_can_be_put_in_an_order_in_which_each_imports_earlier_ones_only(room: str) -> None:
    graph = graph_of_imports()
    files = graph.find_descendants(f"gemmviz.{room}")
    # A circle is an error that names its files. import-linter's contract looks at one folder at a time.
    order = TopologicalSorter({file: graph.find_modules_directly_imported_by(file) & files for file in files})
    assert set(order.static_order()) == files


def test_what_draws_nothing_is_imported_without_qt() -> None:
    graph = grimp.build_graph("gemmviz", cache_dir=None)
    drawing = graph.find_descendants("gemmviz.ui") | {"gemmviz.ui", "gemmviz.app"}
    names = sorted(graph.modules - drawing)
    done = subprocess.run([sys.executable, "-c", WITHOUT_QT, *names], capture_output=True, text=True, check=False)
    assert len(names) > 100 and done.returncode == 0, done.stderr


def test_the_windows_process_imports_nothing_that_only_engines_use() -> None:
    done = subprocess.run([sys.executable, "-c", WINDOW], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
