"""Clang and the linker are started directly, with the commands that `zig cc` starts: the code is the same."""

import ctypes
from collections.abc import Iterator
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from gemmviz import data
from gemmviz.backends import compiler as compiler_module
from gemmviz.backends import toolchain, zig
from gemmviz.catalogue.errors import BuildError
from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.simt import build, precompiled

if len(toolchain.compiler().start) != 2 or Path(toolchain.compiler().start[0]).name != "zig":
    pytest.skip("the compiler is not the wheel's", allow_module_level=True)


@pytest.fixture
def runtime() -> list[Path]:
    """The recorder's compiled runtime, from the cache of all tests; ask for it before `started`."""
    return build._runtime_objects(toolchain.compiler(), build.runtime_texts(), data.cache_folder("recorders")[0])


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[list[list[str]]]:
    """The commands that are started, with an empty cache of compiled code, and no command known."""
    commands: list[list[str]] = []
    run = toolchain.run_compiler

    def kept(command, environment):
        commands.append([str(word) for word in command])
        return run(command, environment)

    monkeypatch.setattr(toolchain, "run_compiler", kept)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    template = zig._template
    template.cache_clear()
    yield commands
    template.cache_clear()


def sections(library: Path) -> dict[str, bytes]:
    """Return what is loaded; the rest, for debuggers, names other headers if the prelude was not precompiled."""
    with library.open("rb") as file:
        found = [s for s in ELFFile(file).iter_sections() if s["sh_type"] != "SHT_NOBITS"]
        return {s.name: s.data() for s in found if not s.name.startswith(".debug_") and s["sh_flags"]}


def lines(library: Path) -> list[tuple[int, str, int, int]]:
    """Return address, file, line and column of each row of the line tables."""
    rows = []
    with library.open("rb") as file:
        dwarf = ELFFile(file).get_dwarf_info()
        for unit in dwarf.iter_CUs():
            table = dwarf.line_program_for_CU(unit)
            files = table["file_entry"]
            states = [entry.state for entry in table.get_entries() if entry.state is not None]
            rows += [(s.address, Path(files[s.file - 1].name.decode()).name, s.line, s.column) for s in states]
    return rows


def object_of(text: str, folder: Path, name: str) -> Path:
    source, output = folder / f"{name}.c", folder / f"{name}.o"
    source.write_text(text, encoding="utf-8")
    toolchain.compile_object(source, output, ["-O2"], source)
    return output


def asked(started: list[list[str]]) -> int:
    return sum("cc" in command for command in started)


def test_zig_is_asked_once_and_another_process_knows_its_commands(started, tmp_path):
    (tmp_path / "a").mkdir()
    for name in ("first", "second"):
        object_of(f"int {name};\n", tmp_path / "a", name)
    assert asked(started) == 1 and [command[1] for command in started] == ["cc", "clang", "clang"]
    zig._template.cache_clear()  # as in another process
    object_of("int third;\n", tmp_path / "a", "third")
    assert asked(started) == 1


@pytest.mark.sweep("False")
@pytest.mark.parametrize("as_written", [False, True])
def test_the_code_is_the_same_as_from_zig_cc(runtime, started, tmp_path, monkeypatch, as_written):
    job = launch(find("gputiled", ladder()), Problem.cube(8), {"TS": 4})
    tool, text = toolchain.compiler(), build._wrapper(job)
    flags = build._flags(tool, job, as_written, text, "cuda.h")
    (tmp_path / "kernel.cpp").write_text(text, encoding="utf-8")
    part = next(build._RUNTIME.glob("notes.c"))
    header = precompiled.prelude(tool, flags, build.runtime_texts(), tmp_path)
    assert header is not None
    libraries = []
    for way in ("direct", "zig cc"):
        kernel, notes, library = (tmp_path / f"{way}.{end}" for end in ("kernel.o", "runtime.o", "so"))
        toolchain.compile_object(tmp_path / "kernel.cpp", kernel, flags, job.kernel.path, header)
        toolchain.compile_object(part, notes, build.runtime_flags(tool), part)
        others = [made for made in runtime if not made.name.startswith("notes-")]
        toolchain.compile_shared([kernel, notes, *others], library, build._link_flags(tool), job.kernel.path)
        libraries.append((sections(library), lines(library)))
        if way == "direct":
            assert started[-1][1] == "ld.lld" and any("-include-pch" in command for command in started)
        monkeypatch.setattr(zig, "direct", lambda *_: None)
    assert libraries[0][1] and libraries[0] == libraries[1]


def test_inline_ptx_is_compiled_after_the_precompiled_prelude_to_the_same_code(runtime, started, tmp_path, monkeypatch):
    """The macros of the prelude are read, its text is not; a kernel's own meaning of such a macro stays."""
    text = """// ---gemmviz
// entry = "k"
// args = ["A", "B", "C"]
// block = [32]
// grid = [1]
// ---
#include <cuda_fp16.h>
#undef DBL_MAX
constexpr int DBL_MAX = 2;
#define assert(x) x
__global__ void k(const float *A, const float *B, float *C)
{
    int y;
    asm("add.s32 %0, %1, 1;" : "=r"(y) : "r"((int)threadIdx.x));
    C[threadIdx.x] = y * assert(DBL_MAX);
}
"""
    job = launch(parse(text, tmp_path / "k.cu"), Problem(1, 32, 1))
    monkeypatch.setattr(build, "_runtime_objects", lambda *_: runtime)
    first = build.build(job)
    compiled = [command for command in started if "clang" in command]
    macros, precompiled_too = ([word in command for command in compiled] for word in ("-imacros", "-include-pch"))
    assert macros == [False, False, True, False] and precompiled_too == [False, False, False, True]
    monkeypatch.setattr(precompiled, "prelude", lambda *_: None)
    monkeypatch.setattr(build.kept, "find", lambda *_: None)
    second = build.build(job)
    assert "-include-pch" not in started[-2] and lines(first)
    assert (sections(first), lines(first)) == (sections(second), lines(second))


def test_a_prelude_is_precompiled_once_and_replaced_when_it_cannot_be_read(started, tmp_path):
    header, source = tmp_path / "prelude.h", tmp_path / "kernel.cpp"
    header.write_text("inline int one() { return 1; }\n", encoding="utf-8")
    source.write_text("int kernel() { return one(); }\n", encoding="utf-8")
    tool, flags = toolchain.compiler(), ["-x", "c++", "-include", str(header), "-DTS=4"]

    def made() -> Path:
        found = precompiled.prelude(tool, flags, ["text"], tmp_path)
        assert found is not None
        return found

    first = made()
    ended = len(started)
    assert made() == first and len(started) == ended
    first.write_bytes(first.read_bytes()[:100])
    toolchain.compile_object(source, tmp_path / "kernel.o", flags, source, first)
    assert started[-1][1] == "cc" and not first.exists()  # the header itself was read
    toolchain.compile_object(source, tmp_path / "kernel.o", flags, source, made())
    assert "-include-pch" in started[-1]


def test_other_headers_of_the_system_need_another_prelude(started, tmp_path, monkeypatch):
    """Within the sandbox Zig takes its own headers: a kernel must not mix them with those of a prelude from outside."""
    header = tmp_path / "prelude.h"
    header.write_text("inline int one() { return 1; }\n", encoding="utf-8")
    flags, direct = ["-x", "c++", "-include", str(header)], zig.direct
    outside = precompiled.prelude(toolchain.compiler(), flags, ["text"], tmp_path)
    monkeypatch.setattr(zig, "direct", lambda *a: [*direct(*a)[:-2], "-isystem", str(tmp_path), *direct(*a)[-2:]])
    inside = precompiled.prelude(toolchain.compiler(), flags, ["text"], tmp_path)
    assert outside and inside and outside != inside


def test_a_macro_that_the_prelude_reads_is_not_precompiled(tmp_path):
    flags = ["-x", "c++", "-include", str(tmp_path / "prelude.h"), "-DGV_BATCH_COUNT=3"]
    texts = ["#ifdef GV_BATCH_COUNT"]
    assert precompiled.prelude(toolchain.compiler(), flags, texts, tmp_path) is None
    assert precompiled.prelude(toolchain.compiler(), ["-x", "c"], texts, tmp_path) is None


def test_a_flag_of_another_kind_is_asked_for_and_macros_are_not(started, tmp_path):
    source = tmp_path / "a.c"
    source.write_text("int a = X;\n", encoding="utf-8")
    for flags in (["-DX=1"], ["-DX=2", f"-I{tmp_path}"], ["-DX=1", "-O3"]):
        toolchain.compile_object(source, tmp_path / "a.o", flags, source)
    assert asked(started) == 2


def test_a_wrong_source_is_reported_without_another_attempt(started, tmp_path):
    with pytest.raises(BuildError, match=r"wrong\.c:1: "):
        object_of("int a = b;\n", tmp_path, "wrong")
    assert asked(started) == 1 and started[-1][1] == "clang"


def test_a_file_of_the_command_that_is_gone_is_found_by_zig_itself(started, tmp_path, monkeypatch):
    first, flags = object_of("int a;\n", tmp_path, "first"), build._link_flags(toolchain.compiler())
    toolchain.compile_shared([first], tmp_path / "a.so", flags, first)
    template = zig._template

    def without_library(*arguments):
        known = template(*arguments)
        return known and [word.replace("crti.o", "gone.o") for word in known]

    monkeypatch.setattr(zig, "_template", without_library)
    before = asked(started)
    toolchain.compile_shared([first], tmp_path / "b.so", flags, first)
    assert (tmp_path / "b.so").is_file() and asked(started) == before + 1


def test_clangs_own_runtime_is_linked_only_to_what_calls_it(started, tmp_path, monkeypatch):
    # Zig would build its runtime for 8 s: a library with one function stands for it.
    runtime = object_of("int __gv_of_the_runtime(void) { return 7; }\n", tmp_path, "runtime")
    template, without = zig._template, (zig.COMPLETE, zig.WITHOUT_RUNTIME)

    def with_runtime(start, version, shape, *others):
        if zig.WITHOUT_RUNTIME in shape:
            return template(start, version, shape, *others)
        known = template(start, version, (*without, *shape), *others)
        return known and [*known, str(runtime)]

    def links(name: str, call: str) -> list[bool]:
        """Whether each link that was started has the runtime."""
        one = object_of(f"int {call}(void);\nint seven(void) {{ return {call}(); }}\n", tmp_path, name)
        before = len(started)
        with monkeypatch.context() as patch:
            patch.setattr(zig, "_template", with_runtime)
            toolchain.compile_shared([one], tmp_path / f"{name}.so", build._link_flags(toolchain.compiler()), one)
        return [str(runtime) in command for command in started[before:] if command[1] == "ld.lld"]

    assert links("plain", "rand") == [False]
    assert links("calling", "__gv_of_the_runtime") == [False, True]
    assert ctypes.CDLL(str(tmp_path / "calling.so")).seven() == 7
    assert links("forgotten", "elsewhere") == [False, False]
    with pytest.raises(OSError, match="undefined symbol: elsewhere"):
        ctypes.CDLL(str(tmp_path / "forgotten.so"))


def test_libraries_that_are_empty_on_this_machine_are_not_read(monkeypatch):
    printed = "ld.lld -shared -o out.so /folder/empty.o -lm -lpthread -lc -ldl -lrt -lutil"
    for version, libraries in (("glibc 2.36", ["-lm", "-lc"]), ("glibc 2.31", printed.split()[5:]), ("", None)):
        zig._needless.cache_clear()
        monkeypatch.setattr(zig.os, "confstr", lambda name, version=version: version)
        found = zig._linking(printed)
        assert found and [word for word in found if word.startswith("-l")] == (libraries or printed.split()[5:])
    zig._needless.cache_clear()


def test_a_text_that_prints_a_command_is_not_believed(started, tmp_path):
    printed = "/usr/bin/zig clang /tmp/empty.c -MF x -o /tmp/evil.o"
    object_of(f'#pragma message("\\n{printed}")\nint a;\n', tmp_path, "hostile")
    object_of("int b;\n", tmp_path, "next")
    assert not any("/tmp/evil.o" in word for command in started for word in command)


def test_a_path_with_spaces_in_a_command_is_left_to_zig(tmp_path):
    printed = "/a b/zig clang /folder/empty.c -MD -MV -MF d -isystem /a b/include -c -o out.o"
    assert zig._compiling(printed, "/folder/empty.c") is None
    assert not zig._is_complete(["zig", "-isystem", "/a", "b/include", "-c"])


def test_the_version_of_the_wheel_s_compiler_is_asked_for_once(monkeypatch, tmp_path):
    zig_file = tmp_path / "zig"
    zig_file.write_text("one")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    asked = []
    monkeypatch.setattr(compiler_module, "_version", lambda start: asked.append(start) or f"clang {len(asked)}")
    start = (str(zig_file), "cc")
    assert [compiler_module._kept_version(start) for _ in range(2)] == ["clang 1", "clang 1"]
    zig_file.write_text("another one")
    assert compiler_module._kept_version(start) == "clang 2"
