"""The ladder that gemmviz ships, kept in the user's cache as it was read, until a kernel or its reader changes.

The kept kernels are plain typed data (MessagePack). Their texts must be those of the files, and nobody but the user may
write into the cache (`gemmviz.data.cache_folder`).
"""

import hashlib
import os
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from gemmviz import __version__, data
from gemmviz.catalogue.errors import GemmvizError
from gemmviz.catalogue.expression import checked_later
from gemmviz.catalogue.kernel import Kernel, read

_KEY_BYTES = hashlib.sha256().digest_size


def find(files: Iterable[Path]) -> list[Kernel] | None:
    """Return the kernels of some files as they were kept; None if they have to be read.

    Parameters
    ----------
    files
        The kernel files, in the order of the kernels.
    """
    try:
        texts = _texts(files)
        kept = _file(texts).read_bytes()
        if kept[:_KEY_BYTES] != _key(texts):
            return None
        with checked_later():
            kernels: list[Kernel] = _decoder().decode(kept[_KEY_BYTES:])
    except (OSError, GemmvizError, msgspec.MsgspecError):
        return None
    return kernels if {kernel.path: kernel.text for kernel in kernels} == texts else None


def keep(kernels: list[Kernel]) -> None:
    """Keep kernels that were read without a fault; where nothing can be written, they are read again the next time."""
    texts = {kernel.path: kernel.text for kernel in kernels}
    with suppress(OSError):
        file = _file(texts)
        handle, name = tempfile.mkstemp(dir=file.parent, prefix=".ladder-")
        try:
            with os.fdopen(handle, "wb") as part:
                part.write(_key(texts) + msgspec.msgpack.encode(kernels, enc_hook=str))
            Path(name).replace(file)
        finally:
            Path(name).unlink(missing_ok=True)


def _texts(files: Iterable[Path]) -> dict[Path, str]:
    return {file: read(file) for file in files}


def _file(texts: dict[Path, str]) -> Path:
    """Return where the ladder of these files is kept: each installation has one file."""
    folder, _ = data.cache_folder("ladder")
    place = hashlib.sha256(str(data.root("kernels")).encode()).hexdigest()[:16]
    return folder / f"{place}.msgpack"


def _key(texts: dict[Path, str]) -> bytes:
    """Return a digest of all that the kernels depend on: their files, and the code that reads these."""
    digest = hashlib.sha256(__version__.encode())
    for path, text in texts.items():
        for part in (str(path).encode(), text.encode()):
            digest.update(len(part).to_bytes(8, "big") + part)
    for reader in sorted(Path(__file__).parent.glob("*.py")):
        found = reader.stat()
        digest.update(f"{reader.name} {found.st_size} {found.st_mtime_ns}\n".encode())
    return digest.digest()


@cache
def _decoder() -> msgspec.msgpack.Decoder[list[Kernel]]:
    return msgspec.msgpack.Decoder(list[Kernel], dec_hook=_path)


def _path(form: type, value: Any) -> Any:
    """Return the value of the only type here that MessagePack has not."""
    return form(value)
