"""Files that are never incomplete: written under another name in the same folder, and renamed when complete."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gemmviz.catalogue.user_file import cannot_write


class AtomicFile:
    """A file that is being written.

    Parameters
    ----------
    path
        Its final path; only `keep` replaces a file there.

    Attributes
    ----------
    part
        The path while it is being written: in the same folder, with the same suffix.

    Raises
    ------
    GemmvizError
        When the folder cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.stem}-", suffix=path.suffix)
        except OSError as error:
            raise cannot_write(path, error) from None
        os.close(handle)
        self.part = Path(name)

    def keep(self) -> None:
        """Move the file to its final path.

        Raises
        ------
        GemmvizError
            When it cannot be moved; the unfinished file is then removed.
        """
        try:
            self.part.chmod(self.path.stat().st_mode & 0o777 if self.path.exists() else 0o644)
            self.part.replace(self.path)
        except OSError as error:
            self.drop()
            raise cannot_write(self.path, error) from None

    def drop(self) -> None:
        """Remove the unfinished file."""
        self.part.unlink(missing_ok=True)


@contextmanager
def atomic_file(path: Path) -> Iterator[Path]:
    """Provide a path to write to: at the end the file is moved to `path`; after an error it is removed.

    Raises
    ------
    GemmvizError
        When it cannot be written.
    """
    file = AtomicFile(path)
    try:
        yield file.part
    except BaseException:
        file.drop()
        raise
    file.keep()
