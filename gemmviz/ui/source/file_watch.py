"""Watches files that are edited in other programs: editors rename, replace and rewrite them in many ways."""

from collections.abc import Iterable
from pathlib import Path

from PySide6.QtCore import QFileSystemWatcher, QObject, QTimer, Signal

_SETTLED_MS = 200
# An editor that replaces a file removes it first.
_GONE_AFTER = 4


class FileWatch(QObject):
    """Announces that a file may have changed, some time after the last write, or that it is gone."""

    changed = Signal(object)
    """A path: its file may have another content."""
    gone = Signal(object)
    """A path: there is no file any more. It is watched further."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._watcher = QFileSystemWatcher(self)
        self._paths: set[Path] = set()
        self._missing: dict[Path, int] = {}
        self._stamps: dict[Path, tuple[int, int, int] | None] = {}
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_SETTLED_MS)
        self._timer.timeout.connect(self._look)
        self._watcher.fileChanged.connect(self._soon)
        self._watcher.directoryChanged.connect(self._soon)

    def set_paths(self, paths: Iterable[Path]) -> None:
        """Choose the files to watch."""
        self._paths = set(paths)
        self._stamps = {path: self._stamps.get(path, _stamp(path)) for path in self._paths}
        self._missing = {path: n for path, n in self._missing.items() if path in self._paths}
        self._watch()

    def stop(self) -> None:
        """Stop watching."""
        self.set_paths(())
        self._timer.stop()

    def _soon(self, *_: object) -> None:
        if self._paths:
            self._timer.start()

    def _watch(self) -> None:
        """Watch the files, and their folders: a replaced file is no longer the watched one."""
        wanted = {str(path) for path in self._paths if path.exists()}
        wanted |= {str(path.parent) for path in self._paths if path.parent.exists()}
        now = {*self._watcher.files(), *self._watcher.directories()}
        if now - wanted:
            self._watcher.removePaths(sorted(now - wanted))
        if wanted - now:
            self._watcher.addPaths(sorted(wanted - now))

    def _look(self) -> None:
        self._watch()
        for path in sorted(self._paths):
            stamp = _stamp(path)
            if stamp is None:
                self._missing[path] = self._missing.get(path, 0) + 1
                if self._missing[path] == _GONE_AFTER:
                    self.gone.emit(path)
                continue
            was_missing = self._missing.pop(path, 0)
            if stamp != self._stamps.get(path) or was_missing:
                self._stamps[path] = stamp
                self.changed.emit(path)
        if any(count < _GONE_AFTER for count in self._missing.values()):
            self._timer.start()


def _stamp(path: Path) -> tuple[int, int, int] | None:
    """Return figures that differ between two contents of a file; None if there is no file."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size
