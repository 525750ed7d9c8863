"""The block of threads that a comment in a kernel names: ``// block(BN / TN, BM / TM)``."""

import re
from collections.abc import Sequence
from dataclasses import replace

from gemmviz.catalogue.errors import FrontMatterError
from gemmviz.catalogue.expression import Expression
from gemmviz.catalogue.guessing.guessed_matter import SURE
from gemmviz.catalogue.guessing.launch_shape import Shape
from gemmviz.catalogue.guessing.roles import GuessReason
from gemmviz.catalogue.guessing.tokens import split_text
from gemmviz.language import mark

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_BLOCK = re.compile(r"(?i)\b(?:thread_?block|block_?dim|block|dim3\s+block)\s*\(((?:[^()\n]|\([^()\n]*\))*)\)")
_BY_COMMENT = mark("a comment in the kernel says so")


def with_commented_block(shapes: Sequence[Shape], text: str, kernel: str) -> list[Shape]:
    """Return the likely launches of a kernel, and the last one with the block that a comment in the kernel names.

    Parameters
    ----------
    shapes
        The launches, the last one from the kernel's own code.
    text
        The file.
    kernel
        The kernel's name.
    """
    shape = shapes[-1]
    sides = _commented(text, kernel.rpartition("::")[2], {*shape.params})
    if not sides or sides == shape.block:
        return list(shapes)
    made = replace(shape, block=sides, why=shape.why | {"block": GuessReason(0.6, _BY_COMMENT)})
    unsure = shape.why.get("block", GuessReason(0, "")).confidence < SURE
    return [*shapes[:-1], made, shape] if unsure else [*shapes, made]


def _commented(text: str, kernel: str, known: set[str]) -> tuple[str, ...]:
    """Return the sides of the first block in a kernel's comments that known names and numbers give."""
    head = re.search(rf"\b{re.escape(kernel)}\s*\(", text)
    if head is None:
        return ()
    end = text.find("__global__", head.end())
    for comment in _COMMENT.findall(text[head.end() : end if end > 0 else len(text)]):
        for found in _BLOCK.findall(comment):
            sides = split_text(found)
            if 1 <= len(sides) <= 3 and all(_is_side(one, known) for one in sides):
                return sides
    return ()


def _is_side(text: str, known: set[str]) -> bool:
    try:
        return Expression(text).names() <= known
    except FrontMatterError:
        return False
