"""mbarriers, clusters, the copy engine and products of a warpgroup.

Rules: PTX ISA, "mbarrier", "Data Movement and Conversion Instructions: Tensor copy" and "Asynchronous Warpgroup Level
Matrix Instructions".
"""

import re
from collections.abc import Sequence

from gemmviz.simt.inline_ptx.grammar import Address, Name, NotPtx, Number, Value, Vector
from gemmviz.simt.inline_ptx.values import Values, items

_SHAPE = re.compile(r"m64n(\d+)k(\d+)")
_DEPTHS = {"f16": 16, "bf16": 16, "tf32": 8, "e4m3": 32, "e5m2": 32, "s8": 32, "u8": 32}
_TYPES = {
    **{"f16": "GV_HALF", "bf16": "GV_BFLOAT16", "tf32": "GV_TF32", "e4m3": "GV_E4M3", "e5m2": "GV_E5M2"},
    **{"s8": "GV_S8", "u8": "GV_U8", "f32": "GV_FLOAT", "s32": "GV_S32"},
}
# The types of sums that products of a type have.
_SUMS = {
    **dict.fromkeys(("f16", "e4m3", "e5m2"), ("f16", "f32")),
    **dict.fromkeys(("bf16", "tf32"), ("f32",)),
    **dict.fromkeys(("s8", "u8"), ("s32",)),
}
_MOST_DIMENSIONS = 5
# Parts of the names of copies without a map; the first two are the destination and the source.
_BULK = {
    *("shared::cluster", "shared::cta", "global", "mbarrier::complete_tx::bytes", "bulk_group"),
    *("multicast::cluster", "L2::cache_hint"),
}
_LEAST_BULK = 3


def mbarrier_init(parts: Sequence[str], operands: Sequence[Value], values: Values) -> str:
    """``mbarrier.init.shared.b64 [barrier], count``."""
    return f"gv_mbarrier_init({values.pointer(operands[0])}, {values.value(operands[1], 'unsigned')});"


def mbarrier_arrive(parts: Sequence[str], operands: Sequence[Value], values: Values) -> str:
    """``mbarrier.arrive{.expect_tx}.shared.b64 state, [barrier]{, count or bytes}``; the state may be left out."""
    if set(parts) & {"noComplete", "drop"}:
        raise NotPtx
    given = list(operands)
    state = None if isinstance(given[0], Address) else given.pop(0)
    address, number = values.address(given[0]), values.value(given[1], "unsigned") if len(given) > 1 else "1u"
    stored = values.store(state, f"gv_mbarrier_phase({values.pointer(given[0])})") if state else ""
    return f"{stored} gv_ptx::{'arrive_expect' if 'expect_tx' in parts else 'arrive'}({address}, {number});"


def mbarrier_expect(parts: Sequence[str], operands: Sequence[Value], values: Values) -> str:
    """``mbarrier.expect_tx.relaxed.cta.shared.b64 [barrier], bytes``."""
    return f"gv_ptx::expect({values.address(operands[0])}, {values.value(operands[1], 'unsigned')});"


def mbarrier_complete(parts: Sequence[str], operands: Sequence[Value], values: Values) -> str:
    """``mbarrier.complete_tx.shared::cluster.b64 [barrier], bytes``: takes bytes for copied."""
    return f"gv_ptx::complete({values.address(operands[0])}, {values.value(operands[1], 'unsigned')});"


def mbarrier_wait(parts: Sequence[str], operands: Sequence[Value], values: Values) -> str:
    """``mbarrier.try_wait{.parity}.shared.b64 done, [barrier], parity or state``: here it waits for the phase's end."""
    phase = values.value(operands[2], "unsigned long long")
    wait = f"gv_mbarrier_wait({values.pointer(operands[1])}, (unsigned)({phase} & 1));"
    return wait + values.store(operands[0], "true")


def mbarrier_arrive_copied(parts: Sequence[str], operands: Sequence[Value], values: Values) -> str:
    """``cp.async.mbarrier.arrive{.noinc}.shared.b64 [barrier]``."""
    return f"gv_mbarrier_{'arrive' if 'noinc' in parts else 'await'}_copied({values.pointer(operands[0])});"


def cluster_arrive(parts: Sequence[str], operands: Sequence[Value], values: Values) -> str:
    """``barrier.cluster.arrive{.release or .relaxed}{.aligned}``."""
    return f"gv_cluster_arrive({int('relaxed' in parts)});"


def cluster_wait(parts: Sequence[str], operands: Sequence[Value], values: Values) -> str:
    """``barrier.cluster.wait``: here the blocks synchronise, not at the arrival before it."""
    return "gv_cluster_barrier();"


def mapa(parts: Sequence[str], operands: Sequence[Value], values: Values) -> str:
    """``mapa.shared::cluster.u32 a, address, rank``; ``mapa.u64`` maps a generic address, as `map_shared_rank` does."""
    address = values.value(operands[1], "unsigned long long")
    if list(parts) == ["u64"]:
        mapped = f"gv_map_shared(gv_ptx::at({address}), {values.value(operands[2], 'unsigned')})"
        return values.store(operands[0], f"(unsigned long long){mapped}")
    if "shared::cluster" not in parts:
        raise NotPtx
    return values.store(operands[0], f"gv_ptx::mapped({address}, {values.value(operands[2], 'unsigned')})")


def proxy_fence(parts: Sequence[str], operands: Sequence[Value], values: Values) -> str:
    """``fence.proxy.async.shared::cta``: makes the thread's writes visible to the copy engine and the tensor cores."""
    if parts[:1] != ["async"]:
        return ""
    shared = "" if "global" in parts else "gv_shared_written();"
    return shared + ("" if any(part.startswith("shared") for part in parts) else "gv_global_read();")


def box(parts: Sequence[str], operands: Sequence[Value], values: Values) -> str:
    """``cp.async.bulk.tensor``: a box to shared memory, which an mbarrier counts, or to the matrix."""
    if set(parts) & {"im2col", "im2col_no_offs", "tile::gather4", "tile::scatter4", "cta_group::1", "cta_group::2"}:
        raise NotPtx
    given = operands[:-1] if "L2::cache_hint" in parts else operands
    if parts[1:2] == ["global"]:
        store = f"gv_ptx::box_store({_map(parts, given[0], values)}, {values.pointer(given[1])});"
        return _without_further(given[0], values) + store
    blocks = values.value(given[3], "unsigned") if "multicast::cluster" in parts else "0u"
    barrier = f"gv_ptx::in_block({values.address(given[2])})"
    load = f"gv_ptx::box_load({values.pointer(given[0])}, {_map(parts, given[1], values)}, {barrier}, {blocks});"
    return _without_further(given[1], values) + load


def box_sum(parts: Sequence[str], operands: Sequence[Value], values: Values) -> str:
    """``cp.reduce.async.bulk.tensor``: a box is added to the matrix."""
    if "add" not in parts:
        raise NotPtx
    add = f"gv_ptx::box_add({_map(parts, operands[0], values)}, {values.pointer(operands[1])});"
    return _without_further(operands[0], values) + add


def bulk(parts: Sequence[str], operands: Sequence[Value], values: Values) -> str:
    """``cp.async.bulk``: adjacent bytes to shared memory, which an mbarrier counts, or from it, in a group."""
    if set(parts) - _BULK or len(parts) < _LEAST_BULK:
        raise NotPtx
    given = operands[:-1] if "L2::cache_hint" in parts else operands
    to, source, size = values.address(given[0]), values.pointer(given[1]), values.value(given[2], "unsigned")
    if parts[0] == "global":
        return f"gv_bulk_store(gv_ptx::at({to}), {source}, {size});"
    blocks = values.value(given[4], "unsigned") if "multicast::cluster" in parts else "0u"
    return f"gv_ptx::bulk_load({to}, {source}, {size}, {values.address(given[3])}, {blocks});"


def bulk_sum(parts: Sequence[str], operands: Sequence[Value], values: Values) -> str:
    """``cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [to], [from], size``."""
    if parts[0] != "global" or list(parts[-2:]) != ["add", "f32"] or set(parts[:-2]) - _BULK:
        raise NotPtx
    to, source = values.pointer(operands[0]), values.pointer(operands[1])
    return f"gv_bulk_add({to}, {source}, {values.value(operands[2], 'unsigned')});"


def _map(parts: Sequence[str], operand: Value, values: Values) -> str:
    """Return the arguments for a map and its coordinates."""
    if not isinstance(operand, Address):
        raise NotPtx
    count = len(operand.coordinates)
    if parts[0] != f"{count}d" or not 2 <= count <= _MOST_DIMENSIONS:
        raise NotPtx
    coordinates = [values.value(item, "int") for item in operand.coordinates[:3]] + ["0"] * (count == 2)
    return f"{values.pointer(Address(operand.terms))}, {', '.join(coordinates)}, {str(count > 2).lower()}"


def _without_further(operand: Value, values: Values) -> str:
    """Return the test that the coordinates behind the third are 0."""
    further = operand.coordinates[3:] if isinstance(operand, Address) else ()
    unknown = [item for item in further if not (isinstance(item, Number) and int(item.text) == 0)]
    return "".join(f"gv_ptx::must_be_zero({values.value(item, 'int')}); " for item in unknown)


def box_commit(parts: Sequence[str], operands: Sequence[Value], values: Values) -> str:
    """``cp.async.bulk.commit_group``."""
    return "gv_box_store_commit();"


def box_wait(parts: Sequence[str], operands: Sequence[Value], values: Values) -> str:
    """``cp.async.bulk.wait_group{.read} n``: until shared memory is read, or the matrix is written."""
    left = values.value(operands[0], "unsigned")
    return f"gv_box_store_wait({left});" if "read" in parts else f"gv_ptx::box_wait({left});"


def wgmma_commit(parts: Sequence[str], operands: Sequence[Value], values: Values) -> str:
    """``wgmma.commit_group.sync.aligned``."""
    return "gv_wgmma_commit();"


def wgmma_wait(parts: Sequence[str], operands: Sequence[Value], values: Values) -> str:
    """``wgmma.wait_group.sync.aligned n``."""
    return f"gv_wgmma_wait({values.value(operands[0], 'unsigned')});"


def wgmma(parts: Sequence[str], operands: Sequence[Value], values: Values) -> str:
    """``wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 d, a, b, add{, scales, transpositions}``: d = a b + d."""
    shapes = [found for part in parts if (found := _SHAPE.fullmatch(part))]
    kinds = [part for part in parts if part in _TYPES]
    meaningless = {"sync", "aligned", "satfinite", *_TYPES}
    if len(kinds) != 3 or any(part not in meaningless and not _SHAPE.fullmatch(part) for part in parts):
        raise NotPtx
    columns, depth = (int(side) for side in shapes[0].groups())
    d, a, b = kinds
    if depth != _DEPTHS.get(a) or depth != _DEPTHS.get(b) or columns % 8 or not 8 <= columns <= 256:
        raise NotPtx
    if d not in _SUMS[a] or d not in _SUMS[b]:
        raise NotPtx
    sums = [item.text for item in items(operands[0]) if isinstance(item, Name)]
    in_registers = isinstance(operands[1], Vector)
    words = f"const unsigned gv_a[] = {values.words(operands[1])}; " if in_registers else ""
    first = "{}" if in_registers else _operand(operands[1], values)
    numbers = [values.value(operand, "int") for operand in operands[4:]]
    scales = [*numbers[:2], "1", "1"][:2]
    lies = numbers[2:] if depth == _DEPTHS["f16"] else []
    across_a, across_b = ["0", *lies[:1]] if in_registers and lies else [*lies[:2], "0", "0"][:2]
    types = ", ".join(["GV_S32_CLAMPED" if "satfinite" in parts else _TYPES[d], _TYPES[a], _TYPES[b]])
    product = (
        f"{{{first}, {_operand(operands[2], values)}, {'gv_a' if in_registers else 'nullptr'}, {columns}, {types}, "
        f"{across_a}, {across_b}, {values.value(operands[3], 'bool')}, {scales[0]} * {scales[1]} < 0}}"
    )
    variables = ", ".join(values.variable(name) for name in sums)
    registers = columns // (4 if d == "f16" else 2)
    return f"{{ {words}const gv_wgmma_product gv_p = {product}; gv_ptx::wgmma<{registers}>(gv_p, {variables}); }}"


def _operand(descriptor: Value, values: Values) -> str:
    return f"gv_ptx::operand({values.value(descriptor, 'unsigned long long')})"
