"""OpenBLAS at its best core type: the fastest path that works is taken, and its products are right."""

import ctypes
from pathlib import Path

import numpy as np
import pytest

from gemmviz.backends import openblas, openblas_trials
from gemmviz.backends.blas import blas_facts
from gemmviz.backends.loaded_library import loaded_library
from gemmviz.backends.openblas import OpenblasBackend
from gemmviz.catalogue.errors import ConstraintError, Unavailable
from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem, random_inputs

needs_openblas = pytest.mark.skipif(loaded_library("openblas") is None, reason="this NumPy brings no OpenBLAS")


def reference(tmp_path, more="", size=(33, 65, 17)):
    return launch(parse(f'library = "openblas"\n{more}', tmp_path / "18_openblas.toml"), Problem(*size))


@pytest.fixture
def fresh():
    openblas.best.cache_clear()
    yield
    openblas.best.cache_clear()


@needs_openblas
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_its_product_is_right_and_its_core_type_is_named(tmp_path, dtype):
    concrete = reference(tmp_path, f'dtype = "{dtype}"')
    prepared = OpenblasBackend().prepare(concrete)
    a, b = random_inputs(concrete.problem, dtype, 1)
    prepared.load(a, b)
    prepared.poison()
    prepared.run()
    assert prepared.intact()
    assert np.allclose(prepared.fetch(), a.astype(np.float64) @ b, atol=1e-4)
    facts = OpenblasBackend().environment()["openblas"]
    assert facts["core"] in prepared.build.variant and facts["threads"] >= 1


@needs_openblas
def test_numpy_keeps_the_core_type_that_it_chose(tmp_path):
    before = blas_facts()
    OpenblasBackend().prepare(reference(tmp_path))
    assert blas_facts() == before


class FakeTrial:
    """A core type whose products take the given seconds, turn by turn."""

    def __init__(self, core, *seconds):
        self.core, self.seconds, self.closed = core, list(seconds), False

    def turn(self):
        return self.seconds.pop(0) if self.seconds else None

    def close(self):
        self.closed = True


@pytest.fixture
def choosing(monkeypatch, tmp_path):
    """Make the choice among fake trials; return it, and those that ran."""
    monkeypatch.setattr(openblas_trials.data, "cache_folder", lambda name: (tmp_path, ""))
    monkeypatch.setattr(openblas_trials, "_PAUSE_S", 0)
    library = tmp_path / "libopenblas.so"
    library.write_bytes(b"code")
    ran = []

    def choose(**seconds):
        monkeypatch.setattr(openblas_trials, "_candidates", lambda: ["", *seconds])
        trials = {"": [4.0] * 9} | seconds

        def start(original, spelling, core):
            ran.append(FakeTrial(core, *trials[core]))
            return ran[-1]

        monkeypatch.setattr(openblas_trials, "_Trial", start)
        return openblas_trials.fastest_core(library, ("", ""))

    return choose, ran, library


def test_the_fastest_path_is_chosen_and_one_that_does_not_run_here_is_not(choosing):
    choose, ran, _ = choosing
    assert choose(Nehalem=[2.0] * 9, Haswell=[], Zen=[3.0] * 9) == "Nehalem"
    assert [trial.core for trial in ran] == ["", "Nehalem", "Haswell", "Zen"] and all(trial.closed for trial in ran)


def test_a_busy_while_does_not_decide(choosing):
    # The first turn warms up. Then the faster path has one quiet turn only, and the slower one six.
    choose, _, _ = choosing
    assert choose(SkylakeX=[9, 5, 5, 1, 5, 5, 5], Haswell=[9, 2, 2, 2, 2, 2, 2]) == "SkylakeX"


def test_a_choice_is_kept_for_the_machine_and_the_library(choosing):
    choose, ran, library = choosing
    assert choose(Zen=[1.0] * 9) == "Zen"
    assert choose(Zen=[9.0] * 9) == "Zen" and len(ran) == 2  # nothing ran again
    library.write_bytes(b"another version")
    assert choose(Zen=[9.0] * 9) == "" and len(ran) == 4


def test_a_choice_of_a_busy_machine_is_not_kept(choosing):
    choose, ran, _ = choosing
    assert choose(Zen=[9, 1, 3, 3, 3, 3, 3]) == "Zen"
    assert choose(Zen=[9.0] * 9) == "" and len(ran) == 4


def test_a_damaged_choice_is_made_anew(choosing):
    choose, _, library = choosing
    for damaged in (b"", b"[]", b'{"machine": "", "core": "Zen", "seconds": {}}'):
        (library.parent / "fastest.json").write_bytes(damaged)
        assert choose(Zen=[9, *[1.0] * 6]) == "Zen"
        (library.parent / "fastest.json").unlink()


@needs_openblas
def test_a_trial_that_dies_is_left_out(monkeypatch):
    monkeypatch.setattr(openblas_trials, "_TRIAL", "import os; os.abort()")
    assert openblas_trials.take_turns([openblas_trials._Trial(Path("library"), ("", ""), "Haswell")]) == {}


@needs_openblas
def test_a_real_trial_answers_each_turn(monkeypatch):
    monkeypatch.setattr(openblas_trials, "_SIZE", 48)
    original = loaded_library("openblas")
    spelling = openblas.symbols(ctypes.CDLL(original))
    (seconds,) = openblas_trials.take_turns([openblas_trials._Trial(Path(original), spelling, "")]).values()
    assert len(seconds) == openblas_trials._TURNS and all(0 < one < 30 for one in seconds)


@needs_openblas
def test_real_trials_choose_a_path_of_this_machine(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(openblas_trials, "_SIZE", 48)
    monkeypatch.setattr(openblas_trials, "_PAUSE_S", 0)
    original = loaded_library("openblas")
    core = openblas_trials.fastest_core(Path(original), openblas.symbols(ctypes.CDLL(original)))
    assert core in openblas_trials._candidates()


@needs_openblas
def test_it_takes_turns_with_numpy(tmp_path):
    concrete = reference(tmp_path, size=(64, 64, 64))
    prepared = OpenblasBackend().prepare(concrete)
    prepared.load(*random_inputs(concrete.problem, "float32", 1))
    own, numpys = prepared.rival()
    assert own > 0 and numpys > 0


@needs_openblas
def test_a_machine_without_a_path_that_works_has_a_message(monkeypatch, fresh):
    monkeypatch.setattr(openblas, "fastest_core", lambda original, spelling: None)
    with pytest.raises(Unavailable, match="none of its code paths"):
        openblas.best()


def test_another_library_in_numpy_has_a_message(monkeypatch, fresh):
    monkeypatch.setattr(openblas, "loaded_library", lambda part: None)
    with pytest.raises(Unavailable, match="NumPy does not bring OpenBLAS"):
        openblas.best()


@needs_openblas
@pytest.mark.parametrize("more", ['dtype = "int32"', 'layout = { B = "column" }'])
def test_types_that_it_does_not_multiply_are_refused(tmp_path, more):
    with pytest.raises(ConstraintError, match="float32 or float64"):
        OpenblasBackend().prepare(reference(tmp_path, more))
