"""Definitions that a project's build files and scripts give to the compiler: ``-DBM=128``, also in CMake's words."""

import re
from collections.abc import Iterable, Iterator

from gemmviz.catalogue.guessing.tokens import integer

# -DBM=128, -D BM=128; the value may be a variable of the script: ${BM}, $(BM), {bm}, {self.bm}, " + str(bm)
_OPTION = re.compile(r"(?<![\w-])-D\s*([A-Za-z_]\w*)(?:=(\"?[\s+']*(?:str\()?[$]?[({]*[\w.]+))?")
_LISTED = re.compile(r"\b(?:target_compile_definitions|add_compile_definitions)\s*\(([^)]*)\)", re.IGNORECASE)
_ENTRY = re.compile(r"\b([A-Za-z_]\w*)(?:=([$]?\{?\w+))?")
_SCOPES = {"PRIVATE", "PUBLIC", "INTERFACE"}
_MOST_VALUES = 4
_LARGEST = 1 << 20


def build_definitions(scripts: Iterable[str], names: Iterable[str]) -> dict[str, tuple[int, ...]]:
    """Return the values that scripts give to macros, those of the first script first.

    Parameters
    ----------
    scripts
        Build files, Python scripts, and texts with command lines.
    names
        The macros.
    """
    wanted, found = set(names), dict[str, dict[int, None]]()
    for script in scripts:
        for name, text in _definitions(script):
            if name in wanted:
                values = [1] if text is None else _values(text, script)
                found.setdefault(name, {}).update(dict.fromkeys(values))
    return {name: tuple(values)[:_MOST_VALUES] for name, values in found.items() if values}


def _definitions(script: str) -> Iterator[tuple[str, str | None]]:
    for option in _OPTION.finditer(script):
        yield option[1], option[2]
    for listed in _LISTED.finditer(script):
        for entry in _ENTRY.finditer(listed[1]):
            if entry[1] not in _SCOPES:
                yield entry[1], entry[2]


def _values(text: str, script: str) -> list[int]:
    """Return the number that a value is, or the numbers that the script gives to the variable that it names."""
    last = re.split(r"\W+", text)[-1]
    if last.isdecimal():
        return _usual([last])
    assigned = rf"\b{re.escape(last)}\s*(?::\s*\w+\s*)?[?:]?=\s*(\d+)\b|\bset\s*\(\s*{re.escape(last)}\s+\"?(\d+)\b"
    return _usual(one or other for one, other in re.findall(assigned, script))


def _usual(numbers: Iterable[str]) -> list[int]:
    """Return the numbers that may be the value of a macro, each once."""
    found = dict.fromkeys(map(integer, numbers))
    return [number for number in found if number is not None and number <= _LARGEST]
