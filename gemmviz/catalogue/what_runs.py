"""The digest of a kernel's executed parts: its code and the keys that decide its launch, without texts for people."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from gemmviz.catalogue.expression import Expression

if TYPE_CHECKING:  # it imports this module
    from gemmviz.catalogue.kernel import Kernel


def digest(code: str, decides: Mapping[str, object]) -> str:
    """Return a hexadecimal SHA-256.

    Parameters
    ----------
    code
        The file's text without front matter.
    decides
        The other inputs that decide the execution, by name: texts, lists and mappings. Empty ones are left out, so
        that a new key changes no digest of a kernel that does not use it.
    """
    given = {name: value for name, value in decides.items() if value}
    return hashlib.sha256(json.dumps([code, given], sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def decides(kernel: "Kernel") -> dict[str, object]:
    """Return all that decides the execution of a kernel beside its code, for `digest`."""
    batch, division = kernel.batch, kernel.division
    return {
        "backend": kernel.backend,
        "entry": kernel.entry,
        "args": kernel.args,
        # Their values are part of a launch.
        "params": sorted(kernel.params),
        "constants": {name: _texts([value])[0] for name, value in kernel.constants.items()},
        "block": _texts(kernel.block),
        "grid": _texts(kernel.grid),
        "cluster": _texts(kernel.cluster),
        "shared": _texts([kernel.shared]),
        "dtype": kernel.dtype,
        "accumulate": kernel.accumulate,
        "stores": kernel.stores or "",
        "zero": ["C"] if kernel.zeroed else [],
        "unaligned": sorted(kernel.unaligned),
        **({"copied": sorted(kernel.copied)} if kernel.copied else {}),
        "epilogue": kernel.epilogue,
        "math": kernel.math,
        "by columns": sorted(kernel.column_major),
        "capability": kernel.capability,
        "structs": kernel.structs,
        "pointers to structs": [at for at, pointer in enumerate(kernel.struct_pointers) if pointer],
        "batch": [batch.count.text, *sorted((m, e.text) for m, e in batch.strides.items())] if batch else [],
        "division": [*_texts([division.devices]), division.crossing] if division else [],
        "maps": {
            matrix: [*_texts([box.rows, box.columns, box.swizzle]), *[str(box.rank)] * (box.rank > 2)]
            for matrix, box in kernel.maps.items()
        },
    }


def _texts(expressions: Iterable[Expression]) -> list[str]:
    return [" ".join(e.text.split()) for e in expressions]
