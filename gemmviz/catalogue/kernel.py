"""Reads a kernel file: one source that describes itself in a TOML front matter."""

from collections.abc import Callable
from functools import lru_cache, partial
from pathlib import Path

from gemmviz.catalogue import batch, demo, front_matter, launch_checks, shared_code, switches, tensor_map
from gemmviz.catalogue.division import read_division
from gemmviz.catalogue.errors import FrontMatterError
from gemmviz.catalogue.expression import Expression
from gemmviz.catalogue.fault_line import located
from gemmviz.catalogue.front_matter import expressions, one_line
from gemmviz.catalogue.kernel_type import Backend, Kernel
from gemmviz.catalogue.matrices import MATRICES
from gemmviz.catalogue.matter_table import matter_table
from gemmviz.catalogue.own_name import own_name
from gemmviz.catalogue.schedule import read_schedule
from gemmviz.catalogue.shared_code import read
from gemmviz.catalogue.source_files import CUDA, C
from gemmviz.language import tr

__all__ = ["Backend", "Kernel", "code", "load", "parse", "read"]

_BACKEND_OF: dict[str, Backend] = {**dict.fromkeys(C, "c"), **dict.fromkeys(CUDA, "cuda")}
_LIBRARIES: dict[str, Backend] = {"numpy": "numpy", "openblas": "openblas", "cublas": "cublas"}
_KEYS = front_matter.Matter.__annotations__.keys()


def code(text: str) -> tuple[int, int]:
    """Return where a kernel's code begins and ends: between its front matter and the changes that it declares."""
    fence = front_matter.FENCE.search(text)
    if fence is not None and fence.end() >= len(text.rstrip()):
        return 0, fence.start()  # the front matter is below the code, as that of a guess
    return front_matter.code_start(text), switches.block(text)[0]


def load(path: Path) -> Kernel:
    """Read a kernel file.

    Raises
    ------
    FrontMatterError
        When the front matter is missing, incomplete or wrong; the message names file and key.
    OSError, UnreadableFile
        When the file cannot be read.
    """
    return _located(_of_file, read(path), path)


def parse(text: str, path: Path, folders: str = "") -> Kernel:
    """Make a kernel of a file's text, as `load` does.

    Parameters
    ----------
    text
        The whole file.
    path
        Its path; the suffix decides the backend (``.c``, ``.cu``, or ``.toml`` for a reference).
    folders
        The folders in the kernel's name: see `Kernel`.

    Raises
    ------
    FrontMatterError
        As `load` does.
    """
    return _located(partial(_of_text, folders=folders), text, path)


def _located(build: Callable[[str, Path], Kernel], text: str, path: Path) -> Kernel:
    try:
        return build(text, path)
    except FrontMatterError as error:
        raise located(error, text, path) from None


def _build(text: str, path: Path, folders: str = "") -> Kernel:
    table = matter_table(text, path)
    matter = front_matter.read_matter(table)
    version = matter.get("version", 1)
    params = {name: tuple(values) for name, values in matter.get("params", {}).items()}
    shown, strange = (
        demo.read_demo(matter["demo"], params, version > front_matter.VERSION) if "demo" in matter else (None, [])
    )
    unknown = (*sorted(table.keys() - _KEYS), *(f"demo.{key}" for key in strange))
    if unknown and version <= front_matter.VERSION:
        known = demo.KEYS if unknown[0].startswith("demo.") else _KEYS
        message = tr("unknown key {key}; known are {known}", key=repr(unknown[0]), known=", ".join(sorted(known)))
        raise FrontMatterError(message, about=unknown[0].rpartition(".")[2])
    if "code_of" in matter:
        raise shared_code.has_code()
    name = own_name(path, folders)
    backend = _BACKEND_OF.get(path.suffix) or _LIBRARIES.get(str(matter.get("library")))
    if backend is None:
        message = tr("a {suffix} file needs library = one of {known}", suffix=path.suffix, known=", ".join(_LIBRARIES))
        raise FrontMatterError(message, about="library")
    dtype = matter.get("dtype", "float32")
    maps = tensor_map.read_tensor_maps(matter.get("maps", {}), MATRICES)
    cluster = expressions(matter.get("cluster", []))
    args, structs, struct_pointers = front_matter.arguments(matter)
    alias = one_line(matter.get("alias", ""))  # the document's name; that of a variant has its changes, too
    kernel = Kernel(
        name=name,
        path=path,
        text=text,
        backend=backend,
        title=one_line(matter.get("title", "")) or name,
        idea=one_line(matter.get("idea", "")),
        source=one_line(matter.get("source", "")),
        alias=alias + "".join(name.partition("~")[1:]) if alias else name,
        entry=one_line(matter.get("entry", "")),
        exhibit=one_line(matter.get("exhibit", "")),
        args=args,
        structs=structs,
        struct_pointers=struct_pointers,
        batch=front_matter.batch_form(matter),
        division=read_division(matter),
        params=params,
        constants={name: Expression(str(formula)) for name, formula in matter.get("constants", {}).items()},
        block=expressions(matter.get("block", [])),
        grid=expressions(matter.get("grid", [])),
        shared=Expression(str(matter.get("shared", 0))),
        requires=expressions(matter.get("requires", [])),
        dtype=dtype,
        accumulate=front_matter.sums(matter),
        stores=front_matter.stores(matter),
        zeroed=bool(matter.get("zero")),
        unaligned=frozenset(matter.get("unaligned", ())),
        copied=frozenset(matter.get("copied", ())),
        schedule=read_schedule(matter["schedule"], params) if "schedule" in matter else None,
        epilogue=matter.get("epilogue", ""),
        math=front_matter.math(matter),
        column_major=front_matter.column_major(matter),
        capability=front_matter.needed_capability(matter, "maps" if maps else "cluster" if cluster else ""),
        maps=maps,
        cluster=cluster,
        breaks=switches.read_breaks(text),
        version=version,
        demo=shown,
        unknown=unknown,
        folders=folders,
    )
    if kernel.recordable:
        _check(kernel)
    return kernel


_of_file = lru_cache(maxsize=128)(_build)  # the ladder is read more often than it changes
_of_text = lru_cache(maxsize=16)(_build)  # each key that is typed makes a new text


def _check(kernel: Kernel) -> None:
    """Refuse a kernel whose launch cannot be made from its front matter."""
    launch_checks.check_entry(kernel.entry, kernel.text)
    launch_checks.check_arguments(kernel.args, kernel.maps)
    if kernel.structs or kernel.batch or ({*kernel.args} & {*batch.ROLES} and not kernel.division):
        launch_checks.check_cuda_forms(kernel.backend, kernel.args, kernel.maps, bool(kernel.structs), kernel.batch)
    if kernel.division:
        launch_checks.check_divided(kernel)
    if kernel.backend == "cuda":
        launch_checks.check_shapes(block=kernel.block, grid=kernel.grid, cluster=kernel.cluster or (Expression("1"),))
    elif kernel.capability:
        key = "maps" if kernel.maps else "cluster" if kernel.cluster else "capability"
        raise FrontMatterError(tr("capability, maps and cluster are for CUDA kernels"), about=key)
    sides = (side for box in kernel.maps.values() for side in (box.rows, box.columns))
    of_batch = (kernel.batch.count, *kernel.batch.strides.values()) if kernel.batch else ()
    shapes = (*kernel.block, *kernel.grid, *kernel.cluster, *([kernel.division.devices] if kernel.division else []))
    launch_checks.check_names(
        (*shapes, *kernel.requires, kernel.shared, *sides, *kernel.constants.values(), *of_batch), kernel.params
    )
