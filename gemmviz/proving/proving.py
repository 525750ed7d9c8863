"""Proves launches: predicts each from a recording, runs all under Nsight Compute, and compares."""

import multiprocessing
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace

from gemmviz.catalogue.errors import GemmvizError
from gemmviz.catalogue.launch import Launch
from gemmviz.proving import ncu
from gemmviz.proving.jobs import Job
from gemmviz.proving.predicting import predict
from gemmviz.proving.prediction import Prediction
from gemmviz.proving.proofs import Proof
from gemmviz.proving.verdict import compare

# Memory for a recording of some million accesses, and for its analysis.
_BYTES_EACH = 2 << 30


def prove(
    launches: Sequence[Launch], command: str, progress: Callable[[str], None] = lambda text: None
) -> tuple[list[Proof], str]:
    """Return a proof per launch, in order, and the version of NVRTC, the compiler.

    Parameters
    ----------
    launches
        CUDA kernels.
    command
        Nsight Compute, from `ncu.tool`.
    progress
        Called at each stage with a text for people.

    Raises
    ------
    GemmvizError
        As `ncu.count` does.
    """
    jobs = [Job.of(launch) for launch in launches]
    counted = ncu.count(jobs, command, progress)
    found = []
    for launch, (counts, answer) in zip(launches, counted, strict=True):
        size, kernel = launch.problem, launch.kernel
        sides = size.m, size.n, size.k
        proof = Proof(kernel.name, launch.label, kernel.sha256, *sides, dict(launch.params), kernel.code_line)
        if counts is None:
            found.append(replace(proof, error=str(answer["error"])))
        else:
            found.append(replace(proof, counted=counts.condensed(), gpu_wrong=answer["wrong"]))
    nvrtc = next((answer["nvrtc"] for _, answer in counted if answer["nvrtc"]), "")
    return predicted(found, launches, progress), nvrtc


def predicted(
    proofs: Sequence[Proof], launches: Sequence[Launch], progress: Callable[[str], None] = lambda text: None
) -> list[Proof]:
    """Return the proofs with new predictions, made here, for counters that were read on a GPU before.

    Parameters
    ----------
    proofs, launches
        The counters and their launches, in the same order.
    progress
        Called at each stage with a text for people.
    """
    progress(f"Recording {len(launches)} launches on the CPU")
    found = []
    for proof, prediction in zip(proofs, _predictions([Job.of(launch) for launch in launches]), strict=True):
        if proof.counted is None:
            found.append(proof)
        elif isinstance(prediction, str):
            found.append(replace(proof, error=prediction))
        else:
            compared = tuple(compare(prediction, proof.counted))
            found.append(
                replace(
                    proof,
                    accesses=prediction.accesses,
                    recorded_wrong=prediction.wrong,
                    compared=compared,
                    unseen=prediction.unseen,
                    error="",
                )
            )
    return found


def _predictions(jobs: Sequence[Job]) -> list[Prediction | str]:
    """Record every job in its own process, several at a time; a failed job has its reason instead."""
    free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    workers = max(1, min(os.cpu_count() or 1, free // _BYTES_EACH, len(jobs)))
    with ThreadPoolExecutor(workers) as threads:
        return list(threads.map(_apart, jobs))


def _apart(job: Job) -> Prediction | str:
    """Predict in a separate process: if a kernel ends it, other jobs are not affected."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as process:
        try:
            return process.submit(predict, job).result()
        except GemmvizError as error:
            return str(error)
        except BrokenProcessPool:
            return "the kernel ended the process that recorded it: `gemmviz check` may show why"
