"""Damage to the front matter of kernels, and front matter made from nothing."""

import re
from random import Random
from typing import Any

from damaging.data import changed_tree, strange_value, toml_value

KEYS = (
    *("title", "idea", "source", "alias", "entry", "args", "params", "block", "grid", "shared", "requires", "dtype"),
    *("accumulate", "math", "layout", "exhibit", "capability", "maps", "cluster", "version", "demo", "code_of"),
)
_TOKENS = (
    *("M", "N", "K", "TS", "BM", "0", "1", "-1", "8", "1024", "99999999999", "9" * 200, "ceil(", "max(", "min(", ")"),
    *("(", " / ", " // ", " % ", " * ", " + ", " - ", " ** ", " << ", " == ", " < ", " and ", " or ", "not ", "é", "."),
    *("'", "\\", '"', ",", "[", "lambda: 1", "M if N else K", "A", "C", "alpha", "lda", "float", "half", "\0"),
)
_FENCES = ("// ---gemmviz\n", "// ---\n")
_WORDS = {
    "args": (["C", "A", "B", "M", "N", "K"], ["A.map", "B.map", "C"], ["A"], ["A", "A", "B", "C"], []),
    "dtype": ("float16", "bfloat16", "float64", "int32", "float7", "complex64"),
    "accumulate": ("float16", "float64", "int32", "int8"),
    "math": ("tf32", "fp8"),
    "layout": ({"B": "column"}, {"Q": "row"}, {"A": 1}),
    "capability": ("8.0", "9.0a", "99.9", "x"),
    "maps": ({"A": {"rows": "8", "columns": "TS"}}, {"A": {}}, {"A": {"rows": 8, "columns": 8, "swizzle": "3"}}),
    "params": ({"TS": [2, 4]}, {"TS": []}, {"TS": [4, 4]}, {"M": [1]}, {"TS": [-1]}, {"T S": [1]}, {"": [0]}),
    "demo": ({"size": 8, "stop": {"step": 1}}, {"size": [8, 8]}, {"thread": [0, 0]}, {"stop": {"line": "}"}}),
    "entry": ("k", "k<TS>", "k<int, TS>", "no_such", "k<", "operator()", "main"),
    "version": (0, 2, 99, -1),
    "code_of": ("hostmult0.c", "fuzzed.cu", "../x.cu", "/etc/passwd", "30_gputiled.cu"),
}


def changed_matter(matter: dict[str, Any], random: Random) -> str:
    """Return a front matter with values, keys or expressions changed, as it stands in a file."""
    return _written(_changed(matter, random), random)


def made_matter(random: Random) -> str:
    """Return a front matter of some known keys, each with a value that may fit or not."""
    keys = random.sample(KEYS, random.randint(1, len(KEYS)))
    return _written({key: _value(key, random) for key in keys}, random)


def _value(key: str, random: Random) -> Any:
    if random.random() < 0.25:
        return strange_value(random)
    if key in _WORDS:
        return random.choice(_WORDS[key])
    if key in ("block", "grid", "requires", "cluster"):
        return [expression(random) for _ in range(random.choice((0, 1, 1, 2, 3, 4)))]
    return expression(random)


def expression(random: Random) -> str:
    """Return a text that looks like an expression."""
    return "".join(random.choices(_TOKENS, k=random.randint(1, 6)))


def _changed(matter: dict[str, Any], random: Random) -> dict[str, Any]:
    if random.random() < 0.5:
        tree: dict[str, Any] = changed_tree(matter, random)
        return tree
    changed = dict(matter)
    for _ in range(random.choice((1, 1, 2))):
        key = random.choice([*KEYS, *matter, *matter, *matter])
        old = changed.get(key)
        if isinstance(old, list) and old and all(isinstance(one, str) for one in old):
            changed[key] = [_retyped(one, random) for one in old]
        elif isinstance(old, str) and random.random() < 0.6:
            changed[key] = _retyped(old, random)
        else:
            changed[key] = _value(key, random)
    return changed


def _retyped(text: str, random: Random) -> str:
    parts = re.findall(r"\w+|\W", text) or [""]
    parts[random.randrange(len(parts))] = random.choice(_TOKENS)
    return "".join(parts)


def _written(matter: dict[str, Any], random: Random) -> str:
    lines = [f"// {key or '_'} = {toml_value(value)}\n" for key, value in matter.items()]
    for _ in range(random.choice((0, 0, 0, 0, 0, 1, 2))):
        if not lines:
            break
        at = random.randrange(len(lines))
        change = random.randrange(5)
        if change == 0:
            lines[at] = lines[at].removeprefix("// ")
        elif change == 1:
            lines.insert(at, lines[at])
        elif change == 2:
            lines[at] = lines[at].replace("=", random.choice(("= =", "", ":")), 1)
        elif change == 3:
            cut = random.randrange(len(lines[at]))
            lines[at] = lines[at][:cut] + random.choice(("\n", "\r\n", '"', "#", "\t", "\0"))
        else:
            lines.insert(at, random.choice(("//\n", "// [table]\n", "// [[list]]\n", "// x.y = 1\n", "// \x1b\n")))
    first, last = _FENCES
    if random.random() < 0.06:
        first, last = random.choice((("", last), (first, ""), (first * 2, last), (last, first), (first, last * 2)))
    return first + "".join(lines) + last
