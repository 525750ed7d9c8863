"""Elements of C that no thread writes, or that several threads write."""

from collections.abc import Iterator

import numpy as np

from gemmviz.catalogue.matrices import C
from gemmviz.catalogue.plain_code import plain_code
from gemmviz.language import tr, trn
from gemmviz.language.numbers import thousands
from gemmviz.trace.hazards.access_index import AccessIndex, Flags, Ints, groups
from gemmviz.trace.hazards.finding import Finding
from gemmviz.trace.hazards.hazard_text import cell, element_name, who
from gemmviz.trace.hazards.meant_lines import head_end, line_for_result
from gemmviz.trace.recording.recording import Recording


def coverage(recording: Recording, t: AccessIndex, raced: bool) -> Iterator[Finding]:
    """Look for elements of C that no thread writes, or that several threads write."""
    log = recording.accesses
    in_c = t.write & (log.array[t.row] == C) & ~t.atomic
    written = np.zeros(recording.arrays[C].size, bool)
    all_writes = t.write & (log.array[t.row] == C)
    written[t.slot[all_writes] - t.base[C]] = True
    missing = np.flatnonzero(~written)
    if len(missing) and recording.scope is None:  # else the blocks that were not recorded write the rest
        row, column = cell(recording.arrays[C], int(missing[0]))
        sites = log.site[t.row[all_writes]]
        meant = 0 if len(sites) else line_for_result(recording)
        line = recording.sites[int(np.bincount(sites).argmax())].line if len(sites) else meant or _head(recording)
        values = {"count": thousands(len(missing)), "all": thousands(len(written)), "first": f"C[{row}, {column}]"}
        if len(sites) and line:
            text = trn(
                "{count} of {all} elements of C is never written: {first}; line {line} writes the others",
                "{count} of {all} elements of C are never written, the first is {first}; line {line} writes the others",
                len(missing),
                line=line,
                **values,
            )
        elif meant:
            text = trn(
                "{count} of {all} elements of C is never written: {first}; line {line} is there to write it",
                "{count} of {all} elements of C are never written, the first is {first}; line {line} is there to write "
                "them",
                len(missing),
                line=line,
                **values,
            )
        else:
            text = trn(
                "{count} of {all} elements of C is never written: {first}",
                "{count} of {all} elements of C are never written, the first is {first}",
                len(missing),
                **values,
            )
        yield Finding("element of C never written", line, text, len(missing), array="C")
    rows = np.flatnonzero(in_c)
    first, last = groups((t.slot[rows],))
    both = (t.block[rows[first]] != t.block[rows[last]]) | (t.thread[rows[first]] != t.thread[rows[last]])
    both[both] = ~_added(t, rows[last[both]])
    if both.any() and not raced:
        one, other = int(t.row[rows[first[both][0]]]), int(t.row[rows[last[both][0]]])
        line = recording.sites[int(log.site[one])].line
        text = tr(
            "{element} is written by {one} and by {other}",
            element=element_name(recording, one),
            one=who(recording, one),
            other=who(recording, other),
        )
        other_line = recording.sites[int(log.site[other])].line
        yield Finding("element of C written by two threads", line, text, int(both.sum()), other_line, "C")


def _added(t: AccessIndex, writes: Ints) -> Flags:
    """Return for each write whether its thread has read the element before: then it adds to another thread's value."""
    mine = np.arange(len(writes))
    threads = int(t.thread.max(initial=0)) + 1
    who = t.block * threads + t.thread
    first = np.searchsorted(t.slot, t.slot[writes], "left")
    found = np.zeros(len(writes), bool)
    while len(mine):  # the accesses of an element are adjacent
        at = first[mine]
        found[mine] = ~t.write[at] & (who[at] == who[writes[mine]]) & (t.row[at] < t.row[writes[mine]])
        first[mine] += 1
        mine = mine[~found[mine] & (first[mine] < writes[mine])]
    return found


def _head(recording: Recording) -> int:
    """Return the line on which the kernel's function begins, 0 if it is not found."""
    code = plain_code(recording.text)
    end = head_end(recording, code)
    return code[:end].count("\n") + 1 if end else 0
