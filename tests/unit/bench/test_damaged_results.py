"""Every file of results, proofs or tuned parameters is shown, or refused with a message."""

from pathlib import Path

import pytest
from damaging.files import Damaged
from damaging.strategy import files, tried_on

from gemmviz.bench import claims as judging
from gemmviz.bench import export, reference_results, results, store
from gemmviz.bench.claims.evidence import Evidence
from gemmviz.bench.tuning import kept
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.problem import Problem
from gemmviz.proving import proofs

KERNELS = ladder()
CLAIMS = judging.load()


@tried_on(files("run"), 40)
def test_a_damaged_result_file_is_shown_or_refused_with_a_sentence(
    damaged: Damaged, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.getbasetemp() / "damaged"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_DATA_HOME", str(folder))
        path = store.folder() / "mine.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(damaged.raw)
        found, faults = reference_results.load(path.parent)
        runs, more = store.runs()
        assert all("mine.json" in fault and "Traceback" not in fault for fault in faults + more)
        assert len(found) + len(faults) == len(runs) + len(more) == 1
        if not found:
            return
        (reference,) = found
        for row in reference.figures:
            assert reference.origin(row).startswith("reference: ")
            reference.figures.near(row["kernel"], (64, 64, 64), {})
        document = results.read_results(path)
        evidence = Evidence.of(document)
        assert [judging.judge(claim, evidence) for claim in CLAIMS]
        assert export.to_csv(document) and export.samples_to_csv(document)


@tried_on(files("tuned"), 80)
def test_damaged_tuned_parameters_are_used_or_said(damaged: Damaged, tmp_path_factory: pytest.TempPathFactory) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_DATA_HOME", str(tmp_path_factory.getbasetemp()))
        path = kept.folder() / "mine.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(damaged.raw)
        found, faults = kept.kept()
        assert len(found) + len(faults) == 1 and all("mine.json" in fault for fault in faults)
        kernel = find("gputiled", KERNELS)
        for tuned in found:
            mine = kept.Tuned(**{**vars(tuned), "kernel": kernel.name, "source_sha256": kernel.sha256})
            chosen = kept.nearest([mine], kernel, mine.tuned_on, [Problem.cube(512)])
            assert chosen in (mine, None)


@tried_on(files("proofs"), 40)
def test_damaged_proofs_are_read_or_left_out(damaged: Damaged, tmp_path: Path) -> None:
    (tmp_path / "mine.json").write_bytes(damaged.raw)
    for file in proofs.kept(tmp_path):
        for kernel in KERNELS:
            assert isinstance(proofs.proved_on(kernel, [file]), str)
