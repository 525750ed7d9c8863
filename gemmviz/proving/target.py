"""The program that runs under Nsight Compute: launches each kernel once, and profiles only this launch.

``python -m gemmviz.proving.target JOBS.json ANSWERS.json``; see `gemmviz.proving.ncu`.
"""

import json
import sys
from pathlib import Path

import numpy as np

from gemmviz.backends.cuda import CudaBackend, nvrtc_version, profiled
from gemmviz.catalogue.errors import GemmvizError
from gemmviz.catalogue.whole_numbers import inputs_for
from gemmviz.proving.jobs import Answer, Job


def main(jobs_file: Path, answers_file: Path) -> None:
    """Launch every job, and write its outcome: an error, or the number of elements of C that differ from A x B."""
    jobs = [Job.from_plain(plain) for plain in json.loads(jobs_file.read_text(encoding="utf-8"))]
    # Source lines for the profiler; they do not change the code.
    backend = CudaBackend(extra_flags=("-lineinfo",))
    answers: list[Answer] = []
    launched = 0
    for job in jobs:
        answer: Answer = {"error": None, "launch": None, "wrong": None, "nvrtc": nvrtc_version()}
        try:
            answer["wrong"] = _run(backend, job)
            answer["launch"] = launched
            launched += 1
        except GemmvizError as error:
            answer["error"] = str(error)
        answers.append(answer)
        # After every launch: a launch that breaks the GPU's context ends this process.
        answers_file.write_text(json.dumps(answers), encoding="utf-8")


def _run(backend: CudaBackend, job: Job) -> int:
    chosen = job.launch()
    prepared = backend.prepare(chosen)
    try:
        a, b = inputs_for(chosen)
        prepared.load(a, b)
        prepared.poison()
        with profiled():
            prepared.run()
        c = np.asarray(prepared.fetch(), np.float64)
    finally:
        prepared.close()
    return int(np.count_nonzero(~(c == a.astype(np.float64) @ b.astype(np.float64))))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
