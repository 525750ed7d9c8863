"""A snapshot as the command line that reopens it."""

import shlex
from collections.abc import Sequence

from gemmviz.language import tr
from gemmviz.session.files.snapshot_form import Snapshot, ViewFields


def command(plain: Snapshot) -> str:
    """Return the command line that reopens a snapshot, as far as a command line can (see `left_out`)."""
    return shlex.join(["gemmviz", *words(plain)])


def left_out(plain: Snapshot) -> str:
    """Return the parts of a snapshot that its command line does not contain; empty if it contains all."""
    parts = []
    kernel = plain["kernel"]
    if "name" in kernel and "text" in kernel:
        parts.append(tr("the edited text"))
    elif "path" in kernel:
        parts.append(tr("the text: it reads the file"))
    if plain.get("stops"):
        parts.append(tr("your stops"))
    return ", ".join(parts)


def words(plain: Snapshot) -> list[str]:
    """Return the options of ``gemmviz window`` for a snapshot; default values are left out."""
    kernel = plain["kernel"]
    breaks = "~" + "+".join(plain["breaks"]) if plain.get("breaks") else ""
    options = ["--kernel", kernel.get("name", kernel.get("path", "")) + breaks, *_size(plain["size"])]
    for name, value in plain["params"].items():
        options += ["--set", f"{name}={value}"]
    if plain["order"] != "grid":
        options += ["--order", plain["order"]]
    if plain["as_written"]:
        options.append("--as-written")
    options += _place(plain)
    options += ["--theme", plain["theme"], "--language", plain["language"]]
    if plain["unit"] != "step":
        options += ["--unit", plain["unit"]]
    for option, factor in (("--speed", plain["speed"]), ("--type-scale", plain["type_scale"])):
        if factor != 1:
            options += [option, repr(factor)]
    if plain["calm"]:
        options.append("--calm")
    return [*options, *_view(plain.get("view", {}))]


def _size(size: list[int]) -> list[str]:
    if len(set(size)) == 1:
        return ["--size", str(size[0])]
    return [word for name, side in zip("mnk", size, strict=True) for word in (f"--{name}", str(side))]


def _place(plain: Snapshot) -> list[str]:
    options = []
    if "step" in plain:
        options += ["--step", str(plain["step"])]
        if any(plain["block"]):
            options += ["--block", _joined(plain["block"])]
        if plain["cell"]:
            options += ["--cell", _joined(plain["cell"])]
            if not any(plain["block"]):
                options += ["--block", "0,0"]  # not the cell's owner
        if plain["warp"] or plain["cell"]:
            options += ["--warp", str(plain["warp"])]  # not the owner's
        if plain["lane"] or plain["cell"]:
            options += ["--lane", str(plain["lane"])]
        if plain["frozen"]:
            options.append("--frozen")
        if plain["loop_range"]:
            first, last = plain["loop_range"]
            options += ["--loop", f"{first - 1}:{last}"]
    if not plain["loop"]:
        options.append("--no-loop")
    if plain["beside"]:
        options += ["--beside", plain["beside"]["kernel"]]
        if plain["beside"]["pace"] != "work":
            options += ["--in-step", plain["beside"]["pace"]]
    return options


def _view(view: ViewFields) -> list[str]:
    options = []
    if view.get("zoom", 1.0) != 1.0 or any(view.get("shift", ())):
        # An equals sign: a shift may begin with a minus.
        options.append("--view=" + ",".join(repr(float(v)) for v in (view["zoom"], *view["shift"])))
    for option, value, usual in (
        ("--page", view.get("page", "stage"), "stage"),
        ("--panel", view.get("panel", "source"), "source"),
    ):
        if value != usual:
            options += [option, value]
    return options


def _joined(parts: Sequence[str | int]) -> str:
    while len(parts) > 2 and parts[-1] == 0 and not isinstance(parts[0], str):
        parts = parts[:-1]
    return ",".join(map(str, parts))
