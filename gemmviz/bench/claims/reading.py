"""Reads the claims from their files under ``resources/claims``."""

import tomllib
from collections.abc import Mapping
from pathlib import Path

from gemmviz import data
from gemmviz.bench.claims.claim_form import CaseSaid, CheckSaid, ClaimSaid, FileSaid, TableSaid
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
            file = read_as(tomllib.loads(path.read_text(encoding="utf-8")), FileSaid)
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, Misfit) as error:
            raise GemmvizError(f"{path.name}: {error}") from None
        for number, plain in enumerate(file.get("claim", [])):
            try:
                claims.append(_claim(plain, file["source"], file.get("device", "")))
            except (ValueError, Misfit) as error:
                raise GemmvizError(f"{path.name}: claim {plain.get('id', f'number {number}')}: {error}") from None
    return claims


def _claim(plain: Mapping[str, object], source: str, device: str) -> Claim:
    _refuse_unknown(plain, ClaimSaid)
    said = read_as(plain, ClaimSaid)
    cases = dict(said.get("cases", {}))
    table = _table(said["table"], cases) if "table" in said else None
    checks = tuple(_check(check, cases) for check in said.get("checks", []))
    why = said.get("why", "")
    if bool(checks) == bool(why):
        raise ValueError("a claim has checks, or says why it cannot be judged")
    return Claim(
        id=said["id"],
        source=source,
        title=said["title"],
        statement=said["statement"],
        figures=said.get("figures", ""),
        where=said.get("where", device),
        checks=checks,
        table=table,
        why=why,
        note=said.get("note", ""),
        protocol=said.get("protocol", {}),
        long=said.get("long", False),
    )


def _check(plain: Mapping[str, object], cases: Mapping[str, CaseSaid]) -> Check:
    said = read_as(plain, CheckSaid)
    rule, names = said["rule"], said["cases"]
    whats = [said["what"]] * len(names) if isinstance(said["what"], str) else said["what"]
    if rule not in RULES:
        raise ValueError(f"no rule {rule!r}; known are {', '.join(RULES)}")
    for name in names:
        if name not in cases:
            raise ValueError(f"no case {name!r}")
    limits = {key: plain[key] for key in RULES[rule].limits if key in plain}
    missing = set(RULES[rule].limits) - limits.keys()
    if missing:
        raise ValueError(f"rule {rule!r} wants {min(missing)!r}")
    _refuse_unknown({key: value for key, value in plain.items() if key not in limits}, CheckSaid, f"rule {rule!r}: ")
    return Check(
        rule=rule,
        label=said["label"],
        quantities=tuple(_quantity(cases[name], w) for name, w in zip(names, whats, strict=True)),
        names=tuple(names),
        theirs=said.get("theirs"),
        unit=said.get("unit", ""),
        limits=read_as(limits, dict[str, int | float | str]),
    )


def _table(said: TableSaid, cases: dict[str, CaseSaid]) -> StatedTable:
    """Read a table; each cell becomes a case ``"ROW/COLUMN"`` that checks may name."""
    rows, columns = said["rows"], said["columns"]
    cells = []
    for row in rows:
        line: list[Quantity | None] = []
        for column in columns:
            name = f"{row['label']}/{column['label']}"
            both = {**row, **column, "params": row.get("params", {}) | column.get("params", {})}
            cases[name] = case = read_as(both, CaseSaid)
            what = column.get("what", row.get("what", said.get("what", "median_s")))
            line.append(None if name in said.get("without", []) else _quantity(case, what))
        cells.append(tuple(line))
    theirs = tuple(tuple(None if isinstance(v, str) else float(v) for v in line) for line in said["theirs"])
    if len(theirs) != len(rows) or any(len(line) != len(columns) for line in theirs):
        raise ValueError(f"theirs must hold {len(rows)} x {len(columns)} figures")
    return StatedTable(
        title=said["title"],
        unit=said["unit"],
        row_axis=said["row_axis"],
        column_axis=said["column_axis"],
        rows=tuple(row["label"] for row in rows),
        columns=tuple(column["label"] for column in columns),
        cells=tuple(cells),
        theirs=theirs,
        scale=said.get("scale", 1.0),
    )


def _quantity(said: CaseSaid, what: str) -> Quantity:
    size = said["size"]
    m, n, k = (size, size, size) if isinstance(size, int) else size
    case = Case(
        kernel=renamed.today(said["kernel"]),
        size=(m, n, k),
        params=tuple(sorted(said.get("params", {}).items())),
        device=said.get("device", ""),
        registers=said.get("registers", 0),
        carve_out_kib=said.get("carve_out_kib", 0),
        as_written=said.get("as_written", False),
    )
    return Quantity(case, what)


def _refuse_unknown(plain: Mapping[str, object], form: type, where: str = "") -> None:
    unknown = plain.keys() - form.__annotations__.keys()
    if unknown:
        raise ValueError(f"{where}unknown key {min(unknown)!r}")
