"""Machine code is compiled while somebody looks, once for what decides it, and for no text that may not run."""

import pytest
from listings import tiled_listing

from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.ladder import find
from gemmviz.catalogue.problem import Problem
from gemmviz.control.assembling import Assembling
from gemmviz.engine.messages import Assembled, AssembleRequest, Failed, Progress


@pytest.fixture
def code(session, engines):
    Assembling(session, engines)
    return session.machine_code


def requests(engines):
    engines.loop.let_pass(1000)
    return engines.assembler.requests


def answer(engines, listing):
    worker = engines.assembler
    worker.replied.emit(Assembled(worker.requests[-1].run, listing))
    worker.computed.emit(worker.computing.pop()())


def test_nothing_is_compiled_while_nobody_looks(session, engines, code):
    session.choice.choose(params={"TS": 8})
    assert not requests(engines)
    code.watch(1, True)
    (request,) = requests(engines)
    assert isinstance(request, AssembleRequest) and request.params == {"TS": 8} and request.architecture == ""
    assert code.busy == "Compiling gputiled"
    engines.assembler.replied.emit(Progress(request.run, "Disassembling gputiled"))
    assert code.busy == "Disassembling gputiled"
    answer(engines, tiled_listing())
    assert code.listing.label == "gputiled<8>" and code.summary.loop is not None and not code.busy
    code.watch(1, False)
    session.choice.choose(params={"TS": 4})
    assert len(requests(engines)) == 1
    # Another window takes the place of one before that one is closed.
    code.watch(1, True)
    code.watch(2, True)
    code.watch(1, False)
    session.choice.choose(params={"TS": 2})
    assert requests(engines)[-1].params == {"TS": 2}


def test_it_is_compiled_again_after_a_change_of_what_decides_it(session, engines, code):
    code.watch(1, True)
    assert len(requests(engines)) == 1
    session.choice.choose(Problem.cube(16))
    session.choice.choose(order="block")
    assert len(requests(engines)) == 1, "the size decides nothing of its machine code"
    code.choose(architecture="sm_80")
    assert requests(engines)[-1].architecture == "sm_80"
    code.choose(as_measured=True)
    assert requests(engines)[-1].params == session.choice.bench_params
    session.choice.choose_bench(params={"TS": 8})
    assert requests(engines)[-1].params == {"TS": 8}
    count = len(requests(engines))
    code.choose(form="ptx")
    assert len(requests(engines)) == count


def test_a_failure_is_shown_with_its_line_and_may_be_tried_again(session, engines, code):
    code.watch(1, True)
    (request,) = requests(engines)
    engines.assembler.replied.emit(Failed(request.run, "unsupported", "Machine code needs nvdisasm", 7))
    assert (code.fault, code.fault_line, code.listing) == ("Machine code needs nvdisasm", 7, None)
    code.refresh()
    assert len(requests(engines)) == 1
    code.refresh(again=True)
    assert len(requests(engines)) == 2
    # An answer to the request before is none any more.
    engines.assembler.replied.emit(Failed(request.run, "compile", "late"))
    assert code.fault != "late"


def test_a_kernel_of_the_processor_has_none(session, engines, code):
    code.watch(1, True)
    requests(engines)
    session.choice.choose_kernel(find("hostmult1", session.choice.kernels))
    assert len(requests(engines)) == 1 and "Only CUDA kernels" in code.fault
    session.choice.choose_kernel(find("cublas", session.choice.kernels))
    assert len(requests(engines)) == 1 and "Only CUDA kernels" in code.fault


def test_a_text_that_may_not_run_is_not_compiled_until_it_may(session, engines, code, tmp_path):
    kernel = session.choice.kernel
    file = tmp_path / "mine.cu"
    file.write_text(kernel.text.replace("gputiled", "mine"))
    session.choice.add_kernel(parse(file.read_text(), file))
    code.watch(1, True)
    assert not requests(engines) and "until you allow it" in code.fault
    session.permission.run()
    assert requests(engines)[-1].path == str(file)


def test_a_line_and_its_instructions_are_chosen_together(session, engines, code):
    code.watch(1, True)
    requests(engines)
    answer(engines, tiled_listing())
    listing = code.listing
    line = next(listing.line(one.place) for one in listing.instructions if one.stem == "FFMA")
    code.choose_line(line)
    assert code.marked == {at for at, one in enumerate(listing.instructions) if listing.line(one.place) == line}
    assert {listing.instructions[at].stem for at in code.marked} >= {"FFMA", "LDS"}
    barrier = next(at for at, one in enumerate(listing.instructions) if one.stem == "BAR")
    code.choose_index(barrier)
    assert "__syncthreads" in listing.files[0].text.splitlines()[code.line - 1] and barrier in code.marked
    code.choose(form="ptx")
    assert code.index == -1 and code.marked and all("bar.sync" in listing.ptx[at].text for at in code.marked)
    # Another listing of the same text keeps the line.
    line = code.line
    code.show(tiled_listing(), code.summary)
    assert code.line == line
    code.fail("x")
    assert not code.marked
