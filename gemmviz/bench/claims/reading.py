"""Reads the claims from their files under ``resources/claims``."""

import tomllib
from collections.abc import Mapping
from pathlib import Path

from gemmviz import data
from gemmviz.bench.claims.claim_form import CaseFields, CheckFields, ClaimFields, FileFields, Limits, TableFields
from gemmviz.bench.claims.record import Case, Check, Claim, Quantity, StatedTable
from gemmviz.bench.claims.rules import RULES
from gemmviz.catalogue import renamed
from gemmviz.catalogue.errors import GemmvizError
from gemmviz.catalogue.typed_reading import Misfit, read_as


def load(folder: Path | None = None) -> list[Claim]:
    """Return every claim, in the order of the documents.

    Parameters
    ----------
    folder
        By default the one that gemmviz ships.

    Raises
    ------
    GemmvizError
        When a file lacks a required field, or one is wrong; the message names file, claim and field.
    """
    claims: list[Claim] = []
    for path in sorted((folder or data.root("resources") / "claims").glob("*.toml")):
        try:
            file = read_as(tomllib.loads(path.read_text(encoding="utf-8")), FileFields)
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, Misfit) as error:
            raise GemmvizError(f"{path.name}: {error}") from None
        for number, plain in enumerate(file.get("claim", [])):
            try:
                claims.append(_claim(plain, file["source"], file.get("device", "")))
            except (ValueError, Misfit) as error:
                raise GemmvizError(f"{path.name}: claim {plain.get('id', f'number {number}')}: {error}") from None
    return claims


def _claim(plain: Mapping[str, object], source: str, device: str) -> Claim:
    _refuse_unknown(plain, ClaimFields)
    fields = read_as(plain, ClaimFields)
    cases = dict(fields.get("cases", {}))
    table = _table(fields["table"], cases) if "table" in fields else None
    checks = tuple(_check(check, cases) for check in fields.get("checks", []))
    why = fields.get("why", "")
    if bool(checks) == bool(why):
        raise ValueError("a claim has checks, or says why it cannot be judged")
    return Claim(
        id=fields["id"],
        source=source,
        title=fields["title"],
        statement=fields["statement"],
        figures=fields.get("figures", ""),
        where=fields.get("where", device),
        checks=checks,
        table=table,
        why=why,
        note=fields.get("note", ""),
        protocol=fields.get("protocol", {}),
        long=fields.get("long", False),
    )


def _check(plain: Mapping[str, object], cases: Mapping[str, CaseFields]) -> Check:
    fields = read_as(plain, CheckFields)
    rule, names = fields["rule"], fields["cases"]
    whats = [fields["what"]] * len(names) if isinstance(fields["what"], str) else fields["what"]
    if rule not in RULES:
        raise ValueError(f"no rule {rule!r}; known are {', '.join(RULES)}")
    for name in names:
        if name not in cases:
            raise ValueError(f"no case {name!r}")
    limits = {key: plain[key] for key in RULES[rule].limits if key in plain}
    missing = set(RULES[rule].limits) - limits.keys()
    if missing:
        raise ValueError(f"rule {rule!r} wants {min(missing)!r}")
    _refuse_unknown({key: value for key, value in plain.items() if key not in limits}, CheckFields, f"rule {rule!r}: ")
    return Check(
        rule=rule,
        label=fields["label"],
        quantities=tuple(_quantity(cases[name], w) for name, w in zip(names, whats, strict=True)),
        names=tuple(names),
        theirs=fields.get("theirs"),
        unit=fields.get("unit", ""),
        limits=read_as(limits, Limits),
    )


def _table(fields: TableFields, cases: dict[str, CaseFields]) -> StatedTable:
    """Read a table; each cell becomes a case ``"ROW/COLUMN"`` that checks may name."""
    rows, columns = fields["rows"], fields["columns"]
    cells = []
    for row in rows:
        line: list[Quantity | None] = []
        for column in columns:
            name = f"{row['label']}/{column['label']}"
            both = {**row, **column, "params": row.get("params", {}) | column.get("params", {})}
            cases[name] = case = read_as(both, CaseFields)
            what = column.get("what", row.get("what", fields.get("what", "median_s")))
            line.append(None if name in fields.get("without", []) else _quantity(case, what))
        cells.append(tuple(line))
    theirs = tuple(tuple(None if isinstance(v, str) else float(v) for v in line) for line in fields["theirs"])
    if len(theirs) != len(rows) or any(len(line) != len(columns) for line in theirs):
        raise ValueError(f"theirs must hold {len(rows)} x {len(columns)} figures")
    return StatedTable(
        title=fields["title"],
        unit=fields["unit"],
        row_axis=fields["row_axis"],
        column_axis=fields["column_axis"],
        rows=tuple(row["label"] for row in rows),
        columns=tuple(column["label"] for column in columns),
        cells=tuple(cells),
        theirs=theirs,
        scale=fields.get("scale", 1.0),
    )


def _quantity(fields: CaseFields, what: str) -> Quantity:
    size = fields["size"]
    m, n, k = (size, size, size) if isinstance(size, int) else size
    case = Case(
        kernel=renamed.today(fields["kernel"]),
        size=(m, n, k),
        params=tuple(sorted(fields.get("params", {}).items())),
        device=fields.get("device", ""),
        registers=fields.get("registers", 0),
        carve_out_kib=fields.get("carve_out_kib", 0),
        as_written=fields.get("as_written", False),
    )
    return Quantity(case, what)


def _refuse_unknown(plain: Mapping[str, object], form: type, where: str = "") -> None:
    unknown = plain.keys() - form.__annotations__.keys()
    if unknown:
        raise ValueError(f"{where}unknown key {min(unknown)!r}")
