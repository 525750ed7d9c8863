"""Engines and an event loop without threads, processes and clocks: a test answers requests and lets time pass."""

import queue

from psygnal import Signal

from gemmviz.control.engines import Engines


class FakeLater:
    """Waits while `due_ms` is a number."""

    def __init__(self, loop, milliseconds, call):
        self._loop, self._milliseconds, self.call = loop, milliseconds, call
        self.due_ms = None

    def start(self):
        self.due_ms = self._loop.now_ms + self._milliseconds

    def stop(self):
        self.due_ms = None


class FakeLoop:
    """Runs posted calls when a test turns it, and delayed calls when a test lets time pass."""

    def __init__(self):
        self.now_ms = 0
        self.timers = []
        self._posted = queue.SimpleQueue()

    def post(self, call):
        self._posted.put(call)

    def later(self, milliseconds, call):
        self.timers.append(FakeLater(self, milliseconds, call))
        return self.timers[-1]

    def turn_until(self, there, seconds=60.0):
        """Run the calls that other threads post, each as it comes, until a condition holds."""
        while not there():
            self._posted.get(timeout=seconds)()

    def turn(self):
        """Run the calls that are posted by now."""
        while not self._posted.empty():
            self._posted.get()()

    def let_pass(self, milliseconds):
        """Let time pass, and run the calls that are due."""
        self.now_ms += milliseconds
        for timer in self.timers:
            if timer.due_ms is not None and timer.due_ms <= self.now_ms:
                timer.stop()
                timer.call()


class FakeWorker:
    """Takes requests and answers nothing by itself."""

    replied = Signal(object)
    recorded = Signal(int, object, object)
    computed = Signal(object)

    def __init__(self):
        self.requests = []
        self.computing = []
        self.cancels = self.stops = 0
        self.closed = False

    def submit(self, request):
        self.requests.append(request)

    def compute(self, work):
        self.computing.append(work)

    def cancel(self):
        self.cancels += 1

    kill = cancel

    @property
    def running(self):
        return bool(self.requests)

    def stop(self):
        self.stops += 1

    def close(self, most_s=None):
        self.closed = True


class FakeEngines(Engines):
    """Numbers runs as the real ones do."""

    def __init__(self):
        super().__init__(make_engine=None, loop=FakeLoop())
        self.recorder, self.second, self.bench = (FakeWorker() for _ in range(3))
        self.assembler, self.versions, self.looker = (FakeWorker() for _ in range(3))

    def add(self, name, make_engine):
        worker = FakeWorker()
        self._further.append(worker)
        return worker
