"""A CUDA kernel's parameters: their types are followed, and a front matter that does not fit is refused."""

import numpy as np
import pytest

from gemmviz.backends.signature import describing_source, scalar_types
from gemmviz.catalogue.errors import BuildError

POINTER, MAP, MAP_POINTER = 1000, 2000, 3000
ARGS = ["C", "A", "B", "M", "alpha"]


def test_each_scalar_gets_the_type_of_its_parameter():
    assert scalar_types([5, POINTER, POINTER, POINTER, 8, 104], ARGS, "f") == {"M": np.int64, "alpha": np.float32}
    assert scalar_types([5, POINTER, POINTER, POINTER, 2, 2], ARGS, "f") == {"M": np.int16, "alpha": np.float16}


def test_a_tensor_map_is_no_scalar_and_needs_a_parameter_of_its_kind():
    args = ["A.map", "B", "C", "M"]
    assert scalar_types([4, MAP, POINTER, POINTER, 4], args, "f") == {"M": np.int32}
    by_pointer = scalar_types([4, MAP_POINTER, POINTER, POINTER, 4], args, "f")
    assert by_pointer == {"A.map": np.uint64, "M": np.int32}
    for answer, says in (
        ([4, POINTER, POINTER, POINTER, 4], "parameter 1 of f is no tensor_map .* says that it is A.map"),
        ([4, 128, POINTER, POINTER, 4], "parameter 1 of f is no tensor_map"),
        ([4, MAP, MAP, POINTER, 4], "parameter 2 of f is no pointer, but a tensor map"),
        ([4, MAP, POINTER, POINTER, MAP], "parameter 4 of f is a tensor map, but args says that it is the scalar M"),
    ):
        with pytest.raises(BuildError, match=says):
            scalar_types(answer, args, "f")


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ([4, POINTER, POINTER, POINTER, 4], "takes 4 parameters, but args lists 5"),
        ([5, POINTER, 4, POINTER, 4, 104], "parameter 2 of f is no pointer"),
        ([5, POINTER, POINTER, POINTER, POINTER, 104], "parameter 4 of f is a pointer"),
        ([5, POINTER, POINTER, POINTER, 128, 104], "128 bytes"),
    ],
)
def test_what_does_not_fit_is_refused_before_the_launch(answer, says):
    with pytest.raises(BuildError, match=says):
        scalar_types(answer, ARGS, "f")


def test_the_entry_stands_in_the_source_with_its_template_arguments():
    assert "decltype(&tiled<64, 8>)" in describing_source("&tiled<64, 8>")
