"""The comparison of two versions as text for people: the same on the command line and in the window."""

from gemmviz.checking import report_text
from gemmviz.language import mark, tr
from gemmviz.language.numbers import thousands
from gemmviz.trace.cost.sites import SiteTraffic
from gemmviz.versions.changes import Change, Thing
from gemmviz.versions.figure import Figure
from gemmviz.versions.version import Version

STATES = {"new": mark("new"), "gone": mark("gone"), "unclear": mark("unclear"), "both": mark("in both")}
"""A word for each state of a change."""
_LARGE = 1000  # from here on figures have no decimals
_EQUAL = "="


def launch_text(version: Version) -> str:
    """Return how a version is launched."""
    made = version.launch
    if made.kernel.backend != "cuda":
        return made.label
    block, grid = (" x ".join(map(str, shape)) for shape in (made.block, made.grid))
    return tr("{label}, {grid} blocks of {block} threads", label=made.label, grid=grid, block=block)


def name_text(figure: Figure) -> str:
    """Return the name of a figure in a table."""
    return "C" if figure.id == "wrong" else figure.name


def values_text(figure: Figure) -> tuple[str, str]:
    """Return both values of a figure."""
    text = _verdict if figure.id == "wrong" else _value
    return text(figure.before), text(figure.after)


def ratio_text(figure: Figure) -> str:
    """Return the second value divided by the first, or "=" if they are equal."""
    if figure.id == "wrong":
        return ""
    return _EQUAL if figure.before == figure.after else "" if figure.ratio is None else f"{figure.ratio:.3g}"


def shown_thing(change: Change, versions: tuple[Version, Version]) -> tuple[Version, Thing]:
    """Return the version in which a finding is shown, and the finding; if both have it, those of the second version."""
    version, thing = (versions[0], change.before) if change.after is None else (versions[1], change.after)
    assert thing is not None
    return version, thing


def change_text(change: Change, versions: tuple[Version, Version]) -> str:
    """Return a finding with its place and its class, and in brackets the differences from the first version."""
    version, thing = shown_thing(change, versions)
    where = f"{version.name}:{thing.line}" if thing.line else version.name
    text = f"{where}: {report_text.kind(thing)}: {report_text.sentence(thing)}"
    if change.state == "both":
        assert change.before is not None
        also = [tr("line {line}", line=change.before.line)] if change.before.line != thing.line else []
        if isinstance(change.before, SiteTraffic) and isinstance(thing, SiteTraffic):
            units = [f"{one.units_per_request:.3g}" for one in (change.before, thing)]
            also += [tr("{count} per request", count=units[0])] if units[0] != units[1] else []
        text += f" ({versions[0].name}: {', '.join(also)})" if also else ""
    return text


def _verdict(wrong: float | None) -> str:
    if wrong is None:
        return tr("not recorded")
    return tr("WRONG in {count} elements", count=thousands(float(wrong))) if wrong else tr("right")


def _value(value: float | None) -> str:
    if value is None:
        return "-"
    return thousands(float(value)) if value == int(value) or value >= _LARGE else f"{value:.4g}"
