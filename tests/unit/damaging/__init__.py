"""Files damaged by script: bytes, values in tables, front matter, source. Chance comes from a `random.Random`."""

from damaging.data import changed_bytes, changed_tree, made_tree, strange_value
from damaging.files import KINDS, Damaged, damaged_files
from damaging.front_matter import changed_matter, made_matter
from damaging.neighbours import BARE, damaged_neighbours
from damaging.source import changed_source

__all__ = [
    "BARE",
    "KINDS",
    "Damaged",
    "changed_bytes",
    "changed_matter",
    "changed_source",
    "changed_tree",
    "damaged_files",
    "damaged_neighbours",
    "made_matter",
    "made_tree",
    "strange_value",
]
