"""cp.async, and the matrices that the lanes of a warp load and store together: ldmatrix, stmatrix.

Rules: PTX ISA, "Data Movement and Conversion Instructions" and "Warp-level matrix load instruction: ldmatrix".
"""

from collections.abc import Sequence

from gemmviz.simt.inline_ptx.grammar import NotPtx, Value
from gemmviz.simt.inline_ptx.values import Values, items

_MATRICES = {"x1": 1, "x2": 2, "x4": 4}


def cp_async(parts: Sequence[str], operands: Sequence[Value], values: Values) -> str:
    """``cp.async.ca.shared.global [to], [from], size{, source size or predicate that ignores it}``."""
    if parts[:1] not in (["ca"], ["cg"]) or len(operands) < 3:
        raise NotPtx
    given = operands[:-1] if "L2::cache_hint" in parts else operands
    to, source, size = values.pointer(given[0]), values.pointer(given[1]), values.value(given[2], "unsigned")
    read = size
    if len(given) > 3:
        ignored = values.is_predicate(given[3])
        read = f"{values.value(given[3], 'bool')} ? 0u : {size}" if ignored else values.value(given[3], "unsigned")
    return f"gv_copy_async({to}, {source}, {size}, {read});"


def commit_group(parts: Sequence[str], operands: Sequence[Value], values: Values) -> str:
    """``cp.async.commit_group``."""
    return "gv_copy_commit();"


def wait_group(parts: Sequence[str], operands: Sequence[Value], values: Values) -> str:
    """``cp.async.wait_group n``."""
    return f"gv_copy_wait({values.value(operands[0], 'unsigned')});"


def wait_all(parts: Sequence[str], operands: Sequence[Value], values: Values) -> str:
    """``cp.async.wait_all``."""
    return "gv_copy_wait_all();"


def ldmatrix(parts: Sequence[str], operands: Sequence[Value], values: Values) -> str:
    """``ldmatrix.sync.aligned.m8n8.x4.shared.b16 {r0, r1, r2, r3}, [row]``; some write the shape after the number."""
    count = _count(parts)
    if len(items(operands[0])) != count:
        raise NotPtx
    load = f"gv_ldmatrix(gv_r, {values.pointer(operands[1])}, {count}, {int('trans' in parts)});"
    return f"{{ unsigned gv_r[{count}]; {load} {values.stores(operands[0], 'gv_r')} }}"


def stmatrix(parts: Sequence[str], operands: Sequence[Value], values: Values) -> str:
    """``stmatrix.sync.aligned.m8n8.x4.shared.b16 [row], {r0, r1, r2, r3}``."""
    count = _count(parts)
    if len(items(operands[1])) != count:
        raise NotPtx
    store = f"gv_stmatrix({values.pointer(operands[0])}, gv_r, {count}, {int('trans' in parts)});"
    return f"{{ const unsigned gv_r[{count}] = {values.words(operands[1])}; {store} }}"


def _count(parts: Sequence[str]) -> int:
    found = [_MATRICES[part] for part in parts if part in _MATRICES]
    others = set(parts) - {"sync", "aligned", "m8n8", "trans", "shared", "shared::cta", "b16", *_MATRICES}
    if len(found) != 1 or others or "m8n8" not in parts or "b16" not in parts:
        raise NotPtx
    return found[0]
