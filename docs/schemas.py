"""Makes the JSON Schemas of ``resources/schema`` from the types that result files and state files are read by.

``python docs/schemas.py`` writes them; a test fails while they differ from the types.
"""

import inspect
import json
from typing import Any

import msgspec

from gemmviz import data
from gemmviz.bench import schema
from gemmviz.bench.document import Document
from gemmviz.session.files.snapshot_form import Snapshot
from gemmviz.session.files.state_file import VERSION
from gemmviz.session.models.playback import SPEEDS

_MAY_GROW = {"AppFacts", "CompilerFacts", "CpuFields", "DeviceFacts", "Environment", "OpenblasFacts", "Rules"}
"""Tables that may hold more than their type says; a file of ours has no other keys in the others."""
_LINE = 110


def results() -> dict[str, Any]:
    """Return the schema of a result file."""
    made = _schema(Document)
    made["$defs"]["Row"] |= {
        "if": {"properties": {"status": {"const": "ok"}}},
        "then": {"properties": {"stats": {"$ref": "#/$defs/SampleStats"}, "samples_s": {"minItems": 1}}},
        "else": {
            "properties": {
                "gflops": {"type": "null"},
                "stats": {"type": "null"},
                "samples_s": {"maxItems": 0},
                "hot": {"type": "null"},
            }
        },
    }
    return made


def state() -> dict[str, Any]:
    """Return the schema of a state file, which is a snapshot with two keys more."""
    made = _schema(Snapshot)
    form = made["$defs"]["Snapshot"]
    form["required"] = ["state_version", "kernel"]
    form["properties"] |= {
        "state_version": {"const": VERSION},
        "written_by": {"type": "string", "description": "gemmviz and its version"},
        "speed": {"enum": list(SPEEDS)},
    }
    made["$defs"]["KernelFields"]["oneOf"] = [{"required": ["name"]}, {"required": ["path"]}]
    return made


def texts() -> dict[str, str]:
    """Return the text of each file by its name."""
    made = {f"result-{schema.VERSION}.json": results(), f"state-{VERSION}.json": state()}
    return {name: _laid_out(form) + "\n" for name, form in made.items()}


def _laid_out(part: Any, indent: str = "") -> str:
    """Return a part as JSON, in one line where it fits."""
    flat = json.dumps(part, ensure_ascii=False)
    if not isinstance(part, dict | list) or len(indent + flat) <= _LINE:
        return flat
    deeper, (begin, end) = indent + " ", "{}" if isinstance(part, dict) else "[]"
    keys = [f"{json.dumps(key)}: " for key in part] if isinstance(part, dict) else [""] * len(part)
    parts = part.values() if isinstance(part, dict) else part
    inner = (f"{deeper}{key}{_laid_out(one, deeper)}" for key, one in zip(keys, parts, strict=True))
    return f"{begin}\n" + ",\n".join(inner) + f"\n{indent}{end}"


def _schema(form: type) -> dict[str, Any]:
    made = msgspec.json.schema(form)
    for name, table in made["$defs"].items():
        table.pop("title")
        if "description" in table:  # some versions of msgspec leave the indentation of a docstring, others do not
            table["description"] = inspect.cleandoc(table["description"])
        if name not in _MAY_GROW:
            table["additionalProperties"] = False
    tidy: dict[str, Any] = _without_float_limits(made)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **tidy}


def _without_float_limits(part: Any) -> Any:
    """Return a part without the largest float as a limit: JSON has no infinity to keep out."""
    if isinstance(part, dict):
        return {key: _without_float_limits(one) for key, one in part.items() if not _is_float_limit(one)}
    return [_without_float_limits(one) for one in part] if isinstance(part, list) else part


def _is_float_limit(value: Any) -> bool:
    return isinstance(value, float) and abs(value) > 1e300


if __name__ == "__main__":
    for name, text in texts().items():
        (data.root("resources") / "schema" / name).write_text(text, encoding="utf-8")
