"""A terminal that cannot write every letter: commands print others in their place."""

import os
import subprocess
import sys

import pytest


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_a_command_prints_its_figures_in_any_encoding(encoding):
    environment = os.environ | {"PYTHONIOENCODING": encoding}
    command = [sys.executable, "-m", "gemmviz", "record", "gputiled", "--set", "TS=4", "--size", "16"]
    done = subprocess.run(command, env=environment, capture_output=True)
    assert done.returncode == 0, done.stderr
    # A thread loads 2 elements and stores 2 for each of 4 tiles, reads 2 for each k, and stores its sum: 49 x 256.
    assert b"C as recorded is right in every element; 12 544 accesses" in done.stdout
