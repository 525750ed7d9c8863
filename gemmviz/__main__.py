"""Entry point of ``gemmviz`` and ``python -m gemmviz``."""

import sys

from gemmviz.cli import run


def main() -> None:
    """Run the command line and leave with its exit code."""
    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
