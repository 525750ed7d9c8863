"""The user's own stops as plain data for a state file, and back."""

from gemmviz.catalogue.problem import Problem
from gemmviz.session.files.snapshot_form import StopFields
from gemmviz.session.tour.stop import OwnStop, Setting


def to_plain(stop: OwnStop) -> StopFields:
    """Return a stop as plain data; its empty fields are left out. Steps are counted from 1."""
    plain: StopFields = {"step": stop.step + 1, "say": stop.say}
    if stop.cell is not None:
        plain["cell"] = list(stop.cell)
    if stop.block is not None:
        plain["block"] = stop.block
    if stop.warp is not None:
        plain["warp"] = stop.warp
    if stop.panel is not None:
        plain["panel"] = stop.panel
    if stop.setting is not None:
        problem = stop.setting.problem
        plain["size"] = [problem.m, problem.n, problem.k]
        plain["params"], plain["order"] = dict(stop.setting.params), stop.setting.order
        plain["as_written"] = stop.setting.as_written
    return plain


def from_plain(plain: StopFields) -> OwnStop:
    """Undo `to_plain`."""
    setting = None
    if "size" in plain:
        problem, order = Problem(*plain["size"]), plain.get("order", "grid")
        setting = Setting.of(problem, plain.get("params", {}), order, plain.get("as_written", False))
    return OwnStop(
        plain["step"] - 1,
        plain.get("say", ""),
        (plain["cell"][0], plain["cell"][1]) if "cell" in plain else None,
        plain.get("block"),
        plain.get("warp"),
        plain.get("panel"),
        setting,
    )
