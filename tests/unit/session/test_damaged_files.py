"""A session takes every state, lesson or preferences file, or refuses it with a message."""

import json
from functools import cache
from pathlib import Path

import pytest
from damaging.files import Damaged
from damaging.strategy import files, tried_on

from gemmviz.catalogue.errors import GemmvizError
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.problem import Problem
from gemmviz.language import language, set_language
from gemmviz.session import Session
from gemmviz.session.files import preferences_file, snapshot
from gemmviz.session.files.state_file import read_state
from gemmviz.session.models.preferences import TYPE_SCALES
from gemmviz.session.tour.lesson_file import load_lesson, write_lesson
from gemmviz.session.tour.lessons import recorded_at, resolve
from gemmviz.trace.cost.traffic import measure
from gemmviz.trace.order.timeline import build
from gemmviz.trace.playable import Playable
from gemmviz.trace.recording.record import record

KERNELS = ladder()


@pytest.fixture(autouse=True)
def english_afterwards():
    yield
    set_language("en")


def new_session() -> Session:
    session = Session(list(KERNELS))
    session.choice.choose_kernel(find("gputiled", session.choice.kernels))
    return session


@cache
def playable() -> Playable:
    """The first recording that the window shows."""
    recording = record(new_session().choice.launch())
    timeline = build(recording, "grid")
    return Playable(recording, timeline, measure(recording, timeline)).prepare()


@cache
def states() -> list[dict]:
    """What state files hold: of a rung, of one that is broken and compared, of one that is edited."""
    found = []
    for act in (
        lambda session: None,
        lambda session: session.choice.break_it(("no-second-barrier",)),
        lambda session: session.choice.edit(session.choice.text + "// mine\n"),
        lambda session: session.side_by_side.start_named("gpumult1", "bytes"),
        lambda session: session.choice.choose(Problem(8, 12, 8), {"TS": 2}, "block", as_written=True),
    ):
        session = new_session()
        session.cursor.show(playable())
        session.cursor.pick((2, 30), 1)
        session.playback.set_loop_range(2, 9)
        act(session)
        view = {"page": "stage", "panel": "warp", "zoom": 1.5, "shift": [0.5, 0.0]}
        found.append({"state_version": 1, "written_by": "gemmviz", **snapshot.take(session, view)})
    return found


def refused_with_a_sentence(error: Exception) -> bool:
    return bool(str(error).strip()) and "Traceback" not in str(error)


@tried_on(files("states", states), 150)
def test_a_damaged_state_is_reopened_or_refused_with_a_sentence(damaged: Damaged, tmp_path: Path) -> None:
    path = tmp_path / "mine.gemmviz"
    path.write_bytes(damaged.raw)
    session = new_session()
    try:
        plain, faults = read_state(path)
        assert all(fault.startswith("mine.gemmviz: ") for fault in faults)
        snapshot.apply(session, plain)
    except GemmvizError as error:
        assert refused_with_a_sentence(error)
        return
    finally:
        set_language("en")
    assert session.choice.title and session.choice.kernel.sha256
    session.cursor.show(playable())  # its step and its cell are sought where that is the recording
    assert snapshot.take(session)["kernel"]


@tried_on(files("lessons"), 150)
def test_a_damaged_lesson_is_taught_or_refused_with_a_sentence(damaged: Damaged, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_bytes(damaged.raw)
    try:
        lesson = load_lesson(path)
        assert load_lesson_again(write_lesson(lesson), path) == lesson
        kernel = find(lesson.kernel, KERNELS)
        recorded_at(lesson, kernel)
        stops = resolve(lesson, playable(), "ko", kernel.demo)
    except GemmvizError as error:
        assert refused_with_a_sentence(error)
        return
    session = new_session()
    session.cursor.show(playable())
    session.guide.start(lesson)
    assert len(stops) == len(lesson.stops)
    assert all(0 <= stop.step < playable().timeline.steps for stop in stops)


@pytest.mark.parametrize("name", ["a\0b.cu", "/tmp/a\0b.c", "x" * 5000 + ".cu"])
@pytest.mark.parametrize("kind", ["by name", "by path", "with its text", "beside", "lesson"])
def test_a_name_that_no_file_can_have_is_refused_with_a_sentence(kind: str, name: str, tmp_path: Path) -> None:
    path = tmp_path / ("mine.toml" if kind == "lesson" else "mine.gemmviz")
    values = {"by name": {"name": name}, "by path": {"path": name}, "with its text": {"path": name, "text": "x"}}
    state = {"state_version": 1, "kernel": values.get(kind, {"name": "gputiled"}), "beside": {"kernel": name}}
    stop = '[[stop]]\nat = { step = 1 }\nsay = "Look."\n'
    lesson = f'kernel = {json.dumps(name)}\nsize = 8\ntitle = "Mine"\n{stop}'
    path.write_text(lesson if kind == "lesson" else json.dumps(state), encoding="utf-8")
    session = new_session()
    before = session.choice.kernel
    if kind == "lesson":
        session.guide.open(path)
        assert session.messages.current is not None and session.messages.current.text
    else:
        with pytest.raises(GemmvizError):
            snapshot.apply(session, read_state(path)[0])
    assert session.choice.kernel is before


def load_lesson_again(text: str, path: Path):
    path.write_text(text, encoding="utf-8")
    return load_lesson(path)


@tried_on(files("preferences"), 200)
def test_a_session_begins_despite_damaged_preferences(
    damaged: Damaged, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.getbasetemp()))
        preferences_file.file().parent.mkdir(parents=True, exist_ok=True)
        preferences_file.file().write_bytes(damaged.raw)
        session = new_session()
        faults = preferences_file.restore(session.preferences)
        assert session.preferences.theme in ("dark", "light") and language() in ("en", "ko", "es")
        assert TYPE_SCALES[0] <= session.preferences.type_scale <= TYPE_SCALES[1]
        assert all(str(preferences_file.file()) in fault for fault in faults)
        set_language("en")
