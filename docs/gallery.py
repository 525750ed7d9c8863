"""Makes the gallery: for each rung that can be recorded a GIF and two stills, and the page that shows them.

``python docs/gallery.py`` makes all of it anew, from recordings, as ``gallery.toml`` says; with names of rungs behind
it, these alone. Every file is made by the command that the page shows beside it.
"""

import shlex
import sys
import tomllib
from pathlib import Path
from typing import Any

from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.ladder import ladder
from gemmviz.catalogue.renamed import today
from gemmviz.cli import run

_DOCS = Path(__file__).parent
_FOLDER = _DOCS / "gallery"
_FILM = ("--resolution", "600x450", "--type-scale", "1.5")
_STILL = ("--resolution", "800x540", "--type-scale", "1.2")
_HEAD = """# The gallery

Every rung as it plays on the stage: recorded from the source that gemmviz ships, drawn by `gemmviz render`. Nothing
here is drawn by hand. Steps are an order of events, no times: the films are slower than any GPU, each at its own pace.

`python docs/gallery.py` makes all of it anew, as `docs/gallery.toml` says.

Blue is read, amber is written; the hue of C is the block (on a CPU the thread) that owns an element; dashes frame what
the chosen block holds. The sizes are small, so that cells can be told apart; what costs at 4096 is measured, not shown.
"""


def commands(kernel: Kernel, plan: dict[str, Any]) -> list[list[str]]:
    """Return what ``gemmviz`` is given to make the film and the two stills of a rung."""
    launch = ["render", kernel.name]
    if "size" in plan:
        sides = plan["size"]
        named = zip("mnk", sides, strict=True) if isinstance(sides, list) else [("size", sides)]
        launch += [word for name, side in named for word in (f"--{name}", str(side))]
    for setting in plan.get("set", ()):
        launch += ["--set", setting]
    if "order" in plan:
        launch += ["--order", plan["order"]]
    film = [*launch, "--steps", plan.get("steps", ":"), "--fps", str(plan["fps"]), *_FILM]
    still = [*launch, "--step", str(plan["still"]), *(("--cell", plan["cell"]) if "cell" in plan else ()), *_STILL]
    return [
        [*film, "-o", f"docs/gallery/{kernel.name}.gif"],
        *([*still, "--theme", theme, "-o", f"docs/gallery/{kernel.name}-{theme}.png"] for theme in ("dark", "light")),
    ]


def page(kernels: list[Kernel], plans: dict[str, Any]) -> str:
    """Return the page: each rung with its idea, what to look at, its pictures and the commands."""
    parts = [_HEAD]
    for kernel in kernels:
        plan, name = plans[kernel.name], kernel.name
        said = "\n".join(shlex.join(["gemmviz", *words]) for words in commands(kernel, plan))
        parts.append(
            f"## `{kernel.alias}`: {kernel.title}\n\n{kernel.idea}\n\n*Look:* {plan['look']}\n\n"
            f"![{kernel.alias}, playing](gallery/{name}.gif)\n\n"
            f"![{kernel.alias}, step {plan['still']}, dark](gallery/{name}-dark.png)\n"
            f"![{kernel.alias}, step {plan['still']}, light](gallery/{name}-light.png)\n\n"
            f"```sh\n{said}\n```\n"
        )
    return "\n".join(parts)


def main(names: list[str]) -> int:
    """Make the pictures of some rungs (none named: of all), and the page."""
    plans = tomllib.loads((_DOCS / "gallery.toml").read_text(encoding="utf-8"))
    kernels = [kernel for kernel in ladder() if kernel.name in plans]
    _FOLDER.mkdir(exist_ok=True)
    for kernel in kernels:
        for words in commands(kernel, plans[kernel.name]):
            if names and kernel.name not in map(today, names):
                continue
            path = _DOCS.parent / words[-1]
            if run([*words[:-1], str(path)]):
                return 1
            print(f"{path.stat().st_size / 1e3:6.0f} kB  {path.name}")
    (_DOCS / "gallery.md").write_text(page(kernels, plans), encoding="utf-8")
    total = sum(path.stat().st_size for path in _FOLDER.iterdir())
    print(f"{total / 1e6:.1f} MB in all")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
