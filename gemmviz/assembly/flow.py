"""The control flow of machine code: basic blocks, and loops as compilers define them.

A loop is a branch back to a block that dominates it (every path to the branch goes through that block), with all blocks
from which the branch can be reached without going through that block: Aho, Lam, Sethi and Ullman, "Compilers", 2nd
edition, 9.6.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from gemmviz.assembly.listing import Instruction

_TARGET = re.compile(r"`\((\.L_\w+)\)")
_ALWAYS = ("", "@PT", "@UPT")
_ENDS = ("EXIT", "RET", "BRX", "JMX", "KILL")


@dataclass
class Block:
    """Instructions that are executed in sequence, from `start` up to `stop`, and the blocks that may follow."""

    start: int
    stop: int
    after: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class Loop:
    """The indices of a loop's instructions, in order."""

    instructions: tuple[int, ...]


def loops(code: Sequence[Instruction]) -> list[Loop]:
    """Return the loops of a kernel; those with the same first block are one loop."""
    made = blocks(code)
    if not made:
        return []
    before: list[list[int]] = [[] for _ in made]
    for number, block in enumerate(made):
        for other in block.after:
            before[other].append(number)
    dominators = _dominators(made, before)
    bodies: dict[int, set[int]] = {}
    for number, block in enumerate(made):
        for head in block.after:
            if dominators[number] >> head & 1:
                bodies.setdefault(head, {head}).update(_reaching(number, head, before))
    return [
        Loop(tuple(i for b in sorted(body) for i in range(made[b].start, made[b].stop))) for body in bodies.values()
    ]


def innermost(found: Sequence[Loop], worth: Sequence[int]) -> Loop | None:
    """Return the innermost loop with the most products; None if no loop has any.

    Parameters
    ----------
    found
        The loops.
    worth
        The products of each instruction.
    """
    sums = [(sum(worth[i] for i in loop.instructions), loop) for loop in found]
    with_products = [(total, loop) for total, loop in sums if total]
    inner = [
        (total, loop)
        for total, loop in with_products
        if not any(
            len(other.instructions) < len(loop.instructions) and set(other.instructions) < set(loop.instructions)
            for _, other in with_products
        )
    ]
    return max(inner, key=lambda pair: pair[0])[1] if inner else None


def blocks(code: Sequence[Instruction]) -> list[Block]:
    """Return the basic blocks of a kernel."""
    labels = {name: index for index, one in enumerate(code) for name in one.label.split()}
    starts = {0, *labels.values()}
    starts |= {index + 1 for index, one in enumerate(code) if one.stem in ("BRA", "BSYNC", *_ENDS)}
    bounds = [*sorted(start for start in starts if start < len(code)), len(code)]
    made = [Block(start, stop) for start, stop in pairwise(bounds)]
    numbers = {block.start: number for number, block in enumerate(made)}
    joins = _joins(code, labels)
    for number, block in enumerate(made):
        last = code[block.stop - 1]
        goes_on = True
        if last.stem == "BRA":
            # BRA UP0, `(.L_x_1): the condition may be an operand, too.
            goes_on = last.predicate not in _ALWAYS or not last.operands.startswith("`")
            if target := _TARGET.search(last.operands):
                block.after += [numbers[at] for at in (labels.get(target[1]),) if at is not None]
        elif last.stem == "BSYNC":
            # It continues at the label of the BSSY of the same barrier, which usually is the next instruction.
            places = joins.get(last.operands, set())
            if places and block.stop not in places:
                block.after += [numbers[at] for at in sorted(places)]
                goes_on = last.predicate not in _ALWAYS
        elif last.stem in _ENDS:
            goes_on = last.predicate not in _ALWAYS
        if goes_on and number + 1 < len(made):
            block.after.append(number + 1)
    return made


def _joins(code: Sequence[Instruction], labels: dict[str, int]) -> dict[str, set[int]]:
    """Return the labels at which the threads of each barrier register synchronise: ``BSSY B0, `(.L_x_1)``."""
    found: dict[str, set[int]] = {}
    for one in code:
        if one.stem == "BSSY" and (target := _TARGET.search(one.operands)) and target[1] in labels:
            found.setdefault(one.operands.partition(",")[0], set()).add(labels[target[1]])
    return found


def _dominators(made: Sequence[Block], before: Sequence[Sequence[int]]) -> list[int]:
    """Return the blocks that dominate each block, as the bits of a number."""
    every = (1 << len(made)) - 1
    found = [1, *[every] * (len(made) - 1)]
    changed = True
    while changed:
        changed = False
        for number in range(1, len(made)):
            common = every
            for other in before[number]:
                common &= found[other]
            common |= 1 << number
            if common != found[number]:
                found[number], changed = common, True
    return found


def _reaching(number: int, head: int, before: Sequence[Sequence[int]]) -> set[int]:
    """Return the blocks from which a block is reached without the head of its loop."""
    found = {number}
    waiting = [number] if number != head else []
    while waiting:
        for other in before[waiting.pop()]:
            if other != head and other not in found:
                found.add(other)
                waiting.append(other)
    return found
