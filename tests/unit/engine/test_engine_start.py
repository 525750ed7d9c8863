"""The folders for temporary files of an engine's process."""

import os
import tempfile
from pathlib import Path

import pytest

from gemmviz.engine import child, start
from gemmviz.engine.setting import Setting
from gemmviz.sandbox import engine, owned_folders
from gemmviz.sandbox.limits import Limits


@pytest.mark.parametrize("confined", [True, False])
def test_nsight_compute_gets_the_common_folder_and_a_sandbox_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, confined: bool
) -> None:
    """Processes of Nsight Compute wait for each other by a file there, so that only one profiles at a time."""
    common, own = tmp_path / "common", tmp_path / "own"
    monkeypatch.setenv("TMPDIR", str(common))
    monkeypatch.setattr(tempfile, "tempdir", None)
    for module, name in ((os, "setsid"), (owned_folders, "hold"), (engine, "confine"), (child, "main")):
        monkeypatch.setattr(module, name, lambda *_: None)
    monkeypatch.setattr(start, "_caches", list)
    monkeypatch.setattr(Path, "write_text", lambda *_, **__: 0)
    start.main(None, Setting(own, Limits(), confined, False))  # type: ignore[arg-type]  # the connection is not used
    assert tempfile.gettempdir() == str(own)
    assert os.environ["TMPDIR"] == str(own if confined else common)
