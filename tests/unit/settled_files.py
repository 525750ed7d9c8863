"""A guess of a file, settled by trials in the engine."""

import threading
from pathlib import Path

from gemmviz.catalogue.guessing.guess import guess
from gemmviz.catalogue.guessing.guessed_matter import Guess
from gemmviz.catalogue.guessing.settle import settle
from gemmviz.engine.consent import Described
from gemmviz.engine.race_trials import race_trier
from gemmviz.engine.supervisor import Engine
from gemmviz.engine.trying import trier


def settled(tmp_path: Path, text: str) -> Guess:
    file = tmp_path / "mine.cu"
    file.write_text(text)
    engine = Engine(Described(file, text))
    try:
        try_one = trier(engine, threading.Event())
        return settle(guess(text, file), try_one, try_race=race_trier(engine, threading.Event()))
    finally:
        engine.close()
