"""The places of a recorder's instructions in the source, and its shared arrays: read once, and then kept beside it.

To read the debug information of a library takes longer than to run a small kernel, and its reader takes as long to
import. The kept file is plain typed data (MessagePack) and is checked by its hash, like the library itself.
"""

import hashlib
from contextlib import suppress
from functools import cache, lru_cache
from pathlib import Path

import msgspec

from gemmviz import __version__
from gemmviz.backends.toolchain import build_folder
from gemmviz.sandbox import kept
from gemmviz.simt.instruction_places import CodePlaces

# The files whose change can change the result.
_READERS = (
    *("code_places.py", "debuginfo.py", "instruction_places.py"),
    *("line_table.py", "shared_array.py", "stack_sizes.py"),
)


@lru_cache(maxsize=8)  # a kernel is recorded many times, and a library never changes after it has its name
def code_places(library: Path, source_name: str) -> CodePlaces:
    """Return the places and shared arrays of a recorder.

    Parameters
    ----------
    library
        The result of `gemmviz.simt.build.build`.
    source_name
        The name of the kernel's file; only its lines are kept.

    Raises
    ------
    LookupError
        When the library is not a recorder.
    """
    folder, name = library.parent, f"{library.stem}-{_key(source_name)}"
    if known := kept.find(folder, name):
        with suppress(OSError, msgspec.MsgspecError):
            return _decoder().decode(known.read_bytes())
    from gemmviz.simt.debuginfo import read_debug_info  # late: see above

    found = read_debug_info(library, source_name)
    with suppress(OSError), build_folder() as work:  # if nothing can be written, it is read again the next time
        made = Path(work) / "places.msgpack"
        made.write_bytes(msgspec.msgpack.encode(found))
        kept.keep(made, folder, name)
    return found


def _key(source_name: str) -> str:
    digest = hashlib.sha256(f"{__version__}\n{source_name}\n".encode())
    for reader in _READERS:
        found = Path(__file__).with_name(reader).stat()
        digest.update(f"{reader} {found.st_size} {found.st_mtime_ns}\n".encode())
    return digest.hexdigest()[:24]


@cache
def _decoder() -> msgspec.msgpack.Decoder[CodePlaces]:
    return msgspec.msgpack.Decoder(CodePlaces)
