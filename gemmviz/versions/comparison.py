"""The comparison of two versions: all groups of figures, and the findings."""

from dataclasses import asdict, dataclass

from gemmviz.catalogue.plain import Plain
from gemmviz.checking.report_text import kind, sentence
from gemmviz.versions.changes import Change, Thing, changes
from gemmviz.versions.code_figures import code_group
from gemmviz.versions.figure import Figure, Group
from gemmviz.versions.speed_figures import speed_group
from gemmviz.versions.version import Version
from gemmviz.versions.work_figures import work_groups

_SCHEMA_VERSION = 1


@dataclass(frozen=True)
class Comparison:
    """Two versions at one size.

    Attributes
    ----------
    before, after
        The versions.
    groups
        Their figures.
    changes
        Their findings; none if one of them was not checked.
    """

    before: Version
    after: Version
    groups: tuple[Group, ...]
    changes: tuple[Change, ...]

    @property
    def checked(self) -> bool:
        """Whether both were checked, so that their findings can be compared."""
        return self.before.report is not None and self.after.report is not None

    @property
    def worse(self) -> bool:
        """Whether the second version has a defect that the first one does not have."""
        return any(change.defect and change.state == "new" for change in self.changes)

    def to_plain(self) -> Plain:
        """Return the comparison as plain data."""
        problem = self.before.launch.problem
        return {
            "schema_version": _SCHEMA_VERSION,
            "M": problem.m,
            "N": problem.n,
            "K": problem.k,
            "before": _version(self.before),
            "after": _version(self.after),
            "groups": [_group(group) for group in self.groups],
            "checked": self.checked,
            "findings": [
                {
                    "state": change.state,
                    "defect": change.defect,
                    "before": _thing(change.before),
                    "after": _thing(change.after),
                }
                for change in self.changes
            ],
        }


def compared(before: Version, after: Version) -> Comparison:
    """Compare two versions at one size."""
    groups = (*work_groups(before, after), code_group(before, after), speed_group(before, after))
    return Comparison(before, after, groups, tuple(changes(before, after)))


def _version(version: Version) -> Plain:
    made = version.launch
    return {
        "name": version.name,
        "kernel": made.kernel.name,
        "entry": made.label,
        "source_sha256": made.kernel.sha256,
        "params": made.params,
        "block": made.block,
        "grid": made.grid,
        "missing": {
            name: why
            for name, why in (
                ("work", version.no_work),
                ("findings", version.no_report),
                ("code", version.no_code),
                ("speed", version.no_speed),
            )
            if why
        },
    }


def _group(group: Group) -> Plain:
    return {
        "id": group.id,
        "title": group.title,
        "origin": group.origin,
        "note": group.note,
        "figures": [_figure(figure) for figure in group.figures],
    }


def _figure(figure: Figure) -> Plain:
    return asdict(figure) | {"differs": figure.differs, "ratio": figure.ratio}


def _thing(thing: Thing | None) -> Plain | None:
    if thing is None:
        return None
    return asdict(thing) | {"text": f"{kind(thing)}: {sentence(thing)}"}
