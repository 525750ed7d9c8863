"""cuBLASLt's objects are given back, also where the library refuses a product."""

import ctypes
from types import SimpleNamespace

import pytest

from gemmviz.backends import cublaslt
from gemmviz.backends.base import LaunchError


class _Library:
    """Counts the objects that are alive, and refuses one call."""

    def __init__(self, refused: str) -> None:
        self.refused, self.alive = refused, 0

    def __getattr__(self, name: str):
        def call(*_values):
            if name == self.refused:
                return 7
            self.alive += name.endswith("Create") - name.endswith("Destroy")
            return 0

        return call


def product(monkeypatch, refused: str) -> tuple[_Library, type]:
    library = _Library(refused)
    monkeypatch.setattr(ctypes, "CDLL", lambda _name: library)
    runtime = SimpleNamespace(runtimeGetVersion=lambda: 13000)
    device = SimpleNamespace(get_cublas_handle=lambda: None)
    cp = SimpleNamespace(cuda=SimpleNamespace(device=device, runtime=runtime), empty=lambda *_: None)
    return library, lambda: cublaslt.LtProduct(cp, (64, 64, 64), "float16", "float32")


@pytest.mark.parametrize("refused", ["cublasLtMatmulAlgoGetHeuristic", "cublasLtMatrixLayoutCreate"])
def test_a_refused_product_leaves_nothing_behind(monkeypatch, refused):
    library, make = product(monkeypatch, refused)
    with pytest.raises(LaunchError, match=refused):
        make()
    assert library.alive == 0


def test_a_product_is_given_back_when_it_is_closed(monkeypatch):
    library, make = product(monkeypatch, "none")
    made = make()
    assert (library.alive, len(made)) == (6, 0)
    made.close()
    assert library.alive == 0
