"""Every text of a kernel's file is a kernel or is refused with a message; its recording ends."""

import threading
from pathlib import Path

import pytest
from consenting import AllowsAll
from damaging.files import Damaged
from damaging.strategy import files, tried_on

from gemmviz.catalogue.errors import FrontMatterError, GemmvizError
from gemmviz.catalogue.kernel import load
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.catalogue.user_file import UnreadableFile
from gemmviz.engine.messages import FINAL, RecordRequest
from gemmviz.engine.supervisor import Engine
from gemmviz.session import Session
from gemmviz.session.values.picture_size import picture_params, picture_problem


def opened(damaged: Damaged, folder: Path):
    """Return the kernel of a file, after all that a window asks of it; None where it is refused."""
    path = folder / f"mine{damaged.suffix}"
    path.write_bytes(damaged.raw)
    try:
        kernel = load(path)
    except (FrontMatterError, UnreadableFile) as error:
        assert str(error).strip() and "Traceback" not in str(error)
        return None
    assert len(kernel.sha256) == 64 and all(kernel.notes)
    try:
        problem = picture_problem(kernel)
        launch(kernel, problem, kernel.defaults | picture_params(kernel, problem))
        launch(kernel, Problem.cube(64), kernel.defaults)
    except GemmvizError as error:
        assert str(error).strip()
    return kernel


@tried_on(files("front-matter"), 40)
def test_a_few_damaged_front_matters_are_read_or_refused_with_a_sentence(damaged: Damaged, tmp_path: Path) -> None:
    opened(damaged, tmp_path)


@pytest.mark.thorough
@tried_on(files("front-matter"), 250)
def test_a_damaged_front_matter_is_read_or_refused_with_a_sentence(damaged: Damaged, tmp_path: Path) -> None:
    opened(damaged, tmp_path)


@tried_on(files("kernels"), 60)
def test_damaged_code_leaves_the_front_matter_readable_or_is_refused_with_a_sentence(
    damaged: Damaged, tmp_path: Path
) -> None:
    kernel = opened(damaged, tmp_path)
    if kernel is not None:
        session = Session([kernel])
        assert session.choice.text == kernel.text and session.choice.title == kernel.path.name


@pytest.fixture(scope="module")
def engine():
    engine = Engine(AllowsAll())
    yield engine
    engine.close()


@tried_on(files("kernels"), 6)
def test_recording_a_damaged_kernel_ends_with_a_recording_or_a_sentence(
    damaged: Damaged, tmp_path: Path, engine: Engine
) -> None:
    kernel = opened(damaged, tmp_path)
    if kernel is None:
        return
    request = RecordRequest(
        1, str(kernel.path), kernel.text, 8, 8, 8, picture_params(kernel, Problem.cube(8)), deadline_s=1
    )
    *_, last = engine.run(request, threading.Event())
    assert isinstance(last, FINAL)
    message = getattr(last, "message", "")
    assert getattr(last, "kind", "") != "internal" and "Traceback" not in message, message
