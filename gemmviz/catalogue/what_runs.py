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
        The other inputs that decide the execution, by name: texts, lists of texts, and such by name. Empty ones are
        left out, so that a key which most kernels do not give changes none of their digests.
    """
    said = {name: value for name, value in decides.items() if value}
    return hashlib.sha256(json.dumps([code, said], sort_keys=True, ensure_ascii=False).encode()).hexdigest()
