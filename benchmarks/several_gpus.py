"""Compares the kernels for several GPUs with each other and with PyTorch, in turns on the same GPUs.

    python benchmarks/several_gpus.py --sizes 8192 16384 --devices 2 --json several.json

Needs two GPUs or more that can read each other's memory, and PyTorch with NCCL for its part (`--alone` leaves it out).
Each kernel is verified by the program's own protocol. Then all take turns, sample by sample, because a GPU at its power
limit changes its clock from second to second. PyTorch has one process per GPU and is timed in the same way: L2 is
cleared, all GPUs begin together, and the slowest one counts. Its C has the type of A and B. The ratios, with 95%
intervals, are to `whole_a`, where each GPU has all of A and nothing crosses the link.

`--parts` measures `fused_panels` also without some of its work, in the same turns. The differences show what the wait,
the copies, and the rest of its code cost. C of these versions is not verified: it is wrong without the copies.
"""

import argparse
import json
import multiprocessing
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from shapes import interval

GROUPS = 10
RUNGS = ("whole_a", "gather", "panels", "fused_panels", "peer_tiles")
TORCH = ("torch: products alone", "torch: NCCL gather, then product", "torch: fused_all_gather_matmul")
# `fused_panels` without some of its work: what is left out of its text.
PARTS = {
    "fused_panels, no wait": ("others.wait(row);",),
    "fused_panels, no wait, no copies": ("others.wait(row);", "others.copy(gathered, owners)"),
}
# While L2 is cleared, the host queues a product: PyTorch's fused function takes it longest.
_CLEARINGS, _CLEARED_BYTES, _WARM_UP_S = 48, 128 << 20, 0.2


def serve(rank: int, devices: int, meeting: str, pipe: Any) -> None:
    """Answer requests from the pipe on one GPU, until one is None.

    They are ``("prepare", type, size)``, or ``("prepare",)`` to free the memory; ``("right", method)``; and
    ``("sample", method)``.
    """
    import torch
    import torch.distributed as dist

    torch.cuda.set_device(rank)
    torch.backends.cuda.matmul.allow_tf32 = False
    dist.init_process_group("nccl", f"file://{meeting}", rank=rank, world_size=devices)
    group = dist.group.WORLD.group_name
    import torch.distributed._symmetric_memory as symmetric

    if hasattr(symmetric, "enable_symm_mem_for_group"):
        symmetric.enable_symm_mem_for_group(group)
    torch.manual_seed(rank)
    methods: Any = None
    while (request := pipe.recv()) is not None:
        what, *rest = request
        try:
            if what == "prepare":
                methods = None
                torch.cuda.empty_cache()
                methods = _Methods(torch, dist, *rest) if rest else None
                answer: Any = True
            else:
                answer = getattr(methods, what)(*rest)
            pipe.send(answer)
        except Exception as error:
            pipe.send(f"{type(error).__name__}: {str(error).splitlines()[0][:200]}")
    dist.destroy_process_group()


class _Methods:
    """PyTorch's methods on one GPU, with their matrices."""

    def __init__(self, torch: Any, dist: Any, kind: str, size: int) -> None:
        self._torch, self._dist, self._group = torch, dist, dist.group.WORLD.group_name
        part, dtype = size // dist.get_world_size(), getattr(torch, kind)
        self._mine = (torch.rand(part, size, device="cuda") * 2 - 1).to(dtype)
        self._b = (torch.rand(size, part, device="cuda") * 2 - 1).to(dtype)
        self._a = torch.empty(size, size, dtype=dtype, device="cuda")
        self._c = torch.empty(size, part, dtype=dtype, device="cuda")
        self._scratch = torch.empty(_CLEARED_BYTES, dtype=torch.uint8, device="cuda")
        self._meet = torch.zeros(1, device="cuda")
        self._begin, self._end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        dist.all_gather_into_tensor(self._a, self._mine)

    def once(self, method: str) -> Any:
        """Queue one product; return its C."""
        if method == TORCH[2]:
            return self._torch.ops.symm_mem.fused_all_gather_matmul(self._mine, [self._b], 0, self._group)[1][0]
        if method == TORCH[1]:
            self._dist.all_gather_into_tensor(self._a, self._mine)
        return self._torch.mm(self._a, self._b, out=self._c)

    def right(self, method: str) -> bool:
        """Return whether a method's C is that of one product, but for rounding."""
        expected = self._torch.mm(self._a, self._b).float()
        if method == TORCH[1]:
            self._a.fill_(float("nan"))
        found = self.once(method).float()
        return float((found - expected).abs().max()) <= 2**-7 * float(expected.abs().max())

    def sample(self, method: str) -> float:
        """Return the seconds of one product on this GPU; all GPUs begin when all have cleared their L2."""
        for _ in range(_CLEARINGS):
            self._scratch.zero_()
        self._dist.all_reduce(self._meet)
        self._begin.record()
        self.once(method)
        self._end.record()
        self._end.synchronize()
        return float(self._begin.elapsed_time(self._end)) / 1e3


class Torch:
    """PyTorch, in a process per GPU."""

    def __init__(self, devices: int) -> None:
        context = multiprocessing.get_context("spawn")
        meeting = str(Path(tempfile.mkdtemp(prefix="several-gpus-")) / "meeting")
        self._pipes, self._processes = [], []
        for rank in range(devices):
            ours, theirs = context.Pipe()
            process = context.Process(target=serve, args=(rank, devices, meeting, theirs), daemon=True)
            process.start()
            self._pipes.append(ours)
            self._processes.append(process)

    def ask(self, *request: Any) -> list[Any]:
        """Return the answers of all processes to a request: see `serve`.

        Raises
        ------
        RuntimeError
            With the error of one of them.
        """
        for pipe in self._pipes:
            pipe.send(request)
        answers = [pipe.recv() for pipe in self._pipes]
        for answer in answers:
            if isinstance(answer, str):
                raise RuntimeError(answer)
        return answers

    def close(self) -> None:
        """End the processes."""
        for pipe in self._pipes:
            pipe.send(None)
        for process in self._processes:
            process.join(20)


def kernels(kind: str, devices: int) -> list[Any]:
    """Return the kernels of a type: the rungs, or for float32 their divisions of `every_shape_fp32`."""
    from gemmviz.catalogue.kernel import parse
    from gemmviz.catalogue.ladder import find, ladder

    all_of_them = ladder()
    rungs = [find(name, all_of_them) for name in RUNGS]
    if kind == "bfloat16":
        return rungs
    base = find("every_shape_fp32", all_of_them)
    made = []
    for rung in rungs:
        division = rung.division
        if division.inside:  # its code is its own
            continue
        keys = f'// version = 7\n// devices = "{devices}"\n// unaligned = []\n// divided = {{ '
        keys += ('A = "rows", ' if division.crossing else "") + 'B = "columns", C = "columns" }\n'
        keys += f'// crossing = "{division.crossing}"\n' if division.crossing else ""
        lines = [
            line for line in base.text.splitlines(keepends=True) if not line.startswith(("// version", "// unaligned"))
        ]
        text = "".join(lines).replace("// ---gemmviz\n", f"// ---gemmviz\n{keys}", 1)
        made.append(parse(text, base.path.with_name(f"{rung.name}_fp32.cu")))
    return made


def in_parts() -> list[Any]:
    """Return `fused_panels` without some of its work, by `PARTS`."""
    from gemmviz.catalogue.kernel import parse
    from gemmviz.catalogue.ladder import find, ladder

    whole, made = find("fused_panels", ladder()), []
    for name, left_out in PARTS.items():
        text = whole.text
        for part in left_out:
            assert text.count(part + "\n") + text.count(part + ";\n") == 1, part
            text = text.replace(part, ";" if part.endswith(";") else "(void)0", 1)
        made.append(parse(text, whole.path.with_name(f"{name}.cu")))
    return made


def compare(
    kind: str, size: int, devices: int, turns: int, torch: Torch | None, parts: bool = False
) -> list[dict[str, Any]]:
    """Measure everything of a type at a size; return a line for each kernel and method."""
    from gemmviz.backends import machine
    from gemmviz.bench.measure import Bench, Finished, Measurement
    from gemmviz.bench.protocol import Protocol
    from gemmviz.bench.verification_reference import References
    from gemmviz.bench.verify import check
    from gemmviz.catalogue.launch import launch
    from gemmviz.catalogue.problem import Problem
    from gemmviz.engine.benching import Backends

    problem, backends, references = Problem.cube(size), Backends(), References(Protocol().seed)
    shared = Bench(Protocol.quick(), backends.find, references, machine.device())
    rows, starts, prepared = {}, {}, {}
    for kernel in kernels(kind, devices):
        params = {"GPUS": devices} if "GPUS" in kernel.params else {}
        for record in Measurement(kernel, problem, params, shared).round():
            if isinstance(record, Finished):
                rows[kernel.name] = record.row
        if rows[kernel.name]["status"] != "ok":
            print(f"{kernel.name}: {rows[kernel.name]['status']}: {rows[kernel.name]['message']}", flush=True)
            continue
        concrete = launch(kernel, problem, params)
        prepared[kernel.name] = one = backends.find("cuda").prepare(concrete)
        one.load(*references.inputs(concrete, backends.find("cuda")))
        one.poison()
        starts[kernel.name] = lambda one=one: one.sample(1, True)
    for kernel in in_parts() if parts and kind == "bfloat16" else ():
        concrete = launch(kernel, problem, {"GPUS": devices})
        prepared[kernel.name] = one = backends.find("cuda").prepare(concrete)
        one.load(*references.inputs(concrete, backends.find("cuda")))
        starts[kernel.name] = lambda one=one: one.sample(1, True)
    if torch:
        torch.ask("prepare", kind, size)
        for method in TORCH[: 3 if kind == "bfloat16" else 2]:
            try:
                if not all(torch.ask("right", method)):
                    print(f"{method}: a wrong C", flush=True)
                    continue
            except RuntimeError as error:
                print(f"{method}: {error}", flush=True)
                continue
            starts[method] = lambda method=method: max(torch.ask("sample", method))
    for start in starts.values():
        warm = time.perf_counter()
        while time.perf_counter() - warm < _WARM_UP_S:
            start()
    groups: list[dict[str, float]] = []
    seconds: dict[str, list[float]] = {name: [] for name in starts}
    for number in range(GROUPS):
        here: dict[str, list[float]] = {name: [] for name in starts}
        for _ in range(max(1, turns // GROUPS)):
            for name in list(starts)[:: -1 if number % 2 else 1]:
                here[name].append(starts[name]())
        groups.append({name: statistics.median(of_it) for name, of_it in here.items()})
        for name, of_it in here.items():
            seconds[name] += of_it
    found = []
    trial = references.random(launch(kernels(kind, devices)[0], problem), backends.find("cuda"))
    for name, of_it in seconds.items():
        line: dict[str, Any] = {"what": name, "type": kind, "size": size, "devices": devices, "samples_s": of_it}
        line |= {"median_s": statistics.median(of_it), "row": rows.get(name)}
        line["tflops"] = problem.flops / line["median_s"] / 1e12
        line["of_bound"] = interval([group[next(iter(starts))] / group[name] for group in groups])
        line["right_after"] = check(prepared[name].fetch(), trial.reference).ok if name in rows else None
        found.append(line)
        share, low, high = line["of_bound"]
        print(
            f"{kind:9} {size:6} {name:36} {line['tflops']:8.1f} TFLOPS  {share:.3f} ({low:.3f} to {high:.3f})"
            + (f"  C right before and after: {line['right_after']}" if name in rows else ""),
            flush=True,
        )
    for one in prepared.values():
        one.close()
    if torch:
        torch.ask("prepare")
    return found


def main() -> int:
    """Measure and print; 2 without enough GPUs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[8192, 16384])
    parser.add_argument("--fp32", type=int, nargs="*", default=[], help="sizes to measure in float32, too")
    parser.add_argument("--devices", type=int, default=2)
    parser.add_argument("--turns", type=int, default=60)
    parser.add_argument("--alone", action="store_true", help="without PyTorch")
    parser.add_argument("--parts", action="store_true", help="fused_panels without some of its work, too")
    parser.add_argument("--json", type=Path, help="the file that keeps the lines")
    wanted = parser.parse_args()
    from gemmviz.backends.driver import driver
    from gemmviz.backends.machine import schedule_for_this_gpu

    if driver().count < wanted.devices:
        print(f"{wanted.devices} GPUs are needed, there are {driver().count}")
        return 2
    os.environ.setdefault("TORCH_SYMM_MEM_DISABLE_MULTICAST", "1")
    schedule_for_this_gpu()
    torch = None if wanted.alone else Torch(wanted.devices)
    found = []
    print(f"{wanted.devices} x {driver().device.name}, driver {driver().version}")
    try:
        for kind, sizes in (("bfloat16", wanted.sizes), ("float32", wanted.fp32)):
            for size in sizes:
                found += compare(kind, size, wanted.devices, wanted.turns, torch, wanted.parts)
    finally:
        if torch:
            torch.close()
        if wanted.json:
            wanted.json.write_text(json.dumps({"device": driver().device.name, "lines": found}, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
