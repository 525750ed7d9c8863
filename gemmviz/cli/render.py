"""``gemmviz render``: records a kernel and draws a step, or a film of many, without a display."""

import argparse
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress

from gemmviz.catalogue.errors import ConstraintError, GemmvizError, Unavailable
from gemmviz.catalogue.ladder import find
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.lens_names import LENSES
from gemmviz.cli import options
from gemmviz.cli.record import engine_reply
from gemmviz.engine.consent import Named
from gemmviz.engine.launched import launched
from gemmviz.engine.messages import RecordRequest
from gemmviz.language import set_language
from gemmviz.session import picture_params
from gemmviz.session.values.film import FPS, LEAST_FPS, MOST_FPS, MOST_GIF_FPS, VIDEO_FPS
from gemmviz.session.values.picture_size import picture_problem

_NO_LENS = "none"
_FIRST = "gputiled"
_FILMS = (".gif", ".mp4")


def add(commands: Any, summary: str) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "render",
        help=summary,
        description="Records a kernel on the CPU and draws the recording: a step (.png, or .svg with cells and text "
        "that can be edited), or a film (.gif, .mp4).",
        epilog="--step counts from 1, as the window does. --steps is a Python slice: 0:200 are the first 200, which "
        "are the steps 1 to 200; :200 and 200: leave an end open; 0:200:4 shows every fourth step, one per frame. "
        "Without EVERY a film plays at the window's speed 1, with the gestures between two steps. "
        "Without --step a picture of the kernel's demo shows the demo's step.",
    )
    parser.add_argument(
        "kernel", metavar="KERNEL", nargs="?", default=_FIRST, help=f"{options.KERNEL_HELP} (default {_FIRST})"
    )
    options.add_launch(parser, default_size=8, grows=True)
    options.add_chosen(parser, between=True)
    parser.add_argument(
        "--steps", type=options.step_range, metavar="FIRST:END[:EVERY]", help="the steps that a film shows"
    )
    parser.add_argument(
        "--lens",
        type=_lens,
        choices=[*LENSES, _NO_LENS],
        metavar="NAME",
        help=f"the lens in place of the shared tiles: {', '.join(LENSES)}, or {_NO_LENS} "
        "(default: the demo's in a picture without --step, else none)",
    )
    parser.add_argument(
        "--fps",
        type=_fps,
        metavar="F",
        help=f"a film's frames per second (default {FPS:g} of a GIF, {VIDEO_FPS:g} of an MP4)",
    )
    options.add_order(parser)
    options.add_view(parser)
    parser.add_argument(
        "--resolution",
        type=options.resolution,
        metavar="WxH",
        help="size in pixels (default 1920x1080; a film: 960x720)",
    )
    options.add_look(parser, default_theme="dark")
    parser.add_argument("--window", action="store_true", help="draw the whole window instead of the stage")
    parser.add_argument(
        "-o",
        "--output",
        type=options.output_file,
        required=True,
        metavar="FILE",
        help="the .png, .svg, .gif or .mp4 to write",
    )
    parser.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    path = Path(args.output)
    is_film = path.suffix.lower() in _FILMS
    _check_options(args, is_film)
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    from gemmviz.ui.look.display import missing  # late: other commands need nothing of the window

    problem_with_qt = missing(os.environ)
    if problem_with_qt is not None:
        raise Unavailable(problem_with_qt)
    # Late: only now it is certain that Qt can be loaded.
    from gemmviz.ui.export.films import kind_of
    from gemmviz.ui.export.frames import Look
    from gemmviz.ui.export.picture import Picture, Steps, draw
    from gemmviz.ui.export.platform_messages import without_hints
    from gemmviz.ui.look import korean

    kind_of(path)  # before the work of recording
    kernel = find(args.kernel, options.ladder())
    options.print_notes(kernel)
    if not kernel.recordable:
        raise GemmvizError(f"{kernel.name} is a library call: there is no source to record")
    # Without a size: the size that the window would choose.
    problem = options.problem(args) if options.has_size(args) else picture_problem(kernel)
    job = launch(kernel, problem, picture_params(kernel, problem) | options.params(args))
    request = RecordRequest(
        1, **launched(kernel, problem), params=job.params, order=args.order, as_written=args.as_written
    )
    reply = engine_reply(request, Named([kernel]))
    set_language(args.language or "en")
    first, end, every = args.steps or (0, None, None)
    lens = next((name for name in LENSES if name == args.lens), None)
    picture = Picture(
        kernel,
        reply,
        Look(args.resolution or ((960, 720) if is_film else (1920, 1080)), args.theme, args.type_scale or 1.0, lens),
        args.window,
        args.step,
        Steps(first, end, every, args.fps or (VIDEO_FPS if path.suffix.lower() == ".mp4" else FPS)),
        args.block,
        args.cell,
        args.warp or 0,
        args.lens is not None,
    )
    with _progress() as on_frame, without_hints():
        draw(picture, path, on_frame)
        if args.language == "ko" and not korean.can_write_korean():
            print(f"gemmviz: {korean.NO_FONT}", file=sys.stderr)
    return 0


def _check_options(args: argparse.Namespace, is_film: bool) -> None:
    if is_film and args.step is not None:
        raise ConstraintError("--step draws a .png or .svg; a film takes --steps FIRST:END")
    if not is_film and (args.steps is not None or args.fps is not None):
        raise ConstraintError("--steps and --fps are for a film: write to a .gif or .mp4, or choose one --step")
    if args.fps and args.fps > MOST_GIF_FPS and args.output.lower().endswith(".gif"):
        raise ConstraintError(f"a GIF has at most {MOST_GIF_FPS:g} frames per second: choose fewer, or write an .mp4")
    if args.output == "-":
        raise ConstraintError("a picture cannot be written to the standard output: give a file")


@contextmanager
def _progress() -> Iterator[Callable[[int, int], None]]:
    """Provide a progress bar for the number of finished frames, on a terminal."""
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("Drawing", total=None)
        yield lambda done, of: bar.update(task, completed=done, total=of)


def _lens(text: str) -> str:
    """Return the name of a lens in its own spelling: ``tensor-core`` and ``STREAM_K`` are understood, too."""
    plain = {re.sub(r"\W|_", "", name).lower(): name for name in LENSES}
    return plain.get(re.sub(r"\W|_", "", text).lower(), text)


def _fps(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not LEAST_FPS <= value <= MOST_FPS:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a number of frames per second from {LEAST_FPS:g} to {MOST_FPS:g}"
        )
    return value
