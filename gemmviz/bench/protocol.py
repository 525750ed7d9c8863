"""The protocol of a measurement."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

import msgspec

from gemmviz.bench.document import Rules
from gemmviz.catalogue.errors import GemmvizError
from gemmviz.catalogue.typed_reading import read_as


@dataclass(frozen=True)
class Protocol:
    """The rules of a measurement; every field is written into the result file.

    Attributes
    ----------
    seed
        The seed of the random inputs.
    rounds
        The number of rounds in which the kernels of a request are measured in turns.
    warmup_launches, warmup_s
        A kernel is launched at least this often and at least this long before anything is timed, in every round.
    min_samples, min_time_s, target_iqr
        Sampling continues until there are this many samples, this many seconds have passed, and the interquartile range
        is below this share of the median. The limits are for all rounds together; each round does its part.
    slow_s
        If a launch takes longer than this, one sample is enough.
    timeout_s
        The time limit of sampling, for all rounds together; the result then gets the flag "noisy".
    deadline_s
        The time limit of one launch; a longer one counts as endless.
    """

    seed: int = 2026
    rounds: int = 3
    warmup_launches: int = 3
    warmup_s: float = 0.2
    min_samples: int = 20
    min_time_s: float = 0.5
    target_iqr: float = 0.01
    slow_s: float = 10.0
    timeout_s: float = 10.0
    deadline_s: float = 60.0

    @classmethod
    def quick(cls) -> "Protocol":
        """Return the rules for a first impression: fewer samples, less accuracy."""
        return cls(rounds=1, warmup_s=0.05, min_samples=5, min_time_s=0.1, target_iqr=0.05, timeout_s=2.0)

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> "Protocol":
        """Return the protocol with some fields set to values from another process.

        Raises
        ------
        GemmvizError
            For a field that does not exist, or a value that is not a positive number.
        """
        # Checked by hand, because all values of a request are floats.
        types = {f.name: int if f.type in (int, "int") else float for f in fields(cls)}
        values: dict[str, float] = {}
        for name, value in plain.items():
            if name not in types:
                raise GemmvizError(f"the protocol has no field {name!r}")
            if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
                raise GemmvizError(f"protocol: {name} = {value!r} is not a positive number")
            values[name] = types[name](value)
        if values.get("rounds") == 0:
            raise GemmvizError("protocol: rounds = 0: without a round there is nothing to measure")
        return msgspec.convert(values, cls)

    def to_plain(self) -> dict[str, float]:
        """Return all fields."""
        return asdict(self)

    def describe(self) -> Rules:
        """Return the part ``protocol`` of a result file."""
        rules = {
            "distribution": "uniform in [-1, 1); whole numbers from -4 to 4 for integer types",
            "l2": (
                "GPU, cold: twice its size cleared before each sample; GPU, hot: batches, nothing cleared; "
                "CPU: one pass only, caches left as the last launch left them"
            ),
            "order": f"the kernels of one size take turns, {self.rounds} times",
            "stop_rule": (
                f"at least {self.min_samples} samples and {self.min_time_s:g} s and an interquartile range below "
                f"{self.target_iqr:.1%} of the median, over all rounds; or one sample where a launch takes more than "
                f"{self.slow_s:g} s; or {self.timeout_s:g} s, flagged noisy"
            ),
        }
        return read_as(asdict(self) | rules, Rules)
