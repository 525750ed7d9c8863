"""The digest of a kernel's executed parts: its code and the keys that decide its launch, without texts for people."""

import hashlib
import json
from collections.abc import Mapping


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
