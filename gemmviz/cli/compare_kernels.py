"""Two kernels of ``gemmviz compare``: records, checks, compiles and measures both, and shows one page."""

import argparse
import json
import sys
from collections.abc import Iterable
from dataclasses import replace

from gemmviz.assembly.summary import summary
from gemmviz.bench import reference_results
from gemmviz.bench.protocol import Protocol
from gemmviz.catalogue.errors import ConstraintError, GemmvizError
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.launch import Launch, launch
from gemmviz.catalogue.problem import Problem
from gemmviz.checking.plan import CheckPlan
from gemmviz.cli import options
from gemmviz.cli.bench import keep
from gemmviz.cli.check_run import check
from gemmviz.cli.compare_print import show
from gemmviz.cli.driving import EngineDriver, driving
from gemmviz.cli.record import failure
from gemmviz.engine.consent import Named
from gemmviz.engine.messages import Assembled, AssembleRequest, BenchDone, BenchRequest, Failed, Recorded, RecordRequest
from gemmviz.trace import untrusted
from gemmviz.versions.common_size import common_size, own_params
from gemmviz.versions.comparison import compared
from gemmviz.versions.speed_figures import measured, reference
from gemmviz.versions.version import MachineCode, Version, Work

MEASURED_SIZE = 512
_NOT_DONE = ("crash", "timeout", "launch")
"""Failures of a recording that say something about the kernel: the page shows the rest."""


def compare_kernels(names: tuple[str, str], kernels: tuple[Kernel, Kernel], args: argparse.Namespace) -> int:
    """Print the comparison of two kernels; return the exit code.

    Parameters
    ----------
    names
        As the user named them.
    kernels
        The kernels.
    args
        The command line.

    Raises
    ------
    GemmvizError
        When one of them takes no such launch, does not compile, or cannot be recorded here.
    """
    for kernel in kernels:
        if not kernel.recordable:
            raise ConstraintError(f"{kernel.name} is a library call: there is no source to compare")
    options.say_notes(*kernels)
    settings = options.params(args)
    for name in settings:
        if not any(name in kernel.params for kernel in kernels):
            raise ConstraintError(f"none of these kernels has a parameter {name!r}")
    problem = _problem(kernels, args)
    launches = [launch(kernel, problem, own_params(kernel, settings)) for kernel in kernels]
    with driving(Named(kernels)) as driver:
        versions = [_worked(driver, Version(name, made), args) for name, made in zip(names, launches, strict=True)]
        _stop_if(driver)
        versions = [_coded(driver, version, args.arch, kernels) for version in versions]
        _stop_if(driver)
        if args.measure or args.measure_size:
            size = Problem.cube(args.measure_size or MEASURED_SIZE)
            versions = _measured(driver, versions, size, Protocol.quick() if args.quick else Protocol())
        else:
            versions = _with_reference(versions)
    found = compared(*(_checked(version, args.deadline) for version in versions))
    if args.json:
        sys.stdout.write(json.dumps(found.to_plain(), indent=1) + "\n")
    else:
        show(found, changed_only=args.changed)
    return 1 if found.worse else 0


def _problem(kernels: tuple[Kernel, Kernel], args: argparse.Namespace) -> Problem:
    if not options.says_size(args):
        return common_size(kernels, options.params(args))
    sides = [args.m, args.n, args.k]
    if args.size is None and None in sides:
        raise ConstraintError("--m, --n and --k name a size together, or beside --size")
    return Problem(*(args.size if side is None else side for side in sides))


def _stop_if(driver: EngineDriver) -> None:
    if driver.interrupted:
        raise KeyboardInterrupt


def _request(made: Launch) -> tuple[int, str, str, int, int, int, dict[str, int]]:
    kernel, problem = made.kernel, made.problem
    return 1, str(kernel.path), kernel.text, problem.m, problem.n, problem.k, made.params


def _worked(driver: EngineDriver, version: Version, args: argparse.Namespace) -> Version:
    """Record a version."""
    reply = driver.run(
        RecordRequest(
            *_request(version.launch), order="none", deadline_s=args.deadline, as_written=bool(args.as_written)
        )
    )
    if isinstance(reply, Failed):
        if reply.kind in _NOT_DONE:
            return replace(version, no_work=reply.message)
        raise failure(reply)
    assert isinstance(reply, Recorded)
    recording = untrusted.recording_of(reply.recording)
    traffic = untrusted.traffic_of(reply.traffic, recording, None)
    barriers = int(recording.accesses.phase.max(initial=0))
    return replace(version, work=Work(recording.without_accesses(), traffic, barriers))


def _checked(version: Version, deadline_s: float) -> Version:
    """Look for defects of a version, at this size alone."""
    made = version.launch
    try:
        reports, left_out = check(
            made.kernel, CheckPlan([(made.problem, made.params)]), must_fit=True, deadline_s=deadline_s
        )
    except ConstraintError as error:
        return replace(version, no_report=str(error))
    return replace(version, report=reports[0]) if reports else replace(version, no_report="; ".join(left_out))


def _coded(driver: EngineDriver, version: Version, arch: str, kernels: Iterable[Kernel]) -> Version:
    """Compile and disassemble a version."""
    if version.launch.kernel.backend != "cuda":
        on_gpu = any(kernel.backend == "cuda" for kernel in kernels)
        return replace(version, no_code=f"{version.name} is no CUDA kernel" if on_gpu else "")
    reply = driver.run(AssembleRequest(*_request(version.launch), architecture=arch))
    if isinstance(reply, Failed):
        if reply.kind == "refused" and arch:
            raise failure(reply)
        return replace(version, no_code=reply.message)
    assert isinstance(reply, Assembled)
    listing = reply.listing
    return replace(version, code=MachineCode(listing.architecture, listing.usage, summary(listing)))


def _measured(driver: EngineDriver, versions: list[Version], size: Problem, protocol: Protocol) -> list[Version]:
    """Verify and measure both, in turns, and keep the run as `gemmviz bench` does."""
    kernels = [version.launch.kernel for version in versions]
    reply = driver.run(
        BenchRequest(
            1,
            [
                {"path": str(kernel.path), "text": kernel.text, "params": version.launch.params}
                for kernel, version in zip(kernels, versions, strict=True)
            ],
            [(size.m, size.n, size.k)],
            protocol.to_plain(),
        )
    )
    if not isinstance(reply, BenchDone):
        raise failure(reply) if isinstance(reply, Failed) else GemmvizError("the engine ended without an answer")
    keep(reply.document)
    _stop_if(driver)
    found = []
    for kernel, version in zip(kernels, versions, strict=True):
        of = (
            row
            for row in reply.document["results"]
            if row["kernel"] == kernel.name and row["source_sha256"] == kernel.sha256
        )
        row = next(of, None)
        speed, why = (None, "not measured") if row is None else measured(row)
        found.append(replace(version, speed=speed, no_speed=f"{version.name}: {why}" if why else ""))
    return found


def _with_reference(versions: list[Version]) -> list[Version]:
    """Add the figures of a reference that has both; nothing is measured."""
    pair = reference((versions[0].launch, versions[1].launch), reference_results.load()[0])
    if pair is None:
        return [replace(version, no_speed="not measured; --measure does so on this machine") for version in versions]
    return [replace(version, speed=speed) for version, speed in zip(versions, pair, strict=True)]
