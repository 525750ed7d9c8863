"""No file of the program imports itself by way of others: each can be read, and loaded, after those it needs."""

from graphlib import TopologicalSorter

import grimp


def test_files_can_be_put_in_an_order_in_which_each_imports_earlier_ones_only():
    graph = grimp.build_graph("gemmviz", cache_dir=None)
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    # A circle is an error that names its files. import-linter's contract looks at one folder at a time.
    order = list(TopologicalSorter(imports).static_order())
    assert order.index("gemmviz.session.choice") < order.index("gemmviz.session.session") < order.index("gemmviz.app")
