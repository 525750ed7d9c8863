"""The compute capability that the instructions of a kernel need."""

import re

# The oldest architecture that has an instruction, the newest first. Source: PTX ISA, "Target ISA Notes" of each.
_NEEDED = (
    (re.compile(r"\b(?:wgmma\w*|setmaxnreg\w*|warpgroup_arrive)\b"), "9.0a"),
    (
        re.compile(
            r"cp\.async\.bulk|mbarrier\.(?:try_wait|arrive\.expect_tx)|\bmapa\b|stmatrix|barrier\.cluster|"
            r"\bcluster_dims\b|__cluster_dims__|\bCUtensorMap\b|\bthis_cluster\b|cvt\.r[nz](?:\.\w+)?\.tf32"
        ),
        "9.0",
    ),
    (re.compile(r"\.e4m3|\.e5m2|__nv_fp8_e[45]m[23]"), "8.9"),
    (
        re.compile(
            r"cp\.async|__pipeline_memcpy_async|\bmemcpy_async\b|mbarrier\.|mma\.sync\S*\.(?:bf16|tf32)|"
            r"m16n8k16\S*\.f16|m16n8k32|precision::tf32|__nv_bfloat16\s*,\s*(?:nvcuda::)?(?:wmma::)?(?:row|col)_major|"
            r"redux\.sync|__reduce_add_sync"
        ),
        "8.0",
    ),
    (re.compile(r"ldmatrix|m16n8k8|m8n8k16"), "7.5"),
    (re.compile(r"\bwmma\b|mma\.sync|\bmma_sync\b"), "7.0"),
)
_MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)(?:\\\n|[^\n])*$", re.MULTILINE)


def needed_capability(texts: str) -> str:
    """Return the least capability for the instructions that a text names; empty where every GPU has them.

    Parameters
    ----------
    texts
        The kernel and the functions that it calls, without comments.
    """
    code = _without_unused(texts)
    return next((capability for pattern, capability in _NEEDED if pattern.search(code)), "")


def _without_unused(text: str) -> str:
    """Return a text without the macros that nothing uses: a file may define those of every architecture."""
    macros = {found[1]: found[0] for found in _MACRO.finditer(text)}
    code = _MACRO.sub("", text)
    while True:
        words = set(re.findall(r"\w+", code))
        used = [name for name in macros if name in words]
        if not used:
            return code
        code += "".join("\n" + macros.pop(name) for name in used)
