"""The bytes of a structure in shared memory, as an expression: ``sizeof(Tiles<BM, BN, BK, 3>)``."""

import re
from collections.abc import Mapping, Sequence

from gemmviz.catalogue.guessing.host.expressions import Tokens
from gemmviz.catalogue.guessing.plain_values import SIZES
from gemmviz.catalogue.guessing.tokens import angles, closing, split

_WIDE = {"uint64_t", "int64_t", "size_t", "barrier", "long", "block_barrier", "Barrier"}
_BYTES = {
    **dict.fromkeys(("bf16", "fp16", "bfloat16", "float16", "half_t", "bf16_t"), 2),
    "bool": 1,
    "uint16_t": 2,
    "int16_t": 2,
    "int32_t": 4,
    "unsigned": 4,
    "__nv_fp8_e4m3": 1,
    "__nv_fp8_e5m2": 1,
}
_ALIGNED = ("alignas", "__align__")
_MOST_MEMBERS = 16


def struct_size(kind: Tokens, texts: Sequence[Tokens]) -> Tokens:
    """Return the size of a structure without functions, in the words of its template's arguments; empty if unclear.

    Bytes that only align the end are left out: nothing is in them.

    Parameters
    ----------
    kind
        The type: ``("Tiles", "<", "BM", ",", "3", ">")``.
    texts
        The tokens of the files that may define it.
    """
    given, _ = angles(kind, 1)
    for tokens in texts:
        for at in (i for i, token in enumerate(tokens) if token == "struct" and tokens[i + 1 : i + 2] == kind[:1]):
            if tokens[at + 2 : at + 3] == ("{",):
                names = _template_before(tokens, at)
                body = tokens[at + 3 : closing(tokens, at + 2)]
                others = {new: old for text in texts for new, old in _other_names(text).items()}
                return _size(body, dict(zip(names, given, strict=False)), others)
    return ()


def _template_before(tokens: Tokens, at: int) -> list[str]:
    """Return the names of the template's parameters that stand before a structure."""
    start = next((i for i in range(at - 1, max(at - 80, -1), -1) if tokens[i] in ("template", ";", "}")), -1)
    if start < 0 or tokens[start] != "template":
        return []
    parameters, behind = angles(tokens, start + 1)
    plain = [part[: part.index("=")] if "=" in part else part for part in parameters]
    return [part[-1] for part in plain if part] if behind == at else []


def _other_names(tokens: Tokens) -> dict[str, str]:
    """Return the types of one word that other names stand for."""
    text = " ".join(tokens)
    found = {new: old for old, new in re.findall(r"\btypedef (?:\w+ )*?(\w+) (\w+) ;", text)}
    return found | dict(re.findall(r"\busing (\w+) = (?:\w+ :: )*(\w+)\b", text))


def _size(body: Tokens, given: Mapping[str, Tokens], others: Mapping[str, str]) -> Tokens:
    total: list[str] = []
    members = [part for part in split(body, ";") if part]
    if len(members) > _MOST_MEMBERS:
        return ()
    for member in members:
        words = _without_alignment(member)
        first = words.index("[") if "[" in words else len(words)
        if "(" in words[:first] or not words:
            return ()
        bytes_ = _bytes(words[: max(first - 1, 1)], given, others)
        if not bytes_:
            return ()
        for declared in split(words[first - 1 :]):
            sides = " ".join(declared).split("[")[1:]
            count = [word for side in sides for word in ("*", "(", *side.replace("]", "").split(), ")")]
            total += ["+", str(bytes_), *count]
    return tuple(part for word in total[1:] for part in (("(", *given[word], ")") if word in given else (word,)))


def _without_alignment(member: Tokens) -> Tokens:
    while member and member[0] in (*_ALIGNED, "const", "volatile"):
        member = member[closing(member, 1) + 1 :] if member[0] in _ALIGNED else member[1:]
    return member[: member.index("__attribute__")] if "__attribute__" in member else member


def _bytes(kind: Tokens, given: Mapping[str, Tokens], others: Mapping[str, str]) -> int:
    """Return the bytes of a member's type, by its name if it has no definition; 0 if they are unknown."""
    words = tuple(word for word in kind if word.isidentifier())
    if "barrier" in words:
        return 8
    name = words[-1] if words else ""
    for _ in range(4):
        name = given[name][-1] if given.get(name) else others.get(name, name)
    return 8 if name in _WIDE else _BYTES.get(name) or SIZES.get(name, 0)
