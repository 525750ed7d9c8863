"""One product on several GPUs, through a CuPy that the caller passes.

One process drives all GPUs. Each of them has two streams: one for its products, one for the copies of its panel of A,
which its copy engine writes to the other GPUs' memories. Events order both, and GPU 0 times the whole. A graph keeps
all launches and copies of a product, so that the host queues them by one call.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gemmviz.backends.arguments import Types, arguments, map_arguments
from gemmviz.backends.base import Build, Guarded, Prepared
from gemmviz.backends.device import faults, l2_bytes, queue_seconds, release, with_room
from gemmviz.backends.driver import driver
from gemmviz.backends.tensor_maps import encode
from gemmviz.catalogue.errors import Unavailable
from gemmviz.catalogue.gpu_roles import ROWS
from gemmviz.catalogue.launch import Launch
from gemmviz.catalogue.problem import UNFILLED, Matrix, Problem, stored
from gemmviz.catalogue.queue import Product, queue
from gemmviz.catalogue.tensor_map import SUFFIX
from gemmviz.language import tr

# Each clears L2. While the last ones run, the host queues the launches of all GPUs, so that none waits for the host. It
# changes the device as seldom as it can: that takes longer than to queue a write.
_CLEARINGS_IN_TURN = 8


def check_peers(cp: Any, launch: Launch) -> None:
    """Refuse a launch on more GPUs than there are, or on GPUs that cannot read each other's memory.

    Raises
    ------
    Unavailable
        With the reason.
    """
    found = driver().count
    if found < launch.devices:
        reason = tr(
            "{kernel} needs {wanted} GPUs in one machine, joined by NVLink or PCIe; this machine has {found}",
            kernel=launch.kernel.name,
            wanted=launch.devices,
            found=found,
        )
        raise Unavailable(reason)
    runtime = cp.cuda.runtime
    for device in range(launch.devices):
        for other in range(launch.devices):
            if device != other and not runtime.deviceCanAccessPeer(device, other):
                reason = tr(
                    "{kernel}: GPU {device} cannot read the memory of GPU {other} directly",
                    kernel=launch.kernel.name,
                    device=device,
                    other=other,
                )
                raise Unavailable(reason)


class _Part:
    """The matrices, streams and launches of one GPU. It has to be the current device when a method is called.

    Attributes
    ----------
    a
        Room for all rows of A (M x K), of which the GPU's own ones, or all, are filled by `load`.
    b, c
        Its columns of B and of C.
    multiplies, sends
        Its streams.
    done
        The event after its products.
    """

    def __init__(self, cp: Any, launch: Launch, device: int, kernel: Any, types: Types) -> None:
        part, problem, self._cp = launch.part, launch.problem, cp
        assert part is not None and launch.kernel.division is not None
        self.device, self._launch, self._part, self._kernel = device, launch, part, kernel
        self.a = with_room(cp, launch.elements("A"), launch.kernel.dtype)
        self.b = with_room(cp, part.elements("B"), launch.kernel.dtype)
        self.columns = Problem(problem.m, part.problem.n, problem.k)
        self.c = Guarded(cp, replace(part, problem=self.columns))
        self._scratch = cp.empty(2 * l2_bytes(), "uint8")
        self.multiplies, self.sends = (cp.cuda.Stream(non_blocking=True) for _ in range(2))
        self.done = cp.cuda.Event(disable_timing=True)
        division = launch.kernel.division
        self._division, self._types = division, types
        self._products: list[tuple[Product, tuple[Any, ...]]] = []
        self._others = [other for other in range(launch.devices) if other != device] if division.crossing else []
        self._sent = {other: cp.cuda.Event(disable_timing=True) for other in self._others}

    def prepare(self, products: Sequence[Product], parts: list["_Part"]) -> None:
        """Prepare its products, where all GPUs have their memory."""
        self._products = []
        for product in (one for one in products if one.panel.device == self.device):
            owner = product.panel.owner
            holder = parts[owner] if self._division.crossing == "reads" else self
            self._products.append((product, self._arguments(owner if self._division.in_panels else 0, holder, parts)))

    def _arguments(self, panel: int, holder: "_Part", parts: list["_Part"]) -> tuple[Any, ...]:
        """Return the arguments of the product of a panel: its rows of A and C begin where those of earlier ones end.

        Its rows of A are read in the memory of `holder`. A kernel that copies rows itself reads those of all `parts`.
        """
        part, cp, types = replace(self._part, gpu=(self.device, self._launch.devices)), self._cp, self._types
        a, c = part.elements("A"), part.elements("C")
        memory = {
            "A": holder.a[panel * a : (panel + 1) * a],
            "B": self.b,
            "C": self.c.view[panel * c : (panel + 1) * c],
        }
        maps = {matrix + SUFFIX: encode(part, matrix, memory[matrix].data.ptr) for matrix in part.maps}
        if part.gathers:
            owned = [one.rows_of(one.device).data.ptr for one in parts]
            memory[ROWS] = cp.asarray(np.array(owned, np.uint64))
        return tuple(arguments(part, memory | map_arguments(cp, maps, types), types))

    def rows_of(self, owner: int) -> Any:
        """Return the memory of the rows of A that a GPU owns."""
        size = self.a.size // self._launch.devices
        return self.a[owner * size : (owner + 1) * size]

    def load(self, a: Matrix, b: Matrix) -> None:
        """Copy this GPU's parts of A (M x K) and B (K x N) from the host."""
        part, n = self._part, self.columns.n
        columns = b[:, self.device * n : (self.device + 1) * n]
        self.b.set(stored(part.kernel, "B", columns).view(self.b.dtype))
        flat = np.ascontiguousarray(a).reshape(-1).view(self.a.dtype)
        if not self._others:
            self.a.set(flat)
            return
        self.forget()
        mine, size = self.rows_of(self.device), flat.size // self._launch.devices
        mine.set(flat[self.device * size : (self.device + 1) * size])

    def forget(self) -> None:
        """Fill the rows of the other GPUs with a pattern that is no number."""
        for owner in self._others:
            self.rows_of(owner).view("uint8").fill(UNFILLED)

    def send(self, to: "_Part", place: int) -> None:
        """Queue the copy of its own rows to the place of a GPU's rows in another GPU's memory."""
        there, here = to.rows_of(place), self.rows_of(self.device)
        runtime = self._cp.cuda.runtime
        # Not memcpyPeerAsync, which a graph does not take.
        runtime.memcpyAsync(there.data.ptr, here.data.ptr, here.nbytes, runtime.memcpyDefault, self.sends.ptr)
        self._sent[to.device].record(self.sends)

    def multiply(self, parts: list["_Part"]) -> None:
        """Queue the products, each after the copies that it needs."""
        part = self._part
        for product, values in self._products:
            for copy in product.waits:
                self.multiplies.wait_event(parts[copy.owner]._sent[copy.to])
            with self.multiplies:
                self._kernel(part.grid, part.block, values, shared_mem=part.shared_bytes)
        self.done.record(self.multiplies)

    def clear_l2(self) -> None:
        """Queue one write of a buffer of twice the L2's size."""
        self._cp.cuda.runtime.memsetAsync(self._scratch.data.ptr, 0, self._scratch.nbytes, self.multiplies.ptr)

    def fetch(self) -> Matrix:
        """Return its columns of C, from the device's memory."""
        flat = self._cp.asnumpy(self.c.view).view(self._launch.kernel.dtype_out)
        return np.asarray(flat.reshape(self.columns.m, self.columns.n))

    def close(self) -> None:
        """Free the device memory."""
        del self.a, self.b, self.c, self._scratch, self._products
        release(self._cp)


class SeveralPrepared(Prepared):
    """A compiled product with its matrices in the memory of several GPUs.

    Parameters
    ----------
    cp
        The module ``cupy``.
    launch
        A launch with parts.
    build, kernels, types
        The facts about the build, the compiled kernel for each GPU, and the types of its scalar parameters.
    """

    def __init__(self, cp: Any, launch: Launch, build: Build, kernels: list[Any], types: Types) -> None:
        self._cp, self._launch, self.build = cp, launch, build
        self._parts: list[_Part] = []
        for device, kernel in enumerate(kernels):
            with cp.cuda.Device(device):
                _let_read(cp, device, launch.devices)
                self._parts.append(_Part(cp, launch, device, kernel, types))
        division = launch.kernel.division
        assert division is not None
        self._order = queue(launch.devices, division.crossing)
        for part in self._parts:
            with cp.cuda.Device(part.device):
                part.prepare(self._order.products, self._parts)
        with cp.cuda.Device(0):
            self._began, self._ended = cp.cuda.Event(), cp.cuda.Event()
            self._go = cp.cuda.Event(disable_timing=True)
        self._lead = self._parts[0].multiplies
        self._graph: Any = None

    def load(self, a: Matrix, b: Matrix) -> None:
        """Copy to each GPU its parts of A and B; the rows that it does not own are filled with a pattern."""
        for part in self._parts:
            with self._cp.cuda.Device(part.device):
                part.load(a, b)
        self._settle()

    def poison(self) -> None:
        """Fill C with its guard zones, and the rows of A that a GPU does not own."""
        for part in self._parts:
            with self._cp.cuda.Device(part.device):
                part.forget()
                part.c.poison()
        self._settle()

    def set_scalars(self, alpha: float, beta: float) -> None:
        """Do nothing: these kernels take no scalars but sizes."""

    def fill(self, c: Matrix | None, bias: Matrix | None) -> None:
        """Do nothing: these kernels do not read C, and have no bias."""

    def run(self) -> None:
        """Launch once and wait."""
        with faults(self._cp, self._launch):
            self._start()
            self._lead.synchronize()

    def sample(self, launches: int, cold: bool) -> float:
        """Time by two events on GPU 0: before any GPU starts, and after all have ended."""
        with faults(self._cp, self._launch):
            self._capture()
            if cold:
                for _ in range(_CLEARINGS_IN_TURN):
                    for part in self._parts:
                        with self._cp.cuda.Device(part.device):
                            for _ in self._parts:
                                part.clear_l2()
                self._join()
            self._began.record(self._lead)
            for _ in range(launches):
                self._start()
            self._ended.record(self._lead)
            self._ended.synchronize()
            return float(self._cp.cuda.get_elapsed_time(self._began, self._ended)) / 1e3 / launches

    def queue_s(self) -> float:
        """Return the host's time to queue the launches and copies of all GPUs, each time into empty queues."""
        with faults(self._cp, self._launch):
            self._capture()
            return queue_seconds(self._start, self._lead.synchronize)

    def fetch(self) -> Matrix:
        """Copy C, the columns of all GPUs, to the host."""
        found = []
        for part in self._parts:
            with self._cp.cuda.Device(part.device):
                found.append(part.fetch())
        return np.hstack(found)

    def intact(self) -> bool:
        """Return whether nothing was written around the parts of C."""
        answers = []
        for part in self._parts:
            with self._cp.cuda.Device(part.device):
                answers.append(part.c.intact())
        return all(answers)

    def close(self) -> None:
        """Free the memory on all GPUs."""
        self._graph = None
        for part in self._parts:
            with self._cp.cuda.Device(part.device):
                part.close()
        self._parts = []

    def _start(self) -> None:
        """Queue one product on all GPUs: none starts before GPU 0 has ended its earlier work."""
        if self._graph is None:
            self._queue()
        else:
            self._graph.launch(self._lead)

    def _capture(self) -> None:
        """Make the graph of a product, once."""
        if self._graph is not None:
            return
        # CUDA loads a kernel when it is launched for the first time. That cannot be part of a graph.
        self._queue()
        self._lead.synchronize()
        self._lead.begin_capture()
        try:
            self._queue()
        finally:
            self._graph = self._lead.end_capture()

    def _queue(self) -> None:
        """Queue one product, launch by launch, as `gemmviz.catalogue.queue.queue` says."""
        self._go.record(self._lead)
        division = self._launch.kernel.division
        assert division is not None
        for part in self._parts:
            for stream in (part.multiplies, part.sends) if division.copied else (part.multiplies,):
                stream.wait_event(self._go)
        for copy in self._order.copies:
            self._parts[copy.owner].send(self._parts[copy.to], copy.place)
        for part in self._parts:
            with self._cp.cuda.Device(part.device):
                part.multiply(self._parts)
        for part in self._parts[1:]:
            self._lead.wait_event(part.done)

    def _join(self) -> None:
        """Let GPU 0 wait for the queued work of the others."""
        for part in self._parts[1:]:
            with self._cp.cuda.Device(part.device):
                part.done.record(part.multiplies)
            self._lead.wait_event(part.done)

    def _settle(self) -> None:
        """Wait for all GPUs: the streams of `_start` are not ordered with the one that fills the matrices."""
        for part in self._parts:
            with self._cp.cuda.Device(part.device):
                self._cp.cuda.runtime.deviceSynchronize()


def _let_read(cp: Any, device: int, devices: int) -> None:
    """Let a GPU, the current device, read the memory of the others."""
    for other in range(devices):
        if other != device:
            try:
                cp.cuda.runtime.deviceEnablePeerAccess(other)
            except cp.cuda.runtime.CUDARuntimeError as error:
                if "already" not in str(error).lower():
                    raise
