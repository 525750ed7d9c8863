"""The sentences of ``gemmviz bench`` about the parameters that schedules chose."""

from collections.abc import Iterable

from gemmviz.bench.document import Document
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.problem import Problem
from gemmviz.catalogue.schedule import made_for
from gemmviz.catalogue.scheduled import why


def reasons(document: Document, kernels: Iterable[Kernel]) -> list[str]:
    """Return why the kernels with a schedule have their tiles, a line for each row with a schedule's choice.

    Parameters
    ----------
    document
        A result file: the schedules are made for its device.
    kernels
        The kernels of its rows.
    """
    device = document["device"]
    made_for(device["sms"] if device else None)
    known = {kernel.name: kernel for kernel in kernels if kernel.schedule is not None}
    found = []
    for row in document["results"]:
        kernel = known.get(row["kernel"])
        size = row["M"], row["N"], row["K"]
        if kernel and (reason := why(kernel, Problem(*size), row["params"])):
            found.append(f"{kernel.name} at {' x '.join(map(str, size))}: {reason}")
    return list(dict.fromkeys(found))
