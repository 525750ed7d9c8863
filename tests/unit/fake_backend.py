"""A backend without hardware: computes with NumPy, and misbehaves as a test asks."""

from contextlib import contextmanager

import numpy as np

from gemmviz.backends.base import Build, Prepared, Trip
from gemmviz.backends.host import HostBackend, HostPrepared
from gemmviz.backends.watch import Observed


class FakeBackend(HostBackend):
    """Each launch calls `kernel(a, b, c_with_guards, launches_so_far)`; the default one multiplies.

    `seconds` are the times of the next samples; `log` notes every launch as (kernel's name, launches, cold).
    `scalars` are alpha and beta of the launch under way.
    """

    name = "fake"

    def __init__(
        self, kernel=None, seconds=None, free=None, prepare_error=None, run_error=None, gpu=False, observed=None
    ):
        self.kernel = kernel or multiply
        self.seconds = list(seconds or [])
        self.free = free
        self.prepare_error = prepare_error
        self.run_error = run_error
        self.clears_l2 = gpu
        self.observed = observed or Observed()
        self.closed = 0
        self.alive = 0
        self.log = []
        self.scalars = 1.0, 0.0

    def prepare(self, launch) -> Prepared:
        if self.prepare_error:
            raise self.prepare_error
        self.alive += 1
        return FakePrepared(launch, self)

    def free_bytes(self):
        return self.free if self.free is not None else super().free_bytes()

    @contextmanager
    def watch(self):
        yield self.observed

    def trip(self, problem, dtype, accumulate):
        return FakeTrip() if self.clears_l2 else super().trip(problem, dtype, accumulate)


class FakePrepared(HostPrepared):
    def __init__(self, launch, backend):
        super().__init__(launch, Build(compile_ms=1.0, flags=("-fake",), local_bytes=16, barriers=2))
        self.backend = backend
        self.launches = 0

    def call(self, launches):
        if self.backend.run_error:
            raise self.backend.run_error
        problem = self.launch.problem
        self.backend.scalars = self.launch.alpha, self.launch.beta
        for _ in range(launches):
            a, b = self.a.reshape(problem.m, problem.k), self.b.reshape(problem.k, problem.n)
            self.backend.kernel(a, b, self.c, self.launches)
            self.launches += 1

    def sample(self, launches, cold):
        self.backend.log.append((self.launch.kernel.name, launches, cold))
        seconds = super().sample(launches, cold)
        return self.backend.seconds.pop(0) if self.backend.seconds else seconds

    def queue_s(self):
        return 2e-6 if self.backend.clears_l2 else None

    def close(self):
        self.backend.closed += 1
        self.backend.alive -= 1
        super().close()


class FakeTrip(Trip):
    def __init__(self):
        self.closed = False

    def go(self):
        return 3e-3, 1e-3

    def close(self):
        self.closed = True


def multiply(a, b, c, launches):
    c.view[:] = (a.astype(np.float64) @ b.astype(np.float64)).astype(c.view.dtype).reshape(-1)
