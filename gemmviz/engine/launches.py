"""The finished launches of a check, and the report on the launch at which its process ended."""

from collections.abc import Iterator
from dataclasses import replace

from gemmviz.catalogue.problem import Problem
from gemmviz.checking.crash import crashed, skipped
from gemmviz.engine.launched import requested
from gemmviz.engine.messages import Checked, CheckRequest, Failed
from gemmviz.language import tr


class Launches:
    """The launches of one request, done in order."""

    def __init__(self, request: CheckRequest) -> None:
        self._request = request
        self._done = 0

    @property
    def left(self) -> bool:
        """Whether a launch is not done yet."""
        return self._done < len(self._request.launches)

    def rest(self) -> CheckRequest:
        """Return the request for the launches that are not done."""
        return replace(self._request, launches=self._request.launches[self._done :], first=self._done)

    def first(self) -> CheckRequest:
        """Return the request that looks at the local arrays of the first launch that is not done."""
        return replace(self.rest(), launches=self._request.launches[self._done : self._done + 1], watches=True)

    def take(self, reply: Checked) -> None:
        """Mark a launch as done."""
        self._done = reply.job + 1

    def fail(self, end: Failed) -> Iterator[Checked]:
        """Report the launch at which the process ended; after a time-out, the remaining launches are not tried.

        Parameters
        ----------
        end
            The reason; its kind is ``"crash"`` or ``"timeout"``.
        """
        kernel = requested(self._request)
        reason = ""
        while self.left:
            entry = self._request.launches[self._done]
            problem = Problem(entry["m"], entry["n"], entry["k"])
            if reason:
                report = skipped(kernel, problem, entry["params"], reason)
            else:
                report = crashed(kernel, problem, entry["params"], end.message, end.line, end.defect, end.array)
            yield Checked(self._request.run, report, self._done)
            self._done += 1
            if end.kind != "timeout":
                return
            reason = tr("not checked, as {launch} did not end", launch=report)
