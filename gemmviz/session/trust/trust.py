"""The texts that may run in a window: those that come with gemmviz, and those that this user has allowed or typed."""

import os
import stat
import threading
from collections.abc import Iterable
from pathlib import Path

from gemmviz.catalogue.errors import GemmvizError
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.user_file import UnreadableFile, read_source
from gemmviz.engine.consent import LIBRARY, base_path, is_change
from gemmviz.language import tr
from gemmviz.session.trust.source_hash import own_headers, source_hash
from gemmviz.session.trust.trust_store import Kept, TrustStore


class Trust:
    """Decides which texts may be compiled and run; a `gemmviz.engine.consent.Consent`, called from several threads.

    Parameters
    ----------
    shipped
        The kernels that come with gemmviz.
    store
        The user's earlier consent, and its file.
    """

    def __init__(self, shipped: Iterable[Kernel] = (), store: TrustStore | None = None) -> None:
        self.store = store or TrustStore()
        self._shipped = {kernel.path: kernel.text for kernel in shipped}
        self._lock = threading.RLock()
        self._here: set[str] = set()
        """Hashes of texts that may run until this program ends."""
        self._foreign: set[str] = set()
        """Hashes of foreign texts that were not allowed: an undo in the editor cannot allow them."""
        self._bases: dict[Path, str] = {}
        """The last allowed text of each file: the base of declared changes."""

    @property
    def kept(self) -> Kept:
        """The user's lasting consent."""
        with self._lock:
            return self.store.read()

    def allows(self, path: Path, text: str) -> bool:
        """Return whether a text may run: see `gemmviz.engine.consent.Consent`."""
        with self._lock:
            if path.suffix == LIBRARY or self._is_shipped(path, text):
                return True
            sha256, _ = source_hash(path, text)
            if sha256 in self._here or self._is_kept(sha256, path, text) or self._is_change(path, text):
                self._bases[path] = text
                return True
            self._foreign.add(sha256)
            return False

    def allow(self, path: Path, text: str) -> None:
        """Allow a text to run from now on, in later windows too.

        A text with an include that cannot be determined may run in this window only.

        Raises
        ------
        GemmvizError
            When the consent cannot be kept; the text may still run in this window.
        """
        with self._lock:
            if self._is_shipped(path, text):
                return
            sha256, plain = source_hash(path, text)
            self._bases[path] = text
            if not plain:
                self._here.add(sha256)
                return
            try:
                self.store.add_text(sha256, str(path))
            except GemmvizError:
                self._here.add(sha256)
                raise

    def allow_here(self, path: Path, text: str) -> None:
        """Allow a text to run until this program ends."""
        with self._lock:
            self._here.add(source_hash(path, text)[0])

    def typed(self, path: Path, before: str, after: str) -> None:
        """Take an edit of a text in the editor: if the old text may run, the new one may, too.

        Parameters
        ----------
        path
            The text's file.
        before, after
            The text in the editor before and after the edit.
        """
        with self._lock:
            sha256, _ = source_hash(path, after)
            if sha256 not in self._foreign and self.allows(path, before):
                self._here.add(sha256)

    def allowed_before(self, path: Path) -> bool:
        """Return whether another text of a file was allowed in this window."""
        with self._lock:
            return path in self._bases

    def folder_of(self, path: Path, text: str) -> Path | None:
        """Return the folder whose trust would allow a text to run; None if the text differs from its file's."""
        return path.resolve().parent if _on_disk(path) == text else None

    def allow_folder(self, folder: Path) -> None:
        """Allow the files in a folder, or below it, to run from now on.

        Raises
        ------
        GemmvizError
            When there is no such folder, every user can write into it, or it cannot be kept.
        """
        with self._lock:
            folder = folder.resolve()
            fault = _folder_fault(folder)
            if fault:
                raise GemmvizError(fault)
            self.store.add_folder(folder)

    def forget(self) -> int:
        """Drop all consent, also for this window; return the number of texts and folders that were kept."""
        with self._lock:
            self._here.clear()
            self._bases.clear()
            return self.store.forget()

    def _is_shipped(self, path: Path, text: str) -> bool:
        base = base_path(path)
        known = self._shipped.get(base) if base is not None else None
        if self._shipped.get(path) == text or (known is not None and is_change(path, text, known)):
            return True
        # The same text in another folder is equal only if that folder has no header that it would include.
        same = any(known == text and at.suffix == path.suffix for at, known in self._shipped.items())
        return same and not own_headers(path, text)

    def _is_kept(self, sha256: str, path: Path, text: str) -> bool:
        kept = self.store.read()
        if any(one.sha256 == sha256 for one in kept.texts):
            return True
        if not kept.folders:
            return False
        real = path.resolve()
        inside = [folder for folder in kept.folders if real.is_relative_to(folder) and not _folder_fault(folder)]
        # A state file may claim that any text belongs to a file of the folder.
        return bool(inside) and _on_disk(path) == text

    def _is_change(self, path: Path, text: str) -> bool:
        base = base_path(path)
        if base is None:
            return False
        known = self._bases.get(base) or _on_disk(base)
        return known is not None and is_change(path, text, known) and self.allows(base, known)


def _on_disk(path: Path) -> str | None:
    try:
        return read_source(path) if path.is_file() else None
    except (OSError, UnreadableFile):
        return None


def _folder_fault(folder: Path) -> str:
    """Return the reason why a folder cannot be trusted; empty if it can be."""
    try:
        found = folder.stat()
    except OSError as error:
        return tr("cannot open {path}: {reason}", path=folder, reason=error.strerror or error)
    if not stat.S_ISDIR(found.st_mode):
        return tr("{path} is not a folder", path=folder)
    if found.st_mode & stat.S_IWOTH:
        return tr("{path} cannot be trusted: every user can write into it", path=folder)
    if found.st_uid not in (0, os.getuid()):
        return tr("{path} cannot be trusted: it belongs to another user", path=folder)
    if Path.home().resolve().is_relative_to(folder):
        return tr("{path} cannot be trusted: it contains all of your files, also downloads", path=folder)
    return ""
