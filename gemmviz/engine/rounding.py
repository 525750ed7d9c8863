"""Whether the C of a recording with random numbers differs from A B by more than rounding explains."""

import numpy as np

from gemmviz.bench.error_bound import of_kernel
from gemmviz.bench.verify import Reference, check
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.catalogue.whole_numbers import c_before, result_for
from gemmviz.language import tr
from gemmviz.language.numbers import thousands
from gemmviz.trace.recording.recording import Recording


def rounding_fault(kernel: Kernel, recording: Recording) -> str:
    """Return a sentence if elements of C are further from A B than the bound of rounding errors; else an empty text.

    Parameters
    ----------
    kernel
        Its types decide the bound: `gemmviz.bench.error_bound`.
    recording
        Of this kernel, with random numbers as A and B.
    """
    problem = Problem(recording.m, recording.n, recording.k)
    job = launch(kernel, problem, recording.params)
    expected = result_for(job, recording.product)
    magnitude = abs(job.alpha) * (np.abs(recording.a) @ np.abs(recording.b))
    if job.beta and not kernel.zeroed:
        magnitude = magnitude + abs(job.beta * c_before(problem.shape("C")))
    verdict = check(recording.c, Reference(expected, magnitude, of_kernel(kernel, problem)))
    if verdict.ok:
        return ""
    row, column = verdict.worst_index
    return tr(
        "{wrong} of {all} elements of C are further from A B than rounding in {type} explains; the worst is C[{row}, "
        "{column}] = {got}, and it should be {wanted}",
        wrong=thousands(verdict.wrong),
        all=thousands(verdict.elements),
        type=kernel.accumulate,
        row=row,
        column=column,
        got=f"{verdict.got:.4g}",
        wanted=f"{verdict.wanted:.4g}",
    )
