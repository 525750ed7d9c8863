"""No file of these rooms imports itself by way of others: each can be read, and loaded, after those it needs."""

from graphlib import TopologicalSorter

import grimp
import pytest


@pytest.mark.parametrize("room", ["engine", "session", "trace", "ui"])
def test_files_can_be_put_in_an_order_in_which_each_imports_earlier_ones_only(room: str) -> None:
    graph = grimp.build_graph("gemmviz", cache_dir=None)
    files = graph.find_descendants(f"gemmviz.{room}")
    # A circle is an error that names its files. import-linter's contract looks at one folder at a time.
    order = TopologicalSorter({file: graph.find_modules_directly_imported_by(file) & files for file in files})
    assert set(order.static_order()) == files
