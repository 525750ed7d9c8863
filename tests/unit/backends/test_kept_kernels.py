"""Machine code of CUDA kernels is kept: under a key of all that decides it, once, and never wrong."""

import hashlib
import os
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import nvrtc_alone
import pytest

from gemmviz import data
from gemmviz.backends import kept_kernels
from gemmviz.backends.header_files import header_files
from gemmviz.backends.kept_kernels import MachineCode, machine_code
from gemmviz.backends.nvrtc import options, program_text
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.sandbox import kept

TEXT = "#include <mine.h>\n__global__ void k() {}\n"


class Compiler:
    """Stands for CuPy: its compiler makes a text of all that it gets, with the headers in one folder."""

    def __init__(self, own: Path) -> None:
        self.own, self.compiled = own, 0
        self.capability, self.version = "90", "13.5"
        self.meanwhile: Callable[[], object] = lambda: None
        self.__version__ = "14.2"
        nvrtc = SimpleNamespace(
            createProgram=lambda *_: 1,
            compileProgram=lambda *_: None,
            getPTX=lambda _: f"// {self.version}\n.version 9".encode(),
            destroyProgram=lambda _: None,
            getVersion=lambda: (13, 5),
        )
        self.cuda = SimpleNamespace(
            Device=lambda: SimpleNamespace(compute_capability=self.capability),
            compiler=SimpleNamespace(compile_using_nvrtc=self._compile),
            nvrtc=nvrtc,
        )
        self._core = SimpleNamespace(core=SimpleNamespace(assemble_cupy_compiler_options=lambda given: given))

    def _compile(self, text: str, flags: Sequence[str], *_: Any, **__: Any) -> tuple[bytes, dict[str, str]]:
        self.compiled += 1
        self.meanwhile()
        headers = sorted(file.read_text() for file in self.own.glob("*.h"))
        return repr((text, tuple(flags), self.capability, self.version, headers)).encode(), {"k": "_Z1kv"}


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    folder.mkdir()
    monkeypatch.setattr(data, "cache_folder", lambda name: (folder, ""))
    return folder


@pytest.fixture
def cp(tmp_path: Path) -> Compiler:
    own = tmp_path / "own"
    own.mkdir()
    (own / "mine.h").write_text("int x = 1;\n")
    return Compiler(own)


def code(cp: Compiler, text: str = TEXT, *flags: str) -> MachineCode:
    found = machine_code(cp, text, (f"-I{cp.own}", *flags), "k", cp.own)
    assert found is not None
    assert found.entry == "_Z1kv"
    assert repr(text) in found.file.read_text()
    return found


def test_a_kernel_is_compiled_once(cp: Compiler, cache: Path) -> None:
    first, second = code(cp), code(cp)
    assert (first.is_new, second.is_new, cp.compiled) == (True, False, 1)
    assert second.file == first.file
    assert first.file.parent == cache
    assert not list(cache.glob(".*"))  # neither a lock nor a part of a file is left


def test_a_cupy_that_does_not_say_its_options_compiles_by_itself(cp: Compiler, cache: Path) -> None:
    cp._core = SimpleNamespace(core=SimpleNamespace())
    assert machine_code(cp, TEXT, (), "k", cp.own) is None
    assert (cp.compiled, list(cache.iterdir())) == (0, [])


def change_header(cp: Compiler) -> None:
    (cp.own / "mine.h").write_text("int x = 2;\n")


def change_device(cp: Compiler) -> None:
    cp.capability = "100"


def change_compiler(cp: Compiler) -> None:
    cp.version = "13.6"
    kept_kernels._compiler.cache_clear()


def new_header_of_another_folder(cp: Compiler) -> None:
    (cp.own / "cuda_fp16.h").write_text("typedef int half;\n")


@pytest.mark.parametrize(
    "change",
    [change_header, change_device, change_compiler, new_header_of_another_folder],
    ids=lambda one: one.__name__,
)
@pytest.mark.usefixtures("cache")
def test_all_that_decides_the_machine_code_is_in_the_key(cp: Compiler, change: Callable[[Compiler], None]) -> None:
    text = f"#include <cuda_fp16.h>\n{TEXT}"
    before = code(cp, text)
    change(cp)
    after = code(cp, text)
    assert after.is_new
    assert after.file.read_bytes() != before.file.read_bytes()


@pytest.mark.usefixtures("cache")
def test_texts_and_flags_are_kept_apart(cp: Compiler) -> None:
    made = [
        code(cp),
        code(cp, TEXT + " "),
        code(cp, TEXT, "-DX=1"),
        code(cp, TEXT, "-DX=11"),
        code(cp, TEXT, "-DX", "1"),
    ]
    assert all(one.is_new for one in made)
    assert len({one.file for one in made}) == len(made)


@pytest.mark.usefixtures("cache")
def test_a_copy_of_the_folder_has_the_same_code_only_with_the_same_headers(cp: Compiler, tmp_path: Path) -> None:
    code(cp)
    cp.own = cp.own.rename(tmp_path / "copy")
    assert not code(cp).is_new
    change_header(cp)
    assert code(cp).is_new


@pytest.mark.usefixtures("cache")
def test_a_damaged_file_is_compiled_again(cp: Compiler) -> None:
    file = code(cp).file
    file.write_bytes(file.read_bytes()[:-1] + b"!")
    again = code(cp)
    assert again.is_new
    assert hashlib.sha256(again.file.read_bytes()).hexdigest()[:16] in again.file.name


@pytest.mark.usefixtures("cache")
def test_where_nothing_can_be_written_nothing_is_kept(cp: Compiler, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(kept, "keep", full)
    assert machine_code(cp, TEXT, (f"-I{cp.own}",), "k", cp.own) is None


@pytest.mark.parametrize(
    "line",
    [
        "#define X <mine.h>\n#include X",
        "#inc\\\nlude X",
        "#/**/include <mine.h>",
        "%:include <mine.h>",
        "# include/**/<m>",
    ],
)
@pytest.mark.usefixtures("cache")
def test_an_include_that_only_a_compiler_understands_is_not_kept(cp: Compiler, line: str) -> None:
    assert machine_code(cp, f"{line}\n{TEXT}", (f"-I{cp.own}",), "k", cp.own) is None
    (cp.own / "mine.h").write_text(f"{line}\n")
    assert machine_code(cp, TEXT, (f"-I{cp.own}",), "k", cp.own) is None
    assert cp.compiled == 0


@pytest.mark.usefixtures("cache")
def test_headers_that_are_no_files_are_not_read(cp: Compiler) -> None:
    os.mkfifo(cp.own / "pipe.h")
    for name in ("pipe.h", "/dev/zero", "/proc/self/status"):
        assert machine_code(cp, f'#include "{name}"\n', (f"-I{cp.own}",), "k", cp.own) is None
    assert cp.compiled == 0


@pytest.mark.usefixtures("cache")
def test_a_header_that_includes_itself_through_another_folder_is_read_once(cp: Compiler) -> None:
    (cp.own / "mine.h").write_text('#include "../own/mine.h"\n#include "../own/deep/../mine.h"\n')
    (cp.own / "deep").mkdir()
    assert header_files(TEXT, [cp.own]) == {
        str(cp.own / "mine.h"): hashlib.sha256((cp.own / "mine.h").read_bytes()).hexdigest()
    }
    code(cp)


def test_the_folder_has_a_limited_size(cp: Compiler, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old, used = code(cp, TEXT, "-DOLD"), code(cp, TEXT, "-DUSED")
    for number, file in enumerate(sorted(cache.iterdir())):
        os.utime(file, (number, number))
    code(cp, TEXT, "-DUSED")
    size = sum(file.stat().st_size for file in cache.iterdir())
    monkeypatch.setattr(kept_kernels, "MOST_BYTES", size)
    monkeypatch.setattr(kept_kernels, "_LOOK_EVERY", 1)
    new = code(cp, TEXT, "-DNEW")
    assert sum(file.stat().st_size for file in cache.iterdir()) <= size
    assert not old.file.exists()
    assert used.file.exists()
    assert new.file.exists()


@pytest.mark.usefixtures("cache")
def test_of_several_that_need_a_kernel_at_one_time_one_compiles(cp: Compiler) -> None:
    others = [threading.Thread(target=code, args=(cp,)) for _ in range(3)]
    waits = threading.Event()

    def start() -> None:
        for one in others:
            one.start()
        waits.wait(0.1)

    cp.meanwhile = start
    assert code(cp).is_new
    for one in others:
        one.join()
    assert cp.compiled == 1


def test_a_lock_that_stays_held_is_not_waited_for_longer_than_its_limit(
    cp: Compiler, monkeypatch: pytest.MonkeyPatch, cache: Path
) -> None:
    monkeypatch.setattr(kept_kernels, "_TURN_S", 0.05)
    inner: list[bool] = []

    def another() -> None:
        cp.meanwhile = lambda: None
        inner.append(code(cp).is_new)

    cp.meanwhile = another
    code(cp)
    assert inner == [True]
    assert not code(cp).is_new
    assert not list(cache.glob(".*"))


@pytest.mark.skipif(nvrtc_alone.library() is None, reason="NVRTC is not installed")
@pytest.mark.parametrize("name", ["every_shape", "stream_k_tma", "gputiled"])
def test_all_headers_with_code_that_nvrtc_reads_are_known(name: str) -> None:
    job = launch(find(name, ladder()), Problem(256, 256, 256))
    flags = [flag for flag in options(job) if "--gpu-arch" not in flag]
    flags += [f"-I{folder}" for folder in nvrtc_alone.toolkit()]
    text = program_text(job)
    headers = header_files(text, [Path(flag[2:]) for flag in flags if flag.startswith("-I")])
    assert headers is not None
    read = nvrtc_alone.files_with_code(text, [*flags, "--gpu-architecture=sm_90a", "-G"])
    assert {Path(file).resolve() for file in read if Path(file).is_file()} <= {Path(file).resolve() for file in headers}
    assert any("words" in file for file in headers)


def test_the_shipped_kernels_can_be_kept() -> None:
    folders = [data.root("kernels") / "include", data.root("kernels") / "include" / "nvrtc"]
    for kernel in ladder():
        if kernel.backend == "cuda" and kernel.demo is not None:
            assert header_files(kernel.text, [kernel.path.parent, *folders]) is not None, kernel.name
