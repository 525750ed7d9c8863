"""However a run ends, there is an error that says so in a sentence."""

import signal

import pytest

from gemmviz.catalogue.errors import ConstraintError, GemmvizError, KernelFault, KernelTimeout
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.simt.faults import TooManyAccesses, TooManyBarriers, raise_fault
from gemmviz.simt.instruction_places import CodePlaces
from gemmviz.simt.layout import RecorderRun, Status

LAUNCH = launch(find("gputiled", ladder()), Problem.cube(32))
ENDS = [status for status in Status if status not in (Status.OK, Status.ONE_PROCESS, Status.AGAIN)]


# Every instruction stands on line 7.
INFO = CodePlaces([0], [(7, 1)], [], [], 0)


def ended(status: Status, **fields: int) -> GemmvizError:
    job = RecorderRun(status=status, **fields)
    with pytest.raises(GemmvizError) as caught:
        raise_fault(job, LAUNCH, INFO, 0, lambda address: f"full[{address}]")
    return caught.value


def test_a_run_that_came_to_its_end_raises_nothing() -> None:
    raise_fault(RecorderRun(status=Status.OK), LAUNCH, INFO, 0)


@pytest.mark.parametrize("status", ENDS, ids=lambda status: status.name)
def test_every_other_end_is_said_in_a_sentence_without_gaps(status: Status) -> None:
    text = str(ended(status, fault_bytes=16, fault_address=8, signal=signal.SIGSEGV))
    assert len(text.split()) > 4 and "{" not in text


@pytest.mark.parametrize(
    ("status", "error", "start"),
    [
        (Status.FULL, TooManyAccesses, "gputiled at 32 x 32 x 32 makes more than 100 accesses"),
        (Status.DEADLINE, KernelTimeout, "30_gputiled.cu:7: still running"),
        (Status.WAITS, KernelTimeout, "30_gputiled.cu:7: not ended after 0 s"),
        (Status.TOO_MANY_PHASES, TooManyBarriers, "30_gputiled.cu:7: more than 65\u202f535 barriers"),
        (Status.TOO_MANY_SITES, ConstraintError, "30_gputiled.cu has too many"),
        (Status.NO_MEMORY, ConstraintError, "30_gputiled.cu: not enough memory for 256 threads"),
        (Status.ARRIVES_TOO_OFTEN, KernelFault, "30_gputiled.cu:7: thread"),
    ],
)
def test_an_end_says_where_and_is_of_its_own_class(status: Status, error: type[GemmvizError], start: str) -> None:
    found = ended(status, capacity=100)
    assert type(found) is error
    assert str(found).startswith(start)


def test_a_barrier_that_is_used_wrongly_counts_as_a_barrier_s_defect() -> None:
    found = ended(Status.BARRIER_NOT_READY, fault_address=3)
    assert isinstance(found, KernelFault) and (found.defect, found.line) == ("barrier divergence", 7)
    assert "full[3]" in str(found)


def test_a_flag_of_a_block_that_was_left_out_is_asked_for() -> None:
    assert "record from the first block on" in str(ended(Status.FLAG_NEVER_SET, first_block=1))
    assert "is never set" in str(ended(Status.FLAG_NEVER_SET))
