"""How an engine's process is started."""

from dataclasses import dataclass, field
from pathlib import Path

from gemmviz.sandbox.limits import Limits


@dataclass(frozen=True)
class Setting:
    """How an engine's process is started.

    Attributes
    ----------
    scratch
        A folder of its own, which its parent removes.
    limits
        What a stranger's text may use.
    confined
        Whether the process may open only what it needs. Nsight Compute needs more: it talks to what it profiles.
    """

    scratch: Path
    limits: Limits = field(default_factory=Limits)
    confined: bool = True
