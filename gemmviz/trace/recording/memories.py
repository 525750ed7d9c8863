"""Which GPU's memory an access of a product on several GPUs goes to."""

import numpy as np

from gemmviz.catalogue.matrices import A
from gemmviz.trace.recording.accesses import Column
from gemmviz.trace.recording.recording import Recording


def owner_of_a(recording: Recording, element: Column) -> Column:
    """Return the GPU that owns each element of A, for a product whose GPUs have different rows."""
    assert recording.sharing is not None
    owner: Column = recording.arrays[A].cells(element)[0] * recording.sharing.devices // recording.m
    return owner


def gpu_of(recording: Recording, rows: Column) -> Column:
    """Return the GPU that makes each access of some rows of the recording."""
    sharing, log = recording.sharing, recording.accesses
    assert sharing is not None
    launch = log.block[rows].astype(np.int64) // (recording.blocks // len(sharing.launches))
    gpu: Column = np.array([device for device, _ in sharing.launches], np.int64)[launch]
    return gpu


def is_elsewhere(recording: Recording, rows: Column) -> Column:
    """Return whether each access of some rows goes to the memory of another GPU, by the kernel's own pointers."""
    elsewhere: Column = np.array([site.elsewhere for site in recording.sites] or [False])[recording.accesses.site[rows]]
    return elsewhere


def memory_of_a(recording: Recording, rows: Column, element: Column) -> Column:
    """Return the GPU in whose memory elements of A are accessed.

    Parameters
    ----------
    recording
        Of a product on several GPUs.
    rows, element
        The row of the recording, and the element, of each access to A.
    """
    assert recording.sharing is not None
    to_owner = is_elsewhere(recording, rows) | (recording.sharing.crossing == "reads")
    memory: Column = np.where(to_owner, owner_of_a(recording, element), gpu_of(recording, rows))
    return memory
