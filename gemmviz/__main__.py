"""Entry point of ``gemmviz`` and ``python -m gemmviz``."""

import sys

from gemmviz.cli import run
from gemmviz.cli.encoding import accept_all_letters


def main() -> None:
    """Run the command line and leave with its exit code."""
    accept_all_letters()
    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
