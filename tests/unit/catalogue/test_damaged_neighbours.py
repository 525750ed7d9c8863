"""A kernel without front matter is looked at, whatever the files beside it hold."""

import tempfile
from pathlib import Path
from random import Random, SystemRandom

import pytest
from damaging import BARE, damaged_neighbours

from gemmviz.backends.surroundings import surroundings
from gemmviz.catalogue.errors import FrontMatterError
from gemmviz.catalogue.guessing.guess import guess
from gemmviz.catalogue.guessing.guessed_kernel import guessed_kernel


def look(seed: int) -> None:
    """Guess the kernel beside the damaged files that a seed gives."""
    with tempfile.TemporaryDirectory() as folder:
        for name, raw in damaged_neighbours(Random(seed)).items():
            Path(folder, name).write_bytes(raw)
        file = Path(folder, "mine.cu")
        file.write_text(BARE, encoding="utf-8")
        made = guess(BARE, file, around=surroundings(file, BARE))
        assert made.front_matter().startswith("// ---gemmviz\n")
        if not made.doubts:
            try:
                guessed_kernel(made)
            except FrontMatterError as error:
                assert str(error).strip()


@pytest.mark.parametrize("seed", range(12))
def test_a_kernel_beside_a_few_damaged_files_is_looked_at(seed: int) -> None:
    look(seed)


@pytest.mark.thorough
def test_a_kernel_beside_damaged_files_of_a_drawn_seed_is_looked_at() -> None:
    first = SystemRandom().randrange(2**32)
    for seed in range(first, first + 200):
        try:
            look(seed)
        except Exception as error:
            error.add_note(f"seed {seed}: look({seed}) repeats it")
            raise
