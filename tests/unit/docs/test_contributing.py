"""The table of CONTRIBUTING of subjects: each file exists, and defines the names in brackets."""

import re
from pathlib import Path

import pytest

HOUSE = Path(__file__).parents[3]
TEXT = (HOUSE / "CONTRIBUTING.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| [^|]+ \| (`.+) \|$", TEXT.split("Where to find:")[1].split("\n\nWords:")[0], re.MULTILINE)
PLACES = [
    (path, tuple(re.findall(r"`(\w+)`", names)))
    for row in ROWS
    for path, names in re.findall(r"`([\w/]+(?:\.py|/))`(?: \(([^)]*)\))?", row)
]


@pytest.mark.parametrize(("path", "names"), PLACES, ids=[path for path, _ in PLACES])
def test_what_the_table_names_is_there(path, names):
    place = HOUSE / "gemmviz" / path
    assert place.exists()
    for name in names:
        assert re.search(rf"\b(def|class) {name}\b", place.read_text(encoding="utf-8")), name


def test_the_table_is_read():
    assert len(PLACES) > 15 and any(names for _, names in PLACES)
