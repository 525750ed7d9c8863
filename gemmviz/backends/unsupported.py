"""Names the parts of CUDA that the recorder does not know, when a kernel does not compile because of one of them."""

import re
from dataclasses import dataclass

from gemmviz.catalogue.device_code import device_code
from gemmviz.catalogue.errors import BuildError
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.plain_code import plain_code
from gemmviz.language import mark, tr

_SYNC = mark("use __syncthreads(), __syncwarp(), the waits of <cuda_pipeline.h> or the barriers of <gemmviz/ptx.h>")
_COPY = mark("use <cuda_pipeline.h>, or cp.async and the copy engine (TMA) from <gemmviz/ptx.h>")
# Functions of <gemmviz/ptx.h> with such names are allowed.
_OURS = r"(?!(?:wgmma_(?:begin|commit|wait|m64n\d+k16_f32(?:_b?f16)?)|cluster_rank)\b)"
# A pattern for the source without its comments and string literals, a name for the match, and the remedy.
_REFUSED = [
    (r"\b(?:cuda\s*::\s*(?:ptx\s*::|device\s*::\s*(?:experimental\s*::)?)|cde\s*::)\s*\w+", "{name}", _COPY),
    (r"\bcuda\s*::\s*barrier\b", "cuda::barrier",
     mark("include <cuda/barrier>, and give it the scope of a block without a function at its end")),
    (r"\bcuda\s*::\s*(?:memcpy_async\w*|pipeline\w*|make_pipeline)\b", "{name}", _COPY),
    (r"\b(?:cooperative_groups|cg)\s*::\s*\w+", "{name}",
     mark("include <cooperative_groups.h>, and use this_thread_block(), tiled_partition<32>(), sync(), memcpy_async() "
          "and reduce()")),
    (rf"\b{_OURS}\w*wgmma\w*", mark("{name} (warp-group tensor cores)"),
     mark("use nvcuda::wmma, or mma and wgmma from <gemmviz/ptx.h>")),
    (r"\b(?:CUtensorMap|\w*tensormap\w*|\w*cp_async_bulk\w*)\b", "{name} (TMA)", _COPY),
    (r"\b\w*mbarrier\w*\b", "{name}", _SYNC),
    (rf"\b{_OURS}(?:__cluster_(?:dims|size)__|\w*cluster_(?:sync|rank|arrive|wait)\w*|cluster_group)\b",
     mark("{name} (clusters)"), mark("keep to one block")),
    (r"\b(?:tex[123]D\w*|cudaTextureObject_t|surf[123]D\w*|cudaSurfaceObject_t|texture\s*<)",
     mark("{name} (textures)"), mark("the recorder has no texture units; read global memory, or __ldg()")),
    (r"\b(?:malloc|calloc|realloc|free|alloca)(?=\s*\()|\b(?:new|delete)\b",
     mark("{name} (memory that a thread asks for)"),
     mark("give the thread a local array of a fixed size, or use __shared__ memory")),
    (r"<<<|\bcuda(?:Malloc|Memcpy|Free|DeviceSynchronize|GetLastError|Event\w+|Stream\w+|Error_t)\w*\b",
     mark("host code ({name})"),
     mark("keep the kernel in a separate file; the front matter describes its launch")),
    (r"\b__nv_fp[46]\w*", "{name}", mark("use half, bfloat16 or float")),
    (r"\bcu(?:tlass|te)\s*::\s*\w+", "{name}", mark("write the kernel without that library")),
]  # fmt: skip
_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]*([<\"][^>\"\n]+[>\"])", re.MULTILINE)
_NO_FILE = re.compile(r"'?([\w./+-]+)'?:? (?:file not found|No such file or directory)")


@dataclass(frozen=True)
class Unsupported:
    """One use of a feature that cannot be recorded: its name, its first line, and the last line of its statement."""

    what: str
    instead: str
    line: int
    last_line: int


def explain(error: BuildError, kernel: Kernel) -> BuildError:
    """Return an error that names the feature that cannot be recorded, if a kernel does not compile because of it.

    Parameters
    ----------
    error
        The compiler's message.
    kernel
        The kernel.

    Returns
    -------
    BuildError
        The same error if it has another reason.
    """
    name = kernel.path.name
    missing = _NO_FILE.search(str(error))
    if missing is not None:
        line = _include_line(kernel.text, missing[1]) or error.line
        text = tr(
            "{what} cannot be recorded: what the recorder knows of CUDA needs no include but <cuda_fp16.h>, "
            "<cuda_bf16.h>, <cuda_fp8.h>, <cuComplex.h>, <mma.h>, <cuda_pipeline.h>, <cuda/barrier>, <cuda/cmath>, "
            "<cuda/pipeline>, <cuda/ptx>, <cooperative_groups.h> with its memcpy_async.h and reduce.h, and "
            "<gemmviz/ptx.h>",
            what=f"#include <{missing[1]}>",
        )
        return BuildError(f"{name}:{line}: {text}", line)
    # Only the parts of the file that its kernel needs were compiled.
    found = find(device_code(kernel.text, kernel.entry))
    blamed = next(
        (r for r in found if error.line is not None and r.line <= error.line <= r.last_line),
        None,
    )
    if blamed is None:
        return error
    text = tr("{what} cannot be recorded: {instead}", what=blamed.what, instead=blamed.instead)
    return BuildError(f"{name}:{blamed.line}: {text}", blamed.line)


def find(text: str) -> list[Unsupported]:
    """Return every use of something that cannot be recorded, in the order of the lines."""
    # String literals may look like code, and PTX in them is not C++: they are replaced by spaces.
    code = plain_code(text)
    found = []
    for pattern, what, instead in _REFUSED:
        for use in re.finditer(pattern, code):
            if _is_own(use[0], code):
                continue
            end = code.find(";", use.end())
            lines = [code[: use.start()].count("\n") + 1, code[: end if end > 0 else use.end()].count("\n") + 1]
            named = tr(what, name=re.sub(r"\s", "", use[0]))
            found.append(Unsupported(named, tr(instead), lines[0], lines[1]))
    return sorted(found, key=lambda refused: refused.line)


def _is_own(name: str, code: str) -> bool:
    """Return whether a name is that of a function that the text itself defines: no part of CUDA."""
    if not name.isidentifier():
        return False
    if re.search(rf"\bnamespace\s+(?:\w+\s*::\s*)*{name}\b", code):
        return True
    head = rf"\b(?:void|auto|bool|\w+_t|u?int|float)\s+{name}\s*\((?:[^()]|\([^()]*\))*\)\s*\{{"
    return re.search(head, code) is not None


def _include_line(text: str, name: str) -> int | None:
    for use in _INCLUDE.finditer(text):
        if use[1][1:-1] == name:
            return text[: use.start()].count("\n") + 1
    return None
