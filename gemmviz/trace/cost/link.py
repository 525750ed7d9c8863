"""The traffic of the links between the GPUs that compute a product together (*recorded*)."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gemmviz.catalogue.matrices import A
from gemmviz.language import tr
from gemmviz.trace.distinct import distinct
from gemmviz.trace.recording.recording import Recording


@dataclass(frozen=True)
class LinkUse:
    """The rows of A that a GPU reads and another one owns.

    Attributes
    ----------
    device, owner
        The GPUs.
    once_bytes
        The elements that are read, each once: a copy brings these over the link.
    read_bytes
        All reads of them: these would cross the link if each read went to the owner's memory.
    rows
        int64, the rows of the recording that read them.
    """

    device: int
    owner: int
    once_bytes: int
    read_bytes: int
    rows: npt.NDArray[np.int64]


def links(recording: Recording) -> list[LinkUse]:
    """Return the reads of each GPU from each other one's rows; empty for one GPU, or where each GPU holds all of A."""
    sharing, log = recording.sharing, recording.accesses
    if sharing is None or not sharing.crossing:
        return []
    rows = np.flatnonzero((log.array == A) & ~log.write)
    at, element = recording.elements(rows)
    rows, owners = rows[at], recording.arrays[A].cells(element)[0] * sharing.devices // recording.m
    launch_of = log.block[rows].astype(np.int64) // (recording.blocks // len(sharing.launches))
    devices, itemsize = np.array([device for device, _ in sharing.launches])[launch_of], recording.arrays[A].itemsize
    found = []
    for device in range(sharing.devices):
        for owner in ((device + turn) % sharing.devices for turn in range(1, sharing.devices)):
            its = np.flatnonzero((devices == device) & (owners == owner))
            once = len(distinct(element[its])) * itemsize
            found.append(LinkUse(device, owner, once, len(its) * itemsize, distinct(rows[its])))
    return found


def sentence(recording: Recording) -> str:
    """Return the traffic of the links in a recording, in a sentence; empty for one GPU."""
    if recording.sharing is None:
        return ""
    found, devices = links(recording), recording.sharing.devices
    if not found:
        return tr("{devices} GPUs, each with all of A: nothing crosses the links between them", devices=devices)
    values = {
        "devices": devices,
        "once": f"{sum(one.once_bytes for one in found):,}",
        "read": f"{sum(one.read_bytes for one in found):,}",
    }
    if recording.sharing.crossing == "reads":
        return tr(
            "{devices} GPUs: {read} bytes of A cross the links between them, as each read goes to the owner's memory; "
            "copies would bring {once} bytes",
            **values,
        )
    return tr(
        "{devices} GPUs: {once} bytes of A cross the links between them; if each read went to the owner's memory, "
        "{read} bytes would",
        **values,
    )
