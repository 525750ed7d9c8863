"""The frame times of two stages side by side, while a pair of rungs plays in step, and of the same rung alone.

Run it from the checkout, with no other load on the machine: ``python benchmarks/duel.py``. It prints each figure beside
its target; the exit status is 1 when a target is missed. Everything is offscreen at 1920 x 1080, with the real engines.
On a busy machine ``--cpu`` counts only the time that the window computes in; ``--quick`` only tries whether it works.
"""

import argparse
import sys
import time

from window import FRAME_P95_MS, Table, open_window, percentile, play, wait, wait_recorded

PAIRS = (
    ("gputiled", "gputiled~no-second-barrier", 8, "work"),
    ("gpumult1", "gputiled", 32, "work"),
    ("matmul_kernel_naive", "gpumult1", 64, "bytes"),
    ("hostmult0", "gputiled", 16, "work"),
    ("matmul_kernel_2d_thread_tiling", "matmul_tc_2d_warp_tiling", 64, "work"),
)
_PLAY_S, _QUICK_S, _MATCH_S = 4.0, 0.2, 120.0


def main():
    """Measure, print, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cpu", action="store_true", help="count only the time that the window computes in")
    parser.add_argument("--quick", action="store_true", help="one pair, for a moment, to see whether it works")
    asked = parser.parse_args()
    seconds = _QUICK_S if asked.quick else _PLAY_S
    from gemmviz.catalogue.ladder import find
    from gemmviz.catalogue.problem import Problem
    from gemmviz.ui.window.application import application

    table = Table()
    application()
    window, meter = open_window(time.thread_time if asked.cpu else time.perf_counter)
    session = window.session
    for left, right, size, pace in PAIRS[:1] if asked.quick else PAIRS:
        session.side_by_side.stop()
        session.choice.choose_kernel(find(left, session.choice.kernels))
        session.choice.choose(problem=Problem.cube(size))
        wait_recorded(session)
        alone, _ = play(window, meter, seconds)
        session.side_by_side.start_named(right, pace)
        until = time.monotonic() + _MATCH_S
        while session.comparison.match is None and time.monotonic() < until:
            wait(50)
        frames, _ = play(window, meter, seconds)
        what = f"frame of {left} | {right} at {size}, p95"
        by_itself = f"{left} alone {percentile(alone, 95):.1f}, {percentile(alone, 50):.1f}"
        more = f"  median {percentile(frames, 50):.1f}; {by_itself}"
        table.row(what, percentile(frames, 95), "ms", FRAME_P95_MS["hd"], more)
    meter.stop()
    window.close()
    return 1 if table.missed else 0


if __name__ == "__main__":
    sys.exit(main())
