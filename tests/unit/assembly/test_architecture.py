"""Which architecture a kernel is compiled for."""

import pytest

from gemmviz.assembly.architecture import checked, chosen, offered
from gemmviz.catalogue.errors import ConstraintError


@pytest.mark.parametrize(
    ("wanted", "needed", "device", "made_for"),
    [
        ("", "", "", "sm_90"),
        ("", "", "8.6", "sm_86"),
        ("", "8.0", "8.6", "sm_86"),
        ("", "8.0", "7.5", "sm_90"),
        ("", "8.0", "", "sm_90"),
        ("", "10.0", "", "sm_100"),
        ("", "9.0a", "", "sm_90a"),
        ("", "9.0a", "9.0", "sm_90a"),
        ("", "9.0a", "10.0", "sm_90a"),
        ("", "", "12.0", "sm_120"),
        ("sm_80", "8.0", "9.0", "sm_80"),
        ("sm_80", "", "", "sm_80"),
        ("sm_90", "9.0a", "", "sm_90a"),
        ("sm_100a", "8.0", "", "sm_100a"),
    ],
)
def test_it_is_the_wanted_one_else_that_of_the_gpu_else_one_that_suits_the_kernel(wanted, needed, device, made_for):
    assert chosen(wanted, needed, device) == made_for


def test_a_kernel_is_not_compiled_for_what_it_does_not_run_on():
    with pytest.raises(ConstraintError, match=r"needs compute capability 8\.0 or later, not sm_75"):
        chosen("sm_75", "8.0", "")
    with pytest.raises(ConstraintError, match=r"needs exactly compute capability 9\.0, not sm_100a"):
        chosen("sm_100a", "9.0a", "")


@pytest.mark.parametrize("text", ["80", "sm80", "sm_", "sm_9x", "compute_80", "sm_90 --evil", "-arch=sm_80"])
def test_no_other_text_is_an_architecture(text):
    with pytest.raises(ConstraintError, match="is not an architecture"):
        checked(text)


def test_architectures_with_instructions_of_their_own_are_offered_with_their_letter():
    assert offered([75, 120, 90, 80]) == ["sm_75", "sm_80", "sm_90", "sm_90a", "sm_120", "sm_120a"]
