"""A backend without hardware: computes with NumPy, and misbehaves as a test asks."""

import numpy as np

from gemmviz.backends.base import Build, Prepared
from gemmviz.backends.host import HostBackend, HostPrepared


class FakeBackend(HostBackend):
    """Each launch calls `kernel(a, b, c_with_guards, launches_so_far)`; the default one multiplies."""

    name = "fake"

    def __init__(self, kernel=None, seconds=None, free=None, prepare_error=None, run_error=None):
        self.kernel = kernel or multiply
        self.seconds = list(seconds or [])
        self.free = free
        self.prepare_error = prepare_error
        self.run_error = run_error
        self.closed = 0

    def prepare(self, launch) -> Prepared:
        if self.prepare_error:
            raise self.prepare_error
        return FakePrepared(launch, self)

    def free_bytes(self):
        return self.free if self.free is not None else super().free_bytes()


class FakePrepared(HostPrepared):
    def __init__(self, launch, backend):
        super().__init__(launch, Build(compile_ms=1.0, flags=("-fake",)))
        self.backend = backend
        self.launches = 0

    def call(self, launches):
        if self.backend.run_error:
            raise self.backend.run_error
        problem = self.launch.problem
        for _ in range(launches):
            a, b = self.a.reshape(problem.m, problem.k), self.b.reshape(problem.k, problem.n)
            self.backend.kernel(a, b, self.c, self.launches)
            self.launches += 1

    def sample(self, launches, cold):
        seconds = super().sample(launches, cold)
        return self.backend.seconds.pop(0) if self.backend.seconds else seconds

    def close(self):
        self.backend.closed += 1
        super().close()


def multiply(a, b, c, launches):
    c.view[:] = (a.astype(np.float64) @ b.astype(np.float64)).astype(c.view.dtype).reshape(-1)
