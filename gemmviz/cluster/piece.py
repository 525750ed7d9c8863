"""The messages to and from a worker: a piece of work, the reports about it; a cluster and its workers, for users."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from msgspec import Meta

from gemmviz.catalogue.typed_reading import FromZero
from gemmviz.cluster.tls import Tls

MOST_FILES, MOST_FILE_BYTES = 2000, 4 << 20
Name = Annotated[str, Meta(max_length=4096)]


@dataclass(frozen=True)
class Software:
    """The software of one side. Both sides of a cluster must have the same.

    Attributes
    ----------
    gemmviz, distributed
        The versions.
    commit
        The commit of a checkout; None without one.
    """

    gemmviz: Name
    distributed: Name
    commit: Name | None = None


@dataclass(frozen=True)
class Scheduler:
    """The scheduler of a cluster, as a user names it.

    Attributes
    ----------
    address
        As for `gemmviz.cluster.connection.address`.
    ca, certificate, key
        The files of the certificates; all empty without TLS.
    """

    address: Name
    ca: Name = ""
    certificate: Name = ""
    key: Name = ""

    @property
    def tls(self) -> Tls | None:
        """The certificates, or None."""
        return Tls(Path(self.ca), Path(self.certificate), Path(self.key)) if self.ca else None


@dataclass(frozen=True)
class Seat:
    """A worker, as people choose it.

    Attributes
    ----------
    address
        Its address in the cluster.
    host, gpu, uuid, cpu
        Its machine, and the names of its devices; ``gpu`` and ``uuid`` are empty if it has no GPU.
    busy
        Whether it serves a piece.
    """

    address: Name
    host: Name
    gpu: Name
    uuid: Name
    cpu: Name
    busy: bool = field(compare=False)

    @property
    def device(self) -> str:
        """The name of the GPU, or of the processor if there is no GPU."""
        return self.gpu or self.cpu


def free_seat(seats: Sequence[Seat]) -> Seat:
    """Return the first worker that is free, or the first one if all are busy."""
    return next((seat for seat in seats if not seat.busy), seats[0])


@dataclass(frozen=True)
class SentKernel:
    """A kernel of a request.

    Attributes
    ----------
    path
        Its file on the sender's machine; the request names the kernel by it.
    sha256
        Of its whole text, in hexadecimal.
    name
        The name of a shipped kernel: the worker has its text. Empty for any other file.
    text
        The text of any other file.
    """

    path: Name
    sha256: Annotated[str, Meta(min_length=64, max_length=64)]
    name: Name = ""
    text: Annotated[str, Meta(max_length=MOST_FILE_BYTES)] = ""


@dataclass(frozen=True)
class SentFile:
    """A file that a kernel includes: its path on the sender's machine, and its content."""

    path: Name
    content: Annotated[bytes, Meta(max_length=MOST_FILE_BYTES)]


@dataclass(frozen=True)
class SentSources:
    """The texts of a request, and the files that they need to compile elsewhere.

    Attributes
    ----------
    kernels
        All kernels of the request.
    files
        The headers of the kernels that are not shipped.
    repositories
        The folders that contain ``.git``: a search for headers ends there.
    include
        Further folders for headers, as in ``GEMMVIZ_INCLUDE``.
    """

    kernels: Annotated[list[SentKernel], Meta(max_length=MOST_FILES)]
    files: Annotated[list[SentFile], Meta(max_length=MOST_FILES)] = field(default_factory=list)
    repositories: Annotated[list[Name], Meta(max_length=MOST_FILES)] = field(default_factory=list)
    include: Annotated[list[Name], Meta(max_length=MOST_FILES)] = field(default_factory=list)


@dataclass(frozen=True)
class Piece:
    """A request that one worker serves in one engine.

    Attributes
    ----------
    course
        The course that it belongs to: a cancellation stops all pieces of one course.
    number
        Its number in the course: each number is counted once, even if two workers have served it.
    software
        The sender's software.
    request
        One of `gemmviz.engine.messages.Request`, packed. Its texts are empty: they are in `sources`.
    sources
        Its texts.
    deadline_s
        The piece ends after this time, even if the sender can no longer be reached.
    every_s
        The shortest time between two reports about progress.
    samples
        Whether the times of all samples are reported at once, for somebody who watches; else they are in the row.
    """

    course: Annotated[str, Meta(min_length=32, max_length=32)]
    number: FromZero
    software: Software
    request: bytes
    sources: SentSources
    deadline_s: Annotated[float, Meta(gt=0)]
    every_s: Annotated[float, Meta(ge=0)] = 0.5
    samples: bool = False


@dataclass(frozen=True)
class Report:
    """A reply of the engine that serves a piece; the last one is the result of the worker's task.

    Attributes
    ----------
    number
        Of the piece.
    attempt
        Distinguishes the workers, or the repetitions, that served the same piece.
    worker
        Host and name of the worker, for people.
    reply
        One of `gemmviz.engine.messages.Reply`, packed.
    """

    number: FromZero
    attempt: Name
    worker: Name
    reply: bytes
