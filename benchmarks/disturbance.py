"""Does the picture disturb the number? GFLOPS while the window animates against GFLOPS without any window.

``python benchmarks/disturbance.py [--size 4096] [--rounds 3] [--screenshot FILE] [KERNEL...]`` measures each kernel in
turn without a window and inside the real window while a recording plays, offscreen, over several interleaved rounds.
``--quick`` takes few samples and only tries whether it works: with ``hostmult1 --size 8`` it needs no GPU.
It prints the ratio of the medians and of the 5th percentiles of GFLOPS, and its exit status is 1 when one differs by
over 1%.
"""

import argparse
import os
import sys
import threading
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
sys.path.insert(0, str(Path(__file__).parent.parent))

import numpy as np
from PySide6.QtCore import QEventLoop, QTimer

from gemmviz.app import new_session
from gemmviz.bench.protocol import Protocol
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.problem import Problem
from gemmviz.control.controller import Controller
from gemmviz.engine.consent import Named
from gemmviz.engine.messages import BenchRequest, Result
from gemmviz.engine.supervisor import Engine
from gemmviz.ui.window.application import application
from gemmviz.ui.window.qt_loop import QtLoop
from gemmviz.ui.window.window import Window

_KERNELS = ("matmul_kernel_naive", "gputiled", "matmul_kernel_2d_thread_tiling", "cublas")
_LIMIT = 0.01
_PLAYED, _QUICK_PLAYED = 64, 16


def wait(milliseconds):
    """Run the event loop for a while."""
    loop = QEventLoop()
    QTimer.singleShot(milliseconds, loop.quit)
    loop.exec()


def headless(kernels, size, protocol):
    """Return {kernel: samples in seconds}, measured with no window in the process."""
    engine = Engine(Named(ladder()))
    request = BenchRequest(1, kernels, [(size, size, size)], protocol.to_plain())
    replies = list(engine.run(request, threading.Event()))
    engine.close()
    return {r.row["kernel"]: r.row for r in replies if isinstance(r, Result)}


def windowed(kernels, size, protocol, screenshot, playing):
    """Return the same, measured through the window while a recording of size `playing` plays; also the steps played."""
    session = new_session()
    window = Window(session, Controller(session, lambda: Engine(session.permission.trust), QtLoop()))
    window.resize(1920, 1080)
    window.show()
    session.choice.choose(problem=Problem.cube(playing), params={"TS": 16})
    while session.cursor.playable is None or session.cursor.playable.recording.m != playing:
        wait(20)
    session.playback.set_speed(16.0)
    session.playback.play()
    session.choice.protocol = protocol.to_plain()
    session.choice.choose_bench(problem=Problem.cube(size))
    steps = 0

    def count():
        nonlocal steps
        steps += 1

    session.cursor.stepped.connect(count)
    window.controller.measuring.measure(kernels)
    while session.progress["bench"] is not None:
        wait(50)
        if screenshot and len(session.results.rows) == len(kernels) - 1 and session.results.samples.gflops:
            window.grab().save(screenshot)
            screenshot = None
    rows = {row["kernel"]: row for row in session.results.document["results"]}
    window.close()
    return rows, steps


def main():
    """Measure, print, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kernels", nargs="*", default=_KERNELS)
    parser.add_argument("--size", type=int, default=4096)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="few samples, to see whether it works")
    parser.add_argument("--screenshot")
    args = parser.parse_args()
    protocol = Protocol.quick() if args.quick else Protocol()
    application()
    found = [find(name, ladder()) for name in args.kernels]
    kernels = [{"path": str(k.path), "text": k.text, "params": k.defaults} for k in found]

    seconds = {(k.name, how): [] for k in found for how in ("headless", "window")}
    frames = 0
    for number in range(args.rounds):
        screenshot = args.screenshot if number == 0 else None
        rows, played = windowed(kernels, args.size, protocol, screenshot, _QUICK_PLAYED if args.quick else _PLAYED)
        frames += played
        for how, result in (("headless", headless(kernels, args.size, protocol)), ("window", rows)):
            for name in (kernel.name for kernel in found):  # on a machine with a GPU there are the copies to it, too
                row = result[name]
                if row["status"] != "ok":
                    print(f"{name}: {row['status']}: {row['message']}")
                    return 2
                seconds[name, how] += row["samples_s"]

    flops = Problem.cube(args.size).flops
    worst = 0.0
    print(f"{args.size} cubed, {args.rounds} rounds each, {frames} frames drawn while measuring")
    print(f"{'kernel':34} {'headless':>20} {'in the window':>20}  {'median':>7} {'p5':>7}")
    for kernel in found:
        figures = {}
        for how in ("headless", "window"):
            gflops = flops / np.array(seconds[kernel.name, how]) / 1e9
            figures[how] = np.median(gflops), np.percentile(gflops, 5)
        ratios = [figures["window"][i] / figures["headless"][i] for i in (0, 1)]
        worst = max(worst, *(abs(r - 1) for r in ratios))
        columns = [f"{figures[how][0]:9.5g} / {figures[how][1]:8.5g}" for how in ("headless", "window")]
        print(f"{kernel.name:34} {columns[0]:>20} {columns[1]:>20}  {ratios[0]:7.4f} {ratios[1]:7.4f}")
    print(f"largest difference {worst:.2%}, target {_LIMIT:.0%}  {'ok' if worst <= _LIMIT else 'MISSED'}")
    return 0 if worst <= _LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
