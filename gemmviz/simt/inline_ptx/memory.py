"""Loads, stores, atomic operations, addresses and fences.

Rules: PTX ISA, "Data Movement and Conversion Instructions" and "Memory Consistency Model".
"""

from collections.abc import Sequence

from gemmviz.simt.inline_ptx.grammar import NotPtx, Number, Value, Vector
from gemmviz.simt.inline_ptx.values import TYPES, Values, items

_SPACES = {"shared", "shared::cta", "global", "const", "param", "local"}
# Cache hints do not change the number of accesses.
_CACHES = {
    *("ca", "cg", "cs", "lu", "cv", "wb", "wt", "nc", "weak", "relaxed", "mmio", "gpu", "sys", "cta", "cluster"),
    *("L1::evict_normal", "L1::evict_unchanged", "L1::evict_first", "L1::evict_last", "L1::no_allocate"),
    *("L2::evict_first", "L2::evict_last", "L2::evict_normal", "L2::cache_hint"),
    *("L2::64B", "L2::128B", "L2::256B"),
}
_ORDERS = {"volatile", "acquire", "release", "relaxed"}
_CLUSTER, _COUNTED = "shared::cluster", "mbarrier::complete_tx::bytes"
_STORED_AND_COUNTED = 3
_LENGTHS = {"v2": 2, "v4": 4}
_REDUCED = {
    **{"add": "atomicAdd", "min": "atomicMin", "max": "atomicMax", "exch": "atomicExch", "inc": "atomicInc"},
    **{"dec": "atomicDec", "and": "atomicAnd", "or": "atomicOr", "xor": "atomicXor"},
}
_LIMITS = {"min": "gv_ptx::atomic_limit<false>", "max": "gv_ptx::atomic_limit<true>"}
_HALVES = {"f16", "bf16", "f16x2", "bf16x2"}
_REDUCED_TYPES = {"u32", "s32", "u64", "s64", "b32", "b64", "f32", "f64", "f16", "bf16"}
_PAIRS = {"f16x2", "bf16x2"}  # two sums in one register
# Vectors that are added, which are in global memory; of 16 bits they may be limited, too.
_VECTORS = {
    **{kind: {"v2", "v4"} for kind in ("f32", *_PAIRS)},
    **{kind: {"v2", "v4", "v8"} for kind in ("f16", "bf16")},
}


def _access(parts: Sequence[str]) -> tuple[str, int]:
    """Return the element type of an access and the number of its elements."""
    lengths = [_LENGTHS[part] for part in parts if part in _LENGTHS]
    kind = parts[-1] if parts else ""
    if kind not in TYPES or set(parts[:-1]) - _SPACES - {_CLUSTER} - _CACHES - _ORDERS - set(_LENGTHS):
        raise NotPtx
    kind = {"f16": "b16", "bf16": "b16", "f16x2": "b32", "bf16x2": "b32"}.get(kind, kind)
    return TYPES[kind], lengths[0] if lengths else 1


def ld(parts: Sequence[str], operands: Sequence[Value], values: Values) -> str:
    """``ld.global.v4.f32 {a, b, c, d}, [address]``."""
    kind, count = _access(parts)
    target, anywhere = operands[0], _CLUSTER in parts
    place = values.address(operands[1]) if anywhere else values.pointer(operands[1])
    if len(items(target)) != count:
        raise NotPtx
    if count > 1:
        load = f"gv_ptx::load{'_anywhere' * anywhere}(gv_r, {place});"
        return f"{{ {kind} gv_r[{count}]; {load} {values.stores(target, 'gv_r')} }}"
    how = "_anywhere" if anywhere else "_volatile" if _ORDERS & set(parts) else ""
    text = values.store(target, f"gv_ptx::load{how}<{kind}>({place})")
    return f"{text} gv_thread_fence();" if "acquire" in parts else text


def st(parts: Sequence[str], operands: Sequence[Value], values: Values) -> str:
    """``st.shared.v4.f32 [address], {a, b, c, d}``."""
    kind, count = _access(parts)
    source, anywhere = operands[1], _CLUSTER in parts
    place = values.address(operands[0]) if anywhere else values.pointer(operands[0])
    if len(items(source)) != count:
        raise NotPtx
    if count > 1:
        store = f"gv_ptx::store{'_anywhere' * anywhere}({place}, gv_r);"
        return f"{{ const {kind} gv_r[{count}] = {values.words(source, kind)}; {store} }}"
    how = "_anywhere" if anywhere else "_volatile" if _ORDERS & set(parts) else ""
    text = f"gv_ptx::store{how}<{kind}>({place}, {values.value(source, kind)});"
    return f"gv_thread_fence(); {text}" if "release" in parts else text


def st_async(parts: Sequence[str], operands: Sequence[Value], values: Values) -> str:
    """``st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 [address], {a, b, c, d}, [barrier]``."""
    if _COUNTED not in parts or _CLUSTER not in parts:
        raise NotPtx
    kind, count = _access([part for part in parts if part != _COUNTED])
    if len(operands) != _STORED_AND_COUNTED or len(items(operands[1])) != count:
        raise NotPtx
    words = values.words(operands[1], kind)
    sent = f"gv_ptx::send({values.address(operands[0])}, gv_r, {values.address(operands[2])});"
    return f"{{ const {kind} gv_r[{count}] = {words}; {sent} }}"


def cvta(parts: Sequence[str], operands: Sequence[Value], values: Values) -> str:
    """``cvta.to.shared.u64 a, p`` and back: all addresses are generic here, and the low 32 bits are enough."""
    if not parts or parts[-1] not in ("u32", "u64") or set(parts[:-1]) - _SPACES - {"to"}:
        raise NotPtx
    address = values.value(operands[1], "unsigned long long")
    back = "to" not in parts and parts[-1] == "u64"
    return values.store(operands[0], f"(unsigned long long)gv_ptx::at({address})" if back else address)


def is_in_space(parts: Sequence[str], operands: Sequence[Value], values: Values) -> str:
    """``isspacep.shared p, a``."""
    test = {"shared": "gv_is_shared", "shared::cta": "gv_is_shared", "global": "gv_is_global"}["".join(parts)]
    address = values.value(operands[1], "unsigned long long")
    return values.store(operands[0], f"({test}(gv_ptx::at({address})) != 0)")


def atom(parts: Sequence[str], operands: Sequence[Value], values: Values) -> str:
    """``atom.global.add.f32 old, [address], b{, c}``; with vectors an operation for each element."""
    pointer, kind = values.pointer(operands[1]), _reduced(parts)
    if isinstance(operands[0], Vector):
        olds, added = items(operands[0]), _elements(parts, operands[2], values, kind)
        if len(operands) != 3 or len(olds) != len(added):
            raise NotPtx
        sums = (f"gv_r[{i}] = {_operation(parts)}(gv_p + {i}, {value});" for i, value in enumerate(added))
        array = f"{kind} *gv_p = ({kind} *){pointer}; {kind} gv_r[{len(olds)}];"
        return f"{{ {array} {' '.join(sums)} {values.stores(operands[0], 'gv_r')} }}"
    given = ", ".join(values.value(operand, kind) for operand in operands[2:])
    name = "atomicCAS" if "cas" in parts else _operation(parts)
    if len(operands) != (4 if "cas" in parts else 3):
        raise NotPtx
    return values.store(operands[0], f"{name}(({kind} *){pointer}, {given})")


def red(parts: Sequence[str], operands: Sequence[Value], values: Values) -> str:
    """``red.global.add.f32 [address], b``; ``red.global.add.v4.f32 [address], {b, c, d, e}``."""
    kind = _reduced(parts)
    pointer, given = values.pointer(operands[0]), _elements(parts, operands[1], values, kind)
    sums = (f"{_operation(parts)}(gv_p + {i}, {value});" for i, value in enumerate(given))
    return f"{{ {kind} *gv_p = ({kind} *){pointer}; {' '.join(sums)} }}"


def _elements(parts: Sequence[str], given: Value, values: Values, kind: str) -> list[str]:
    """Return the values that an atomic operation adds: one, or those of a vector."""
    lengths = [length for part, length in (*_LENGTHS.items(), ("v8", 8)) if part in parts]
    found = items(given)
    if len(found) != (lengths[0] if lengths else 1):
        raise NotPtx
    # In a vector that is added, an H200 takes a constant such as 1.0 for 0; it takes 0f3F800000 for 1.
    if lengths and any(isinstance(item, Number) and "." in item.text for item in found):
        raise NotPtx
    return [values.value(item, kind) for item in found]


def _reduced(parts: Sequence[str]) -> str:
    others = _SPACES | _CACHES | _ORDERS | {"acq_rel", "noftz", "cas", *_REDUCED}
    limits = bool({"min", "max"} & set(parts)) and parts[-1] in _HALVES
    vectors = _VECTORS.get(parts[-1], set())
    if ("add" in parts or limits) and not {"shared", "shared::cta"} & set(parts):
        others |= vectors
    if limits and not vectors & set(parts):
        raise NotPtx
    known = parts[-1] in _REDUCED_TYPES or (parts[-1] in _PAIRS and ("add" in parts or limits))
    if not known or set(parts[:-1]) - others:
        raise NotPtx
    return TYPES[parts[-1]]


def _operation(parts: Sequence[str]) -> str:
    found = [_REDUCED[part] for part in parts if part in _REDUCED]
    if len(found) != 1:
        raise NotPtx
    limit = next((name for part, name in _LIMITS.items() if part in parts), "")
    return limit if limit and parts[-1] in _HALVES else found[0]


def nothing(parts: Sequence[str], operands: Sequence[Value], values: Values) -> str:
    """Translate an instruction that changes no value and lets no thread wait, such as a prefetch."""
    return ""


def fence(parts: Sequence[str], operands: Sequence[Value], values: Values) -> str:
    """``fence.acq_rel.gpu``, ``membar.gl``: order accesses for other blocks; without effect within a block."""
    return "" if {"cta", "cluster"} & set(parts) else "gv_thread_fence();"


def create_policy(parts: Sequence[str], operands: Sequence[Value], values: Values) -> str:
    """``createpolicy``: a hint to a cache."""
    return values.store(operands[0], "0ull")
