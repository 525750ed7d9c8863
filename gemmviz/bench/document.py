"""The head of a result file: the machine, gemmviz itself, and the rules of measuring."""

from typing import Annotated, Literal, NotRequired, TypedDict

from msgspec import Meta

from gemmviz.backends.driver import DeviceFacts
from gemmviz.backends.environment import Environment
from gemmviz.bench.row import Counts, Profile, Row
from gemmviz.catalogue.typed_reading import FromOne, FromZero, Quantity


class Rules(TypedDict):
    """The rules of the measurement; ``runs`` only in a reference that combines several runs."""

    seed: int
    rounds: FromOne
    warmup_launches: FromZero
    warmup_s: Quantity
    min_samples: FromZero
    min_time_s: Quantity
    target_iqr: Quantity
    slow_s: NotRequired[Quantity]
    timeout_s: Quantity
    deadline_s: NotRequired[Quantity]
    distribution: NotRequired[str]
    l2: NotRequired[str]
    order: NotRequired[str]
    stop_rule: str
    runs: NotRequired[dict[str, dict[str, Quantity | str | None]]]


class AppFacts(TypedDict):
    """The version of gemmviz; commit and state of a checkout, else None."""

    version: str
    git_sha: str | None
    dirty: bool | None


class Measured(TypedDict):
    """The machine on which figures were measured; the engine's probe has the same parts."""

    env: Annotated[Environment, Meta(description="the machine, as far as it is known")]
    device: Annotated[DeviceFacts | None, Meta(description="the GPU; null where there is none")]


class Host(Measured):
    """One machine of a cluster; with several GPUs, it is one per GPU."""

    host: Annotated[str, Meta(description="the name of the machine")]


class Machine(Measured):
    """The machine, the software and the rules with which figures were measured."""

    started_utc: Annotated[str, Meta(extra_json_schema={"format": "date-time"})]
    argv: list[str]
    app: AppFacts
    protocol: Rules


class Document(Machine):
    """The file that `gemmviz bench --json` writes: seconds, rates in GFLOPS (1e9 operations per second) and in GB/s."""

    schema_version: Literal[2]
    run_id: Annotated[str, Meta(extra_json_schema={"pattern": "^[0-9a-f]{32}$"})]
    results: list[Row]
    recordings: NotRequired[list[Counts]]
    profiles: NotRequired[list[Profile]]
    machines: NotRequired[
        Annotated[
            list[Host],
            Meta(description="only where a cluster measured: all machines; env and device are those of the first"),
        ]
    ]
