"""A lesson is walked in a session: recorded at its size, left, followed by the next one."""

import pytest
from lesson_texts import at_demo, parsed, recording_session

from gemmviz import data
from gemmviz.app import new_session
from gemmviz.catalogue.ladder import find
from gemmviz.catalogue.problem import Problem
from gemmviz.language import set_language
from gemmviz.session.rules.setting_stops import as_lesson, stop_here
from gemmviz.session.tour.lesson_file import load_lesson, write_lesson
from gemmviz.session.tour.lessons import find_lesson, own_folder


@pytest.fixture
def english():
    yield
    set_language("en")


@pytest.fixture
def session(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    return recording_session(new_session())


def test_a_lesson_at_the_demo_is_walked(session):
    session.choice.choose_kernel(find("gpumult1", session.choice.kernels))
    session.guide.start(at_demo(kernel="gpumult1", size=None, params=None))
    assert session.tour.stop.say == "32 x 32 x 32."
    assert (session.cursor.block, session.cursor.warp, session.inspection.lane) == (1, 1, 3)


def test_a_lesson_is_recorded_at_its_own_size_and_leaving_brings_the_old_one_back(session):
    session.choice.choose(problem=Problem.cube(12), params={"TS": 2})
    session.guide.recording_wanted.emit()
    tour, before = session.tour, (session.choice.problem, dict(session.choice.params))
    session.playback.play()
    session.guide.toggle_lesson()
    assert tour.lesson is not None
    assert not session.playback.playing
    assert (session.choice.problem.m, session.choice.params) == (8, {"TS": 4})
    assert (tour.at, session.cursor.step) == (0, tour.stops[0].step)
    session.guide.next(1)
    session.guide.next(1)
    assert (tour.at, session.cursor.step) == (2, tour.stops[2].step)
    session.guide.next(-1)
    assert tour.at == 1
    session.guide.toggle_lesson()
    assert (session.choice.problem, session.choice.params) == before
    assert not tour.active
    assert session.cursor.playable.recording.m == before[0].m


def test_a_lesson_is_recorded_as_compiled_and_leaving_brings_the_view_back(session):
    session.choice.choose(as_written=True)
    session.guide.recording_wanted.emit()
    session.guide.toggle_lesson()
    assert not session.cursor.playable.recording.as_written
    session.guide.leave()
    assert session.choice.as_written and session.cursor.playable.recording.as_written
    session.guide.toggle_lesson()
    session.choice.choose(as_written=True)
    assert not session.tour.active


def test_a_lesson_may_be_recorded_as_written(session, tmp_path):
    session.choice.choose_kernel(find("gpumult0", session.choice.kernels))
    session.choice.choose(as_written=True)
    session.guide.recording_wanted.emit()
    session.cursor.seek(session.cursor.steps - 1)
    session.own_stops.say(session.own_stops.add(stop_here(session.staged)), "C is done.")
    path = tmp_path / "mine.toml"
    path.write_text(write_lesson(as_lesson(session.staged, session.own_stops, path, "Mine")), encoding="utf-8")
    assert load_lesson(path).as_written
    session.choice.choose(as_written=False)
    session.guide.open(path)
    assert session.cursor.playable.recording.as_written and session.cursor.step == session.cursor.steps - 1
    assert not load_lesson(data.root("resources") / "lessons/gpumult0.toml").as_written


def test_a_stop_picks_its_cell_and_asks_for_its_panel(session):
    wanted = []
    session.inspection.panel_wanted.connect(wanted.append)
    session.guide.toggle_lesson()
    session.guide.go(5)
    assert session.cursor.cell == (2, 14)
    assert wanted == ["origin"]


def test_after_a_question_at_a_stop_the_stop_is_shown_again(session):
    session.guide.toggle_lesson()
    session.guide.next(1)
    stop = session.tour.stop
    session.predict.toggle()
    session.predict.reveal()
    assert session.cursor.step != stop.step
    session.predict.toggle()
    assert (session.tour.stop, session.cursor.step) == (stop, stop.step)
    session.step_by(1)  # elsewhere than at a stop the answered step stays
    session.predict.toggle()
    session.predict.reveal()
    answered = session.cursor.step
    session.predict.toggle()
    assert session.cursor.step == answered


def test_behind_the_last_stop_comes_the_next_rungs_lesson(session):
    tour = session.tour
    session.guide.start_rung("mm_bounds_printed")
    session.guide.go(len(tour.stops) - 1)
    assert tour.onward == "matmul_kernel_naive"
    session.guide.next(1)
    assert (session.choice.base.name, tour.at) == ("matmul_kernel_naive", 0)
    session.guide.leave()
    assert session.choice.base.name == "matmul_kernel_naive"
    assert (
        session.choice.problem.m,
        session.choice.problem.n,
        session.choice.problem.k,
    ) == session.choice.base.demo.size


def test_another_choice_ends_the_lesson_and_is_kept(session):
    session.guide.toggle_lesson()
    session.choice.choose_kernel(find("gpumult1", session.choice.kernels))
    assert not session.tour.active
    assert (session.choice.base.name, session.choice.problem.n) == ("gpumult1", 32)


def test_the_demo_ends_a_lesson_that_led_to_another_rung_and_is_shown(session):
    tour, shown = session.tour, session.demonstration
    shown.recording_wanted.connect(session.guide.recording_wanted.emit)
    session.guide.start_rung("matmul_kernel_thread_tiling")
    shown.show()
    assert not tour.active and not shown.waiting
    assert session.choice.base.name == "matmul_kernel_thread_tiling"
    assert "sum[w] +=" in session.choice.base.text.splitlines()[session.cursor.playable.line(session.cursor.step) - 1]
    assert session.cursor.step > 0 and not session.staged.outdated


def test_breaking_the_kernel_stays_at_the_stop(session):
    tour = session.tour
    session.guide.toggle_lesson()
    session.guide.go(3)
    session.choice.break_it(("no-second-barrier",))
    session.guide.recording_wanted.emit()
    assert (tour.at, session.cursor.step) == (3, tour.stops[3].step)
    assert tour.active


def test_a_sentence_is_not_said_about_a_changed_kernel(session):
    session.guide.toggle_lesson()
    stop = session.tour.stop
    assert session.guide.sentence(stop) == stop.say
    session.choice.break_it(("no-second-barrier",))
    session.guide.recording_wanted.emit()
    assert session.tour.active and "You have changed the kernel" in session.guide.sentence(session.tour.stop)
    session.choice.revert()
    session.guide.recording_wanted.emit()
    assert session.guide.sentence(session.tour.stop) == stop.say


def test_the_sentences_follow_the_language(session, english):
    session.guide.toggle_lesson()
    before = session.tour.stop.say
    session.preferences.speak("es")
    assert session.tour.stop.say != before
    assert session.tour.title == find_lesson(session.choice.base).titles["es"]


def test_a_rung_without_a_lesson_says_so(session):
    session.guide.start_rung("cublas")
    assert "library call" in session.messages.current.text
    assert not session.tour.active


def test_a_users_own_lesson_comes_before_the_shipped_one(session):
    own_folder().mkdir(parents=True)
    (own_folder() / "gputiled.toml").write_text(write_lesson(parsed()), encoding="utf-8")
    session.guide.toggle_lesson()
    assert (session.tour.title, session.choice.problem.m) == ("Mine", 8)


def test_a_lesson_on_a_kernel_beside_it_opens(session, tmp_path):
    text = find("gpumult1", session.choice.kernels).text
    (tmp_path / "mykernel.cu").write_text(text.replace('alias    = "gpumult1"', 'alias = "mine"'), encoding="utf-8")
    lesson = parsed(kernel="mykernel.cu", params={"BX": 4, "BY": 4}, stop=[{"at": {"end": True}, "say": "The end."}])
    path = tmp_path / "mine.toml"
    path.write_text(write_lesson(lesson).replace(lesson.kernel, "mykernel.cu"), encoding="utf-8")
    session.guide.open(path)
    assert (session.choice.base.name, session.tour.stop.say) == ("mykernel", "The end.")
    # A file with the same name may be on the list already: the lesson was begun with that one.
    (tmp_path / "more").mkdir()
    for name in ("mykernel.cu", "mine.toml"):
        (tmp_path / "more" / name).write_text((tmp_path / name).read_text(encoding="utf-8"), encoding="utf-8")
    session.guide.open(tmp_path / "more" / "mine.toml")
    assert (session.choice.base.name, session.tour.stop.say) == ("mykernel (more)", "The end.")
    path.write_text("stop = [", encoding="utf-8")
    session.guide.open(path)
    assert session.messages.current.text.startswith("mine.toml is not TOML")
