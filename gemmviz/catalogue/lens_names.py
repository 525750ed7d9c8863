"""The names of the lenses, as front matter and lessons write them."""

from typing import Literal, get_args

LensName = Literal[
    "coalescing",
    "banks",
    "memory order",
    "thread tile",
    "pipeline",
    "stream-K",
    "tensor core",
    "reuse",
    "number format",
    "owners",
]
LENSES: tuple[LensName, ...] = get_args(LensName)
