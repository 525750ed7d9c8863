"""The line of a source that is there to arrive at an mbarrier at which no thread has arrived."""

import re

from gemmviz.catalogue.plain_code import plain_code


def arriving_line(text: str, barrier: str) -> int:
    """Return the first line that arrives at an mbarrier, or at another one of its array; 0 if none does.

    Parameters
    ----------
    text
        The kernel's file.
    barrier
        The mbarrier's name: ``"full[0]"``.
    """
    code = plain_code(text, directives=False)
    name = rf"\b{re.escape(barrier.partition('[')[0])}\b"
    if len(re.findall(rf"__shared__[^;]*?{name}[^;]*;", code)) != 1:  # two functions may have barriers of one name
        return 0
    found = re.search(rf"\b\w*arrive\w*\(\s*&?\s*{name}|{name}(?:\[[^\]]*\])*\s*\.\s*arrive", code)
    return code.count("\n", 0, found.start()) + 1 if found else 0
