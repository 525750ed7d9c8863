"""Makes ``resources/counted_bytes.json``: the traffic of each CUDA kernel, at the smallest size that can be scaled.

``python docs/counted_bytes.py`` records each kernel with its default parameters and with those of the reference
results. The roofline then needs no recording for them. Kernels without such a size are left out.
"""

import json
from collections.abc import Iterator
from dataclasses import astuple
from typing import Any

from gemmviz import data
from gemmviz.bench.figures import fullest_size
from gemmviz.bench.model.counted_bytes import FILE
from gemmviz.bench.model.roofline import survey_size
from gemmviz.bench.reference_results import load
from gemmviz.catalogue.errors import BuildError
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.ladder import ladder
from gemmviz.catalogue.launch import launch
from gemmviz.trace.cost.traffic import measure
from gemmviz.trace.recording.record import record


def launches() -> Iterator[tuple[Kernel, dict[str, int]]]:
    """Return the kernels and parameters that the roofline shows at first."""
    references, _ = load()
    for kernel in ladder():
        if kernel.backend != "cuda":
            continue
        found = [kernel.defaults]
        for reference in references:
            size = fullest_size(reference.figures)
            row = reference.figures.near(kernel.name, size, kernel.defaults) if size else None
            if row and row["params"] not in found:
                found.append(row["params"] or {})
        yield from ((kernel, params) for params in found)


def counted(kernel: Kernel, params: dict[str, int]) -> dict[str, Any] | None:
    """Record a kernel, and return its entry; None if no small size can be scaled, or if it cannot be compiled."""
    size = survey_size(kernel, params)
    if size is None:
        return None
    try:
        arrays = measure(record(launch(kernel, size, params))).arrays
    except BuildError:  # a kernel that shows the fault of a printed text
        return None
    return {
        "kernel": kernel.name,
        "source_sha256": kernel.sha256,
        "params": params,
        "size": size.m,
        "arrays": [astuple(array) for array in arrays],
    }


def text(entries: list[dict[str, Any]]) -> str:
    """Return the file's text: an entry on each line."""
    return "[\n" + ",\n".join(json.dumps(entry) for entry in entries) + "\n]\n"


def main() -> None:
    """Write the file."""
    entries = [entry for kernel, params in launches() if (entry := counted(kernel, params))]
    (data.root("resources") / FILE).write_text(text(entries), encoding="utf-8")


if __name__ == "__main__":
    main()
