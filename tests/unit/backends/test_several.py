"""Several GPUs without one: the host's calls, with a CuPy that keeps the order which streams and events make."""

import ctypes
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import ClassVar

import numpy as np
import pytest

from gemmviz.backends import several
from gemmviz.backends.base import Build
from gemmviz.backends.driver import CudaDriver
from gemmviz.backends.several import SeveralPrepared, check_peers
from gemmviz.catalogue.errors import Unavailable
from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem

TEXT = """// ---gemmviz
// version = 7
// entry = "product"
// args = ["A", "B", "C", {rows}"M", "N", "K"{gpu}]
// params = {{ GPUS = [2, 3] }}
// block = [8, 8]
// grid = ["N / 8", "M / 8"]
// devices = "GPUS"
// divided = {{ {a}B = "columns", C = "columns" }}
{crossing}// ---
__global__ void product(const float *A, const float *B, float *C, int M, int N, int K);
"""
HOW = {
    "whole": {"a": "", "crossing": ""},
    "inside": {"a": 'A = "rows", ', "crossing": '// crossing = "inside"\n', "rows": '"A.pointers", ', "gpu": ', "GPU"'},
    "before": {"a": 'A = "rows", ', "crossing": '// crossing = "before"\n'},
    "meanwhile": {"a": 'A = "rows", ', "crossing": '// crossing = "meanwhile"\n'},
    "reads": {"a": 'A = "rows", ', "crossing": '// crossing = "reads"\n'},
}
NO_ROWS = {"rows": "", "gpu": ""}


class Memory(np.ndarray):
    """An array of a GPU."""

    @property
    def data(self):
        return SimpleNamespace(ptr=self.ctypes.data)

    def set(self, values):
        self[...] = values


class Event:
    """An event: the work that had been queued on a stream, and before it, when it was recorded."""

    def __init__(self, disable_timing=False):
        self.before = frozenset()

    def record(self, stream):
        Graph.now_or_later(lambda: setattr(self, "before", stream.before))

    def synchronize(self):
        pass


class Graph:
    """What was queued while a stream was captured."""

    captured: ClassVar = None

    def __init__(self):
        self.calls = []

    @classmethod
    def now_or_later(cls, call):
        call() if cls.captured is None else cls.captured.calls.append(call)

    def launch(self, stream):
        for call in self.calls:
            call()


class Stream:
    """A stream: the work that is certain to have ended before what is queued next."""

    ptr_of: ClassVar = {}

    def __init__(self, non_blocking=False):
        assert non_blocking  # else the default stream would order more than the events do
        self.before, self.ptr = frozenset(), len(Stream.ptr_of)
        Stream.ptr_of[self.ptr] = self

    def queue(self, what):
        self.before |= {what}

    def wait_event(self, event):
        def wait():
            self.before |= event.before

        Graph.now_or_later(wait)

    def begin_capture(self):
        Graph.captured = Graph()

    def end_capture(self):
        found, Graph.captured = Graph.captured, None
        return found

    def synchronize(self):
        pass

    def __enter__(self):
        Stream.current = self

    def __exit__(self, *_):
        Stream.current = None


class FakeCuPy:
    """Runs everything at once, and keeps what each copy and product waited for: `ran`, as (what, its predecessors)."""

    def __init__(self):
        self.ran, self.memory = [], []
        self.number = self.current = 0
        runtime = SimpleNamespace(
            CUDARuntimeError=type("CUDARuntimeError", (Exception,), {}),
            memcpyAsync=self.copy,
            memcpyDefault=4,
            memsetAsync=lambda *_: None,
            deviceSynchronize=lambda: None,
            deviceEnablePeerAccess=lambda other: None,
            deviceCanAccessPeer=lambda device, other: int((device, other) != (2, 0)),
        )
        driver = SimpleNamespace(CUDADriverError=type("CUDADriverError", (Exception,), {}))
        self.cuda = SimpleNamespace(
            runtime=runtime,
            driver=driver,
            Event=Event,
            Stream=Stream,
            Device=self.device,
            get_elapsed_time=lambda *_: 3.0,
        )

    def dtype(self, name):
        return np.dtype(name)

    @contextmanager
    def device(self, number):
        before, self.current = self.current, number
        yield
        self.current = before

    def empty(self, size, dtype):
        found = np.empty(size, dtype).view(Memory)
        self.memory.append((self.current, found))
        return found

    zeros = empty

    def asnumpy(self, array):
        return np.array(array)

    def asarray(self, array):
        return array

    def get_default_memory_pool(self):
        return SimpleNamespace(free_all_blocks=lambda: None)

    def device_of(self, pointer):
        return next(device for device, one in self.memory if 0 <= pointer - one.ctypes.data < one.nbytes)

    def copy(self, to, of, size, kind, stream):
        def run():
            ctypes.memmove(to, of, size)
            self.note(("copy", self.device_of(to), self.device_of(of), self.number), Stream.ptr_of[stream])

        Graph.now_or_later(run)

    def gather(self, a, owned):
        """Copy the rows of each GPU to their place in a GPU's A, as a kernel does that gets their addresses."""
        size = a.nbytes // len(owned)
        for owner, pointer in enumerate(map(int, owned)):
            assert self.device_of(pointer) == owner
            ctypes.memmove(a.ctypes.data + owner * size, pointer, size)

    def note(self, what, stream):
        self.ran.append((what, stream.before))
        stream.queue(what)

    def kernel(self, device):
        def product(grid, block, values, shared_mem):
            a, b, c, *owned, m, n, k = values[: -1 if len(values) == 8 else None]
            assert (grid, block) == ((n // 8, m // 8, 1), (8, 8, 1)) and self.current == device
            assert not owned or values[-1] == device
            stream = Stream.current

            def run():
                if owned:
                    self.gather(a, owned[0])
                c.reshape(m, n)[...] = a.reshape(m, k) @ b.reshape(k, n)
                self.note(("product", device, m, self.number), stream)

            Graph.now_or_later(run)

        return product


def prepared(how, gpus, size=(48, 96, 16)):
    job = launch(parse(TEXT.format(**NO_ROWS | HOW[how]), Path("mine.cu")), Problem(*size), {"GPUS": gpus})
    cp = FakeCuPy()
    types = dict.fromkeys(("M", "N", "K", "GPU"), np.int32)
    made = SeveralPrepared(cp, job, Build(), [cp.kernel(device) for device in range(gpus)], types)
    rng = np.random.default_rng(1)
    a, b = (rng.integers(-3, 4, job.problem.shape(m)).astype(np.float32) for m in "AB")
    made.load(a, b)
    made.poison()
    return cp, made, a @ b


@pytest.mark.parametrize("gpus", [2, 3])
@pytest.mark.parametrize("how", HOW)
def test_all_gpus_together_make_c(how, gpus):
    cp, made, expected = prepared(how, gpus)
    made.run()
    assert np.array_equal(made.fetch(), expected) and made.intact()
    kinds = [what[0] for what, _ in cp.ran]
    assert kinds.count("copy") == (gpus * (gpus - 1) if how in ("before", "meanwhile") else 0)
    assert kinds.count("product") == (gpus * gpus if how in ("meanwhile", "reads") else gpus)
    made.close()


def test_a_kernel_that_copies_rows_itself_finds_no_number_in_the_rows_of_others():
    cp, made, _ = prepared("inside", 2)
    cp.gather = lambda a, owned: None
    made.run()
    wrong = np.isnan(made.fetch())
    assert wrong[24:, :48].all() and wrong[:24, 48:].all() and not wrong[:24, :48].any() and not wrong[24:, 48:].any()


def test_a_row_that_did_not_cross_is_no_number():
    cp, made, _ = prepared("meanwhile", 2)
    cp.cuda.runtime.memcpyAsync = lambda *_: None
    made.run()
    wrong = np.isnan(made.fetch())
    assert wrong[24:, :48].all() and wrong[:24, 48:].all() and not wrong[:24, :48].any()


@pytest.mark.parametrize("how", ["before", "meanwhile"])
def test_a_product_waits_for_the_copies_that_it_reads_and_only_for_these(how):
    cp, made, _ = prepared(how, 3)
    made.run()
    needed = [{("copy", d, o, 0) for o in range(3) if o != d} for d in range(3)]
    for device in range(3):
        mine = [before for what, before in cp.ran if what[:2] == ("product", device)]
        waited = [{one for one in before if one[:2] == ("copy", device)} for before in mine]
        if how == "before":
            assert waited == [needed[device]]
        else:  # none for its own rows, then one more panel each time
            assert [len(one) for one in waited] == [0, 1, 2] and waited[2] == needed[device]


@pytest.mark.parametrize("gpus", [2, 3, 4])
@pytest.mark.parametrize("how", ["before", "meanwhile"])
def test_each_gpu_sends_and_gets_one_panel_at_a_time_and_none_is_held_up(how, gpus):
    cp, made, _ = prepared(how, gpus, (96, 96, 16))
    made.run()
    # The copies of an owner run in the order in which the host queues them; so do those that one GPU gets.
    sent, got = dict.fromkeys(range(gpus), 0), dict.fromkeys(range(gpus), 0)
    for _, device, owner, _ in (what for what, _ in cp.ran if what[0] == "copy"):
        sent[owner] = got[device] = max(sent[owner], got[device]) + 1
    assert set(sent.values()) == set(got.values()) == {gpus - 1}


def test_panels_are_queued_in_the_order_in_which_they_are_multiplied():
    cp, made, _ = prepared("meanwhile", 4, (64, 128, 16))
    made.run()
    copies = [what for what, _ in cp.ran if what[0] == "copy"]
    for device in range(4):
        owners = [owner for _, to, owner, _ in copies if to == device]
        assert owners == [(device + turn) % 4 for turn in range(1, 4)]


@pytest.mark.parametrize("how", ["before", "meanwhile", "inside"])
def test_no_gpu_begins_again_before_all_have_ended(how):
    cp, made, _ = prepared(how, 2)
    made.run()
    first = {what for what, _ in cp.ran}
    cp.number = 1
    assert made.sample(1, True) == 3.0 / 1e3
    cp.number = 2
    made.sample(2, False)
    again = {what for what, _ in cp.ran if what[3] == 1}
    assert {what[:3] for what in again} == {what[:3] for what in first}
    assert all(first <= before for what, before in cp.ran if what[3] == 1)
    assert all(again <= before for what, before in cp.ran if what[3] == 2)


def test_a_product_is_queued_by_one_call_of_the_host(monkeypatch):
    cp, made, _ = prepared("meanwhile", 3)
    made.sample(1, True)
    for name in ("memcpyAsync", "memsetAsync"):
        monkeypatch.setattr(cp.cuda.runtime, name, None)
    made.load(np.ones((48, 16), np.float32), np.ones((16, 96), np.float32))
    made.poison()
    made.sample(2, False)
    assert (made.fetch() == 16).all() and made.intact()


def test_too_few_gpus_or_gpus_without_a_link_are_said(monkeypatch):
    job = launch(parse(TEXT.format(**NO_ROWS | HOW["whole"]), Path("mine.cu")), Problem(48, 96, 16), {"GPUS": 3})
    for count, said in ((1, "mine needs 3 GPUs in one machine.*has 1"), (4, "GPU 2 cannot read the memory of GPU 0")):
        known = CudaDriver(True, (13, 0), "", None, "", count)
        monkeypatch.setattr(several, "driver", lambda known=known: known)
        with pytest.raises(Unavailable, match=said):
            check_peers(FakeCuPy(), job)
