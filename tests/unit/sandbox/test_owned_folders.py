"""Folders for temporary files: a later process removes those of a process that was killed, and no other ones."""

import errno
import fcntl
import os
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest

from gemmviz.sandbox import owned_folders

ROOT = Path(owned_folders.__file__).parents[2]
MAKES = "print(owned_folders.make(), flush=True)"


@pytest.fixture
def place(tmp_path, monkeypatch):
    """The place for temporary files of this process, and of those that it starts."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


@contextmanager
def process(code):
    """A process that runs a line of code, and then waits to be killed."""
    line = f"from gemmviz.sandbox import owned_folders; from pathlib import Path; {code}; input()"
    settings = os.environ | {"PYTHONPATH": str(ROOT)}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", line], env=settings, text=True, **pipes) as running:
        try:
            yield running, Path(running.stdout.readline().strip())
        finally:
            running.kill()


def look(place):
    """Remove what belongs to nobody, as the first call of `make` in a new process does."""
    owned_folders.remove_abandoned.cache_clear()
    owned_folders.remove_abandoned(place)


def test_the_folder_of_a_killed_process_is_removed_by_the_next_process(place):
    with process(MAKES) as (running, folder):
        (folder / "sources").mkdir()
        (folder / "sources" / "mine.cu").write_text("")
        look(place)
        assert (folder / "sources" / "mine.cu").exists()
        running.kill()
        running.wait()
        assert folder.exists()
    with process(MAKES) as (_, other):
        assert list(place.iterdir()) == [other]


def test_a_folder_stays_as_long_as_one_of_its_processes_lives(place):
    with process(MAKES) as (first, folder):
        with process(f"owned_folders.hold(Path({str(folder)!r})); print(flush=True)") as (second, _):
            first.kill()
            first.wait()
            look(place)
            assert folder.exists()
            second.kill()
            second.wait()
        look(place)
        assert not folder.exists()


def test_a_folder_that_is_removed_has_no_lock_any_more(place):
    folder = owned_folders.make()
    assert folder.parent == place and folder in owned_folders._held
    owned_folders.remove(folder)
    assert not folder.exists() and folder not in owned_folders._held


def test_folders_of_others_stay(place):
    prefix = owned_folders._prefix()
    elsewhere = place / "gemmviz-000000-abcdefgh"
    open_to_all = place / f"{prefix}abcdefgh"
    aim = place / "aim"
    for folder in (elsewhere, open_to_all, aim):
        folder.mkdir(mode=0o700)
    open_to_all.chmod(0o755)
    (place / f"{prefix}link").symlink_to(aim)
    (place / f"{prefix}file").write_text("")
    before = sorted(place.iterdir())
    look(place)
    assert sorted(place.iterdir()) == before
    open_to_all.chmod(0o700)
    look(place)
    assert not open_to_all.exists()


def test_a_folder_that_another_process_has_just_removed_is_made_again(place, monkeypatch):
    made, make = [], tempfile.mkdtemp

    def removed_at_first(prefix):
        made.append(make(prefix=prefix))
        if len(made) == 1:
            Path(made[0]).rmdir()
        return made[-1]

    monkeypatch.setattr(tempfile, "mkdtemp", removed_at_first)
    folder = owned_folders.make()
    assert [str(folder)] == made[1:] and folder.exists()
    owned_folders.remove(folder)


def test_a_folder_that_is_removed_while_its_lock_is_taken_is_not_held(place, monkeypatch):
    folder, take = Path(tempfile.mkdtemp()), fcntl.flock

    def removed_before(descriptor, how):
        folder.rmdir()
        take(descriptor, how)

    monkeypatch.setattr(fcntl, "flock", removed_before)
    assert not owned_folders.hold(folder) and folder not in owned_folders._held


def test_without_locks_only_the_owner_removes_a_folder(place, monkeypatch):
    def none(descriptor, how):
        raise OSError(errno.ENOTSUP, os.strerror(errno.ENOTSUP))

    monkeypatch.setattr(fcntl, "flock", none)
    folder = owned_folders.make()
    look(place)
    assert folder.exists()
    owned_folders.remove(folder)
    assert not folder.exists()
