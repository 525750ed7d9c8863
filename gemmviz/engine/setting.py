"""The start conditions of an engine's process."""

from dataclasses import dataclass, field
from pathlib import Path

from gemmviz.sandbox.limits import Limits


@dataclass(frozen=True)
class Setting:
    """The start conditions of an engine's process.

    Attributes
    ----------
    scratch
        Its own folder, which its parent removes.
    limits
        The resources that a stranger's text may use.
    confined
        Whether the process may open only the files it needs. Nsight Compute needs more: it communicates with another
        process.
    records
        Whether the first request will be a recording: the process imports the modules for it before the request
        arrives.
    """

    scratch: Path
    limits: Limits = field(default_factory=Limits)
    confined: bool = True
    records: bool = False
