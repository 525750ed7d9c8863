"""Consent for tests: their kernels are written by themselves."""


class AllowsAll:
    """Lets an engine run whatever it is given."""

    def allows(self, path, text):
        return True
