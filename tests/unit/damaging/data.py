"""Damage to bytes, and to the values in tables as JSON and TOML have them."""

import copy
import json
import math
import string
from collections.abc import Callable, Mapping
from random import Random
from typing import Any

_TEXTS = (
    *(
        "",
        " ",
        "x",
        "gputiled",
        "\0",
        "a\0b.cu",
        "é한😀",
        "\ud800",
        "\u202e",
        "../../etc/passwd",
        "/dev/zero",
        "/",
        ".",
    ),
    *("{x}", "{", "}}", "%s", "A" * 5000, "a\nb", "<b>x</b>", "-1", "1e999", "null", "//", "'", '"', "`", "\\"),
)
_NUMBERS = (
    *(0, 1, -1, 2, 3, 7, 64, 1000, 2**31 - 1, 2**31, 2**32, 2**53, 2**63 - 1, 2**63, -(2**63) - 1, 10**40, 10**100),
    *(0.5, -0.0, 1e-320, 1e308, math.nan, math.inf, -math.inf),
)
_MOST_CHANGES = 4
_CHANGES = (1, 1, 1, 2, 3, _MOST_CHANGES)
_DEEP = 3000


def changed_bytes(raw: bytes, random: Random) -> bytes:
    """Return bytes with one to four places flipped, cut out, doubled, moved, or filled with bytes that are no text."""
    data = bytearray(raw)
    for _ in range(random.randint(1, _MOST_CHANGES)):
        start = random.randint(0, len(data))
        stop = min(len(data), start + random.choice((1, 1, 2, 8, 64, 1000)))
        part = bytes(data[start:stop])
        damage: tuple[Callable[[], bytes], ...] = (
            lambda part=part: bytes(byte ^ (1 << random.randrange(8)) for byte in part),
            lambda: b"",
            lambda part=part: part * random.randint(2, 5),
            lambda part=part: part[::-1],
            lambda part=part: b"\0" * random.randint(1, 9) + part,
            lambda part=part: random.choice((b"\xff\xfe", b"\xc3", b"\xed\xa0\x80", b"\xf4\x90\x80\x80")) + part,
            lambda part=part: random.choice((b"\xef\xbb\xbf", b"\r", b"\x0c", b"\x1b[2J", b"\x7f")) + part,
            lambda part=part: random.randbytes(max(len(part), 1)),
        )
        data[start:stop] = random.choice(damage)()
        if random.random() < 0.1:
            del data[random.randint(0, len(data)) :]
    return bytes(data)


def strange_value(random: Random, depth: int = 2) -> Any:
    """Return a value that no file of ours has at that place: of any type, huge, infinite, nested."""
    kind = random.randrange(9)
    if kind < 3:
        return random.choice(_NUMBERS)
    if kind < 5:
        return random.choice(_TEXTS)
    if kind == 5:
        return random.choice((None, True, False))
    if kind == 6:
        return "".join(random.choices(string.printable + "é한", k=random.randint(0, 30)))
    if depth <= 0:
        return random.choice(([], {}))
    count = random.randint(0, 4)
    if kind == 7:
        return [strange_value(random, depth - 1) for _ in range(count)]
    return {random.choice((*_TEXTS, "kernel", "at", "step")): strange_value(random, depth - 1) for _ in range(count)}


def made_tree(keys: tuple[str, ...], random: Random) -> dict[str, Any]:
    """Return a table of some of the known keys, each with a random value."""
    return {key: strange_value(random) for key in random.sample(keys, random.randint(0, len(keys)))}


def changed_tree(tree: Any, random: Random) -> Any:
    """Return a copy of a tree of tables and lists with one to four values, keys or places changed."""
    tree = copy.deepcopy(tree)
    for _ in range(random.choice(_CHANGES)):
        holder = random.choice(_holders(tree))
        key = random.choice([*holder] if isinstance(holder, dict) else range(len(holder))) if holder else None
        change = random.randrange(8)
        if key is None or change == 0:
            _put_in(holder, random)
        elif change == 1:
            del holder[key]
        elif change == 2 and isinstance(holder, dict):
            holder[random.choice((f"{key}s", str(key).upper(), f"{key}\0"))] = holder.pop(key)
        elif change == 3 and isinstance(holder, list):
            holder[key:key] = [holder[key]] * random.choice((1, 2, 40))
        else:
            holder[key] = _near(holder[key], random)
    return tree


def changed_alike(tree: Any, random: Random) -> Any:
    """Return a copy of a tree in which some values are others of the same type, so that checks of types pass."""
    tree = copy.deepcopy(tree)
    places = [(holder, key) for holder in _holders(tree) for key in _keys(holder)]
    for holder, key in random.sample(places, min(len(places), random.choice((1, 1, 2, 3, 8, 30)))):
        value = holder[key]
        if isinstance(value, bool):
            holder[key] = not value
        elif isinstance(value, int):
            holder[key] = random.choice((0, 1, 2, value - 1, value + 1, value * 2, 17, 2**31, 2**53, abs(value) % 9))
        elif isinstance(value, float):
            holder[key] = random.choice((0.0, 1e-300, 1e300, value / 3, value * 1e6, 1.0))
        elif isinstance(value, str):
            parts = [part for part in _TEXTS if "\ud800" not in part]
            holder[key] = random.choice((value, *parts, value[: len(value) // 2], value + "é", value.upper()))
        elif isinstance(value, list):
            holder[key] = random.choice((value[:1], value[::-1], [], value * 3, value))
    return tree


def json_text(tree: Any, random: Random) -> str:
    """Return a tree as JSON, now and then with one value nested far deeper than any parser goes."""
    text = json.dumps(tree, ensure_ascii=random.random() < 0.5)
    if random.random() < 0.02:
        depth = random.choice((65, 900, _DEEP, 200_000))
        text = text.replace(": ", ": " + "[" * depth + "]" * depth + ", ", 1)
    return text


def toml_value(value: Any) -> str:
    """Return a value as TOML writes it; a value that TOML does not have is written as in JSON."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{json.dumps(str(key))} = {toml_value(one)}" for key, one in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(toml_value, value)) + "]"
    if isinstance(value, float):
        return repr(value)
    return json.dumps(value)


def _holders(tree: Any) -> list[Any]:
    found, level = [], [tree]
    while level:
        found += level
        inside = [v for one in level for v in (one.values() if isinstance(one, dict) else one)]
        level = [value for value in inside if isinstance(value, dict | list)]
    return found


def _keys(holder: Any) -> list[Any]:
    return list(holder) if isinstance(holder, dict) else list(range(len(holder)))


def _put_in(holder: Any, random: Random) -> None:
    if isinstance(holder, dict):
        holder[random.choice(("unknown", "", "kernel", "at", "stop", "size", "params"))] = strange_value(random)
    else:
        holder.insert(random.randint(0, len(holder)), strange_value(random))


def _near(value: Any, random: Random) -> Any:
    """Return a value of the same type that is a little off, or any other one."""
    if random.random() < 0.5:
        return strange_value(random)
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        near = (-value, value + 1, value - 1, 0, str(value), float(value), [value])
        return random.choice(near + ((value * 2**40,) if math.isfinite(value) else ()))
    if isinstance(value, str) and value:
        at = random.randrange(len(value))
        return value[:at] + random.choice(("", "\0", "{", "9", "-", " ", "~", "é", value)) + value[at + 1 :]
    if isinstance(value, list):
        return random.choice((value[:-1], value * 2, {str(i): one for i, one in enumerate(value)}, value[::-1]))
    if isinstance(value, dict):
        return random.choice((list(value.items()), list(value), [value]))
    return value
