"""Parameters that are the number of threads of a block: loops that begin with the thread's number advance by them."""

import math
import re
from dataclasses import replace

from gemmviz.catalogue.guessing.folding import evaluate
from gemmviz.catalogue.guessing.functions import Function
from gemmviz.catalogue.guessing.launch_shape import Shape
from gemmviz.catalogue.guessing.roles import GuessReason

_SAID = 0.9  # by the host code
_LOOP = re.compile(r"\bfor \( [^;{}]*= (threadIdx \. x|\w+) ;[^;{}]*; [^;{}()]*\+= (\w+) \)")


def with_block_steps(shape: Shape, function: Function) -> Shape:
    """Return a launch in which such parameters have the number of threads that the rest of it gives.

    With fewer, several threads would make the same step; with more, steps would be left out.

    Parameters
    ----------
    shape
        The launch. What the host code gives stays.
    function
        The kernel.
    """
    if shape.why.get("params", GuessReason(0, "")).confidence >= _SAID:
        return shape
    body = " ".join(function.body)
    steps = {
        step
        for start, step in _LOOP.findall(body)
        if start == "threadIdx . x" or re.search(rf"\b{re.escape(start)} = threadIdx \. x ;", body)
    }
    sides = " ".join(shape.block)
    given = {name: values[0] for name, values in shape.params.items()}
    threads = [evaluate(side, given) for side in shape.block]
    wanted = {name for name in steps & shape.params.keys() if not re.search(rf"\b{name}\b", sides)}
    if not wanted or None in threads:
        return shape
    number = int(math.prod(side or 1 for side in threads))
    return replace(shape, params=shape.params | dict.fromkeys(wanted, (number,)))
