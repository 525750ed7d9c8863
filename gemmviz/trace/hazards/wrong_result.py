"""A wrong C without another explanation: reports a wrong operand, else the store and its value."""

import numpy as np

from gemmviz.catalogue.matrices import C
from gemmviz.language import mark, tr, trn
from gemmviz.language.numbers import thousands
from gemmviz.trace.hazards.finding import Finding
from gemmviz.trace.hazards.operands import last_uses, wrong_elements, wrong_operands
from gemmviz.trace.recording.recording import Recording

_TRIED = 64  # wrong elements in which products are searched
_NONE_IN = mark("{what}: none of the products is in them")
_ONE_IN = mark("{what}: the product for k = {first} alone is in them")
_SOME_IN = mark("{what}: the products for k = {first} to {last} alone are in them")


def wrong_result(recording: Recording) -> list[Finding]:
    """Return findings that explain a wrong C; none for a right C."""
    if not recording.wrong:
        return []
    return wrong_operands(recording) or [_wrong_sum(recording)]


def _wrong_sum(recording: Recording) -> Finding:
    """Report the worst element: its known operands are right, but the stored value is not their sum."""
    expected = recording.product
    off = np.where(np.isfinite(recording.c), np.abs(recording.c - expected), np.inf)
    off[~wrong_elements(recording)] = -1
    row, column = (int(i) for i in np.unravel_index(int(np.argmax(off)), off.shape))
    stores = np.flatnonzero((recording.accesses.array == C) & recording.accesses.write)
    position, elements = recording.elements(stores)
    rows, columns = recording.arrays[C].cells(elements)
    mine = stores[position[(rows == row) & (columns == column)]]
    line = [s.line for s in recording.sites]
    site = recording.accesses.site
    store = line[int(site[mine[-1]])] if len(mine) else 0
    uses = last_uses(recording)
    use = line[int(site[uses[-1]])] if len(uses) else 0
    values = {
        "element": f"C[{row}, {column}]",
        "value": f"{recording.c[row, column]:g}",
        "right": f"{expected[row, column]:g}",
        "count": thousands(recording.wrong),
    }
    if store:
        text = trn(
            "{element} is {value} and should be {right}, as line {line} stores it; {count} element of C is not A x B",
            "{element} is {value} and should be {right}, as line {line} stores it; {count} elements of C are not A x B",
            recording.wrong,
            line=store,
            **values,
        )
    else:
        text = trn(
            "{element} is {value} and should be {right}; {count} element of C is not A x B",
            "{element} is {value} and should be {right}; {count} elements of C are not A x B",
            recording.wrong,
            **values,
        )
    return Finding("wrong result", store, _with_part(recording, text), recording.wrong, use if use != store else 0, "C")


def _with_part(recording: Recording, text: str) -> str:
    """Add which products are in the wrong elements, if it is the same range of k for all of them."""
    wrong = np.argwhere(wrong_elements(recording))[:_TRIED]
    got = recording.c[wrong[:, 0], wrong[:, 1]]
    if not np.isfinite(got).all() or recording.k > 1024:
        return text
    products = recording.a[wrong[:, 0]] * recording.b[:, wrong[:, 1]].T
    sums = np.concatenate([np.zeros((len(wrong), 1)), np.cumsum(products, axis=1)], axis=1)
    for length in range(recording.k):
        for first in range(recording.k - length, -1, -1):
            if (sums[:, first + length] - sums[:, first] == got).all():
                held = _NONE_IN if not length else _ONE_IN if length == 1 else _SOME_IN
                return tr(held, what=text, first=first, last=first + length - 1)
    return text
