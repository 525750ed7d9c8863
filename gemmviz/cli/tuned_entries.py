"""The parameters for ``gemmviz bench --tuned``: those kept for the measuring device, and where they were tuned."""

import sys
from collections.abc import Callable

from gemmviz.bench.entries import KernelEntry
from gemmviz.bench.tuning import kept
from gemmviz.bench.tuning.outcome import device_name, params_text
from gemmviz.catalogue.errors import GemmvizError
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.problem import Problem
from gemmviz.cli.driving import EngineDriver
from gemmviz.engine import messages

Entries = list[KernelEntry]
_NAMED = 4


def this_machine(driver: EngineDriver) -> Callable[[str], str]:
    """Return a function that returns the name of this machine's device for a backend, as its engine knows it.

    Raises
    ------
    GemmvizError
        When the engine cannot name the device.
    """
    reply = driver.run(messages.ProbeRequest(1))
    if not isinstance(reply, messages.Probed):
        raise GemmvizError(
            reply.message if isinstance(reply, messages.Failed) else "the engine ended without an answer"
        )
    facts = reply.facts
    return lambda backend: device_name(backend, facts)


def tuned_entries(
    device_of: Callable[[str], str], kernels: list[Kernel], entries: Entries, sizes: list[Problem]
) -> list[tuple[Entries, list[Problem]]]:
    """Return the entries of a bench request with tuned parameters, size by size; print these on standard error.

    Parameters
    ----------
    device_of
        Returns the name of the device that measures the kernels of a backend, as `device_name`.
    kernels, entries
        The kernels and their entries; parameters in an entry are kept.
    sizes
        The sizes to measure at.
    """
    found, faults = kept.kept()
    notes, untuned, jobs = list(faults), dict[str, None](), []
    for problem in sizes:
        with_tuned = []
        for kernel, entry in zip(kernels, entries, strict=True):
            device = device_of(kernel.backend)
            one = kept.nearest(found, kernel, device, [problem])
            with_tuned.append(entry | {"params": one.params | entry["params"]} if one else entry)
            if one:
                notes.append(
                    f"{kernel.name} at {problem}: {params_text(one.params)}, tuned at {one.problem} on {device}"
                )
            elif kept.outdated(found, kernel, device):
                notes.append(
                    f"{kernel.name}: its text changed after tuning, so measured with its defaults: tune it again"
                )
            elif kernel.params:
                untuned[kernel.name] = None
        jobs.append((with_tuned, [problem]))
    if untuned:
        few = ", ".join(list(untuned)[:_NAMED]) + (
            f" and {len(untuned) - _NAMED} more" if len(untuned) > _NAMED else ""
        )
        notes.append(f"not tuned on this device for such a size, so measured with the defaults: {few}")
    for line in dict.fromkeys(notes):
        print(f"gemmviz: {line}", file=sys.stderr)
    return jobs
