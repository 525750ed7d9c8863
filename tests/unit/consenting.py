"""Consent for tests: their kernels are written by themselves."""


class AllowsAll:
    """Lets an engine run whatever it is given."""

    def allows(self, path, text):
        return True


def allow(session, path):
    """Let a file run in a session's window, as somebody does who answers "Run it"."""
    session.trust.allow(path.resolve(), path.read_text(encoding="utf-8-sig"))
