"""Proves launches: reads their counters under Nsight Compute, predicts each from a recording, and compares."""

import multiprocessing
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from datetime import UTC, datetime

from gemmviz.backends.driver import driver
from gemmviz.catalogue.errors import GemmvizError, Unavailable
from gemmviz.catalogue.launch import Launch
from gemmviz.proving import ncu
from gemmviz.proving.jobs import Job
from gemmviz.proving.predicting import predict
from gemmviz.proving.prediction import Prediction
from gemmviz.proving.proofs import Machine, Proof
from gemmviz.proving.verdict import compare

# Memory for a recording of some million accesses, and for its analysis.
_BYTES_EACH = 2 << 30


def counted(
    launches: Sequence[Launch], command: str, progress: Callable[[str], None] = lambda text: None
) -> tuple[Machine, list[Proof]]:
    """Read the counters of launches on this machine's GPU.

    Parameters
    ----------
    launches
        CUDA kernels.
    command
        Nsight Compute, from `ncu.tool`.
    progress
        Called at each stage with a text for people.

    Returns
    -------
    tuple
        This machine, and a proof per launch, in order and without a prediction: see `predicted`.

    Raises
    ------
    Unavailable
        When there is no GPU here.
    GemmvizError
        As `ncu.count` does.
    """
    gpu = driver().device
    if gpu is None:
        raise Unavailable("no GPU, no counters: `gemmviz prove --kept` shows the kept proofs of other machines")
    answers = ncu.count([Job.of(launch) for launch in launches], command, progress)
    found = []
    for launch, (counts, answer) in zip(launches, answers, strict=True):
        size, kernel = launch.problem, launch.kernel
        sides = size.m, size.n, size.k
        proof = Proof(kernel.name, launch.label, kernel.sha256, *sides, dict(launch.params), kernel.code_line)
        if counts is None:
            found.append(replace(proof, error=str(answer["error"])))
        else:
            found.append(replace(proof, counted=counts.condensed(), gpu_wrong=answer["wrong"]))
    nvrtc = next((answer["nvrtc"] for _, answer in answers if answer["nvrtc"]), "")
    today = datetime.now(UTC).date().isoformat()
    return Machine(gpu.name, driver().version, nvrtc, ncu.version(command), today), found


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
