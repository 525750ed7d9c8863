"""``gemmviz render``: records a kernel and draws one step of it to a PNG, without a display."""

import argparse
import os
import re
from pathlib import Path
from typing import Any

from gemmviz.catalogue.errors import GemmvizError, Unavailable
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.launch import launch
from gemmviz.cli import options
from gemmviz.cli.record import engine_reply
from gemmviz.engine.messages import RecordRequest
from gemmviz.session import picture_params


def add(commands: Any, summary: str) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "render", help=summary, description="Records a kernel on the CPU and draws one step of the recording."
    )
    parser.add_argument("kernel", metavar="KERNEL", help=options.KERNEL_HELP)
    options.add_launch(parser, default_size=8)
    parser.add_argument("--step", type=int, metavar="S", help="which step, from 1 (default: 40%% of the way)")
    parser.add_argument(
        "--order",
        choices=("grid", "block"),
        default="grid",
        help="blocks move together (grid, the default) or one after another (block)",
    )
    parser.add_argument(
        "--resolution",
        type=_resolution,
        default=(1920, 1080),
        metavar="WxH",
        help="size of the picture in pixels (default 1920x1080)",
    )
    parser.add_argument("--theme", choices=("dark", "light"), default="dark", help="colours (default dark)")
    parser.add_argument("--window", action="store_true", help="draw the whole window instead of the stage")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="FILE", help="the PNG to write")
    parser.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    kernels = ladder()
    kernel = find(args.kernel, kernels)
    if not kernel.recordable:
        raise GemmvizError(f"{kernel.name} is a library call: there is no source to record")
    problem = options.problem(args)
    job = launch(kernel, problem, picture_params(kernel, problem) | options.params(args))
    request = RecordRequest(1, str(kernel.path), kernel.text, problem.m, problem.n, problem.k, job.params, args.order)
    reply = engine_reply(request)
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    from gemmviz.ui.display import missing

    problem_with_qt = missing(os.environ)
    if problem_with_qt is not None:
        raise Unavailable(problem_with_qt)
    from gemmviz.ui.stage.picture import Picture, draw

    picture = Picture(kernel, reply, args.step, args.resolution, args.theme, args.window)
    draw(picture, args.output)
    return 0


def _resolution(text: str) -> tuple[int, int]:
    found = re.fullmatch(r"(\d+)x(\d+)", text)
    if found is None or not all(64 <= int(side) <= 16384 for side in found.groups()):
        raise argparse.ArgumentTypeError(f"{text!r} is not WIDTHxHEIGHT in pixels, for example 1920x1080")
    return int(found[1]), int(found[2])
