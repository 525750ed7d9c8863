"""The text of ``gemmviz/ptx.h`` for the GPU's compiler, with the headers that it includes."""

import re

from gemmviz import data

FOLDER = data.root("kernels") / "include"


def gpu_header() -> str:
    """Return ``gemmviz/ptx.h`` with the text of each of its own headers in place of the first include of it."""
    return _text("gemmviz/ptx.h", set())


def _text(name: str, seen: set[str]) -> str:
    seen.add(name)
    text = (FOLDER / name).read_text(encoding="utf-8").replace("#pragma once\n", "")
    return re.sub(
        r"^#include <(gemmviz/.+)>$",
        lambda found: "" if found[1] in seen else _text(found[1], seen),
        text,
        flags=re.MULTILINE,
    )
