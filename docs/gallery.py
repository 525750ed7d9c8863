"""Makes the gallery: for each rung that can be recorded a GIF and two stills, and the page that shows them.

``python docs/gallery.py`` makes every file in ``build/gallery``, from recordings and by the settings in
``gallery.toml``; with the names of rungs as arguments, only their files. The page shows the command that makes each
file. The gallery is large, so it is not in the repository, except the pictures that README and the pages of ``docs/``
show: ``python docs/gallery.py --shown`` makes them in ``docs/images/gallery``, with README's film of the whole window.
"""

import argparse
import re
import shlex
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.ladder import ladder
from gemmviz.catalogue.renamed import today
from gemmviz.cli import run

_DOCS = Path(__file__).parent
_ROOT = _DOCS.parent
ALL = _ROOT / "build" / "gallery"
SHOWN = _DOCS / "images" / "gallery"
FILM = _DOCS / "images" / "film.gif"
"""README's film: the whole window playing its first recording."""
FILM_WORDS = ("render", "gputiled", "--window", "--resolution", "1280x800")
_FILM = ("--resolution", "600x450", "--type-scale", "1.5")
_STILL = ("--resolution", "800x540", "--type-scale", "1.2")
_HEAD = """# The gallery

Every rung as it plays on the stage: recorded from the source that gemmviz ships, drawn by `gemmviz render`. Nothing
here is drawn by hand. The films play as the window does at speed 1. Steps are an order of events, no times.

`python docs/gallery.py` makes all of it, as `docs/gallery.toml` says.

Blue is read, an amber frame is written; the hue of C is the block (on a CPU the thread) that owns an element; dashes
frame what the chosen block holds. The sizes are small, so that cells can be told apart; what costs at 4096 is measured,
not shown.
"""


def commands(kernel: Kernel, plan: dict[str, Any]) -> list[list[str]]:
    """Return the arguments of ``gemmviz`` for the film and the two stills of a kernel."""
    launch = ["render", kernel.name]
    if "size" in plan:
        sides = plan["size"]
        named = zip("mnk", sides, strict=True) if isinstance(sides, list) else [("size", sides)]
        launch += [word for name, side in named for word in (f"--{name}", str(side))]
    for setting in plan.get("set", ()):
        launch += ["--set", setting]
    if "order" in plan:
        launch += ["--order", plan["order"]]
    film = [*launch, "--steps", plan.get("steps", ":"), *(("--fps", str(plan["fps"])) if "fps" in plan else ()), *_FILM]
    still = [*launch, "--step", str(plan["still"]), *(("--cell", plan["cell"]) if "cell" in plan else ()), *_STILL]
    return [
        [*film, "-o", f"{kernel.name}.gif"],
        *([*still, "--theme", theme, "-o", f"{kernel.name}-{theme}.png"] for theme in ("dark", "light")),
    ]


def page(kernels: list[Kernel], plans: dict[str, Any]) -> str:
    """Return the page: each kernel with its idea, a hint for the eye, its pictures and the commands."""
    parts = [_HEAD]
    for kernel in kernels:
        plan, name = plans[kernel.name], kernel.name
        lines = "\n".join(shlex.join(["gemmviz", *words]) for words in commands(kernel, plan))
        parts.append(
            f"## `{kernel.alias}`: {kernel.title}\n\n{kernel.idea}\n\n*Look:* {plan['look']}\n\n"
            f"![{kernel.alias}, playing]({name}.gif)\n\n"
            f"![{kernel.alias}, step {plan['still']}, dark]({name}-dark.png)\n"
            f"![{kernel.alias}, step {plan['still']}, light]({name}-light.png)\n\n"
            f"```sh\n{lines}\n```\n"
        )
    return "\n".join(parts)


def shown() -> set[str]:
    """Return the names of the gallery's pictures that README and the pages show."""
    pages = [path.read_text(encoding="utf-8") for path in (_ROOT / "README.md", *_DOCS.glob("*.md"))]
    return {name for page in pages for name in re.findall(r"images/gallery/([^)]+)\)", page)}


def make(words: Sequence[str], path: Path) -> None:
    """Make one picture or film, and print its size.

    Raises
    ------
    SystemExit
        With 1 when it cannot be made; the reason is printed before.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    if run([*words, "-o", str(path)]):
        sys.exit(1)
    print(f"{path.stat().st_size / 1e3:6.0f} kB  {path.name}")


def main() -> int:
    """Make the pictures of some rungs (none named: of all) and the page, or the pictures of the pages."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="KERNEL", help="only these rungs")
    parser.add_argument("--shown", action="store_true", help="what README and the pages show, in docs/images")
    args = parser.parse_args()
    plans = tomllib.loads((_DOCS / "gallery.toml").read_text(encoding="utf-8"))
    kernels = [kernel for kernel in ladder() if kernel.name in plans]
    folder, wanted = (SHOWN, shown()) if args.shown else (ALL, None)
    names = set(map(today, args.names))
    for kernel in kernels:
        for *words, _, name in commands(kernel, plans[kernel.name]):
            if (not names or kernel.name in names) and (wanted is None or name in wanted):
                make(words, folder / name)
    if args.shown:
        make(FILM_WORDS, FILM)
        return 0
    made = [kernel for kernel in kernels if (folder / f"{kernel.name}.gif").exists()]
    (folder / "gallery.md").write_text(page(made, plans), encoding="utf-8")
    total = sum(path.stat().st_size for path in folder.iterdir())
    print(f"{total / 1e6:.1f} MB in all, in {folder.relative_to(_ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
