"""Macros that a kernel needs and its files do not define: those around it, and those that build scripts give."""

import re
from collections.abc import Set

from gemmviz.catalogue.guessing.asked_definitions import asked_definitions, defined_names
from gemmviz.catalogue.guessing.build_definitions import build_definitions
from gemmviz.catalogue.guessing.cxx import Surroundings
from gemmviz.catalogue.guessing.functions import Function
from gemmviz.catalogue.plain_code import without_comments

_CONDITION = re.compile(r"^[ \t]*#[ \t]*(?:if|ifdef|ifndef|elif)\b(?:\\\n|[^\n])*", re.MULTILINE)
_FOR_GPU = re.compile(r"\b(?:USE|ENABLE|WITH|HAVE|BUILD)_(?:CUDA|GPU|NVIDIA)\b")


def definitions_of(
    kernel: Function, text: str, around: Surroundings | None, tunable: Set[str]
) -> dict[str, tuple[int, ...]]:
    """Return the values of macros that a kernel gets from outside of its files, the most likely value first.

    Parameters
    ----------
    kernel
        The kernel.
    text, around
        Its file, and the files around it.
    tunable
        The macros that have a value only if nothing outside gives one.
    """
    around = around or Surroundings()
    texts = [without_comments(one) for one in (text, *around.headers)]
    asked = asked_definitions(texts, kernel.name.rpartition("::")[2])
    if not around.scripts:
        return {name: (value,) for name, value in asked.items()}
    # A macro that only conditions use chooses between parts of the file: without a value, the file is as its text says.
    # But a project that says that it is built for a GPU is.
    words = {word for one in texts for word in re.findall(r"[A-Za-z_]\w*", _CONDITION.sub("", one))}
    words |= {word for one in texts for line in _CONDITION.findall(one) for word in _FOR_GPU.findall(line)}
    given = build_definitions(around.scripts, words - (defined_names(texts) - tunable))
    return given | {name: (value,) for name, value in asked.items()}
