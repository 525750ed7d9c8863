"""The digest of what runs: a kernel's code and what decides its launch, without what is for people."""

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
        What else decides what runs, by name: texts, lists of texts, and such by name. What is empty is left out, so
        that a key which most kernels do not give changes none of their digests.
    """
    said = {name: value for name, value in decides.items() if value}
    return hashlib.sha256(json.dumps([code, said], sort_keys=True, ensure_ascii=False).encode()).hexdigest()
