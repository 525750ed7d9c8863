"""OpenBLAS at its best core type: the fastest path that works is taken, and its products are right."""

import numpy as np
import pytest

from gemmviz.backends import openblas
from gemmviz.backends.blas import blas_facts, loaded_library
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


@needs_openblas
def test_the_fastest_path_is_loaded_and_one_that_does_not_run_here_is_not(monkeypatch, fresh):
    monkeypatch.setattr(openblas, "_candidates", lambda: ["", "Nehalem", "Haswell"])
    trial = {"": 3.0, "Nehalem": 2.0, "Haswell": float("inf")}
    monkeypatch.setattr(openblas, "_try", lambda original, spelling, core: trial[core])
    asked = []
    monkeypatch.setattr(openblas, "_load", lambda original, spelling, core: asked.append(core))
    openblas.best()
    assert asked == ["Nehalem"]


@needs_openblas
def test_a_trial_that_dies_counts_as_infinitely_slow(monkeypatch):
    monkeypatch.setattr(openblas, "_TRIAL", "import os; os.abort()")
    assert openblas._try("library", ("", ""), "Haswell") == float("inf")


def test_another_library_in_numpy_has_a_message(monkeypatch, fresh):
    monkeypatch.setattr(openblas, "loaded_library", lambda part: None)
    with pytest.raises(Unavailable, match="NumPy does not bring OpenBLAS"):
        openblas.best()


@needs_openblas
@pytest.mark.parametrize("more", ['dtype = "int32"', 'layout = { B = "column" }'])
def test_types_that_it_does_not_multiply_are_refused(tmp_path, more):
    with pytest.raises(ConstraintError, match="float32 or float64"):
        OpenblasBackend().prepare(reference(tmp_path, more))
