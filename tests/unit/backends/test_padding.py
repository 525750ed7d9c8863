"""Which matrices are copied to longer rows before a launch."""

from types import SimpleNamespace
from typing import Any

import numpy as np

from gemmviz.backends.padding import Padding
from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem

CUPY = SimpleNamespace(
    empty=lambda elements, dtype: memory(elements, dtype), RawKernel=lambda source, name: SimpleNamespace(name=name)
)


def memory(elements: int, dtype: Any) -> Any:
    return SimpleNamespace(nbytes=elements * np.dtype(dtype).itemsize, data=SimpleNamespace(ptr=0))


def copied(text: str, path: Any, size: Problem) -> set[str]:
    given = {"A": memory(1, "float16"), "B": memory(1, "float16")}
    return {*Padding(CUPY, launch(parse(text, path), size), given).copies}


def test_unaligned_rows_are_copied_if_the_kernel_takes_no_pointer_or_says_so() -> None:
    rung = find("every_shape", ladder())
    assert copied(rung.text, rung.path, Problem(64, 64, 65)) == {"A"}
    assert copied(rung.text, rung.path, Problem(64, 65, 64)) == {"B"}
    assert copied(rung.text, rung.path, Problem(64, 64, 64)) == set()
    (line,) = (line for line in rung.text.splitlines() if line.startswith("// copied"))
    assert copied(rung.text.replace(f"{line}\n", ""), rung.path, Problem(64, 65, 65)) == set()
