"""What processes of tests share, and what a file leaves to none."""

from functools import cache
from types import ModuleType

import pytest
import shared_recordings


def test_what_is_kept_is_found_under_its_key_only(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(shared_recordings.VARIABLE, str(tmp_path))
    made: list[int] = []

    def make() -> str:
        made.append(1)
        return "made"

    assert [shared_recordings.once(make, "a", 1) for _ in range(2)] == ["made"] * 2 and len(made) == 1
    assert shared_recordings.kept("a", 1) == "made" and shared_recordings.kept("a", 2) is None
    monkeypatch.delenv(shared_recordings.VARIABLE)
    assert shared_recordings.kept("a", 1) is None and shared_recordings.once(make, "a", 1) == "made"


def test_the_caches_of_a_file_are_emptied_and_not_those_that_it_imports() -> None:
    def one(name: str) -> str:
        return name

    own, imported = cache(one), cache(one)
    file = ModuleType("test_file")
    own.__module__, imported.__module__ = "test_file", "recordings"
    file.own, file.imported = own, imported
    own("a"), imported("a")
    shared_recordings.forget(file)
    assert (own.cache_info().currsize, imported.cache_info().currsize) == (0, 1)
