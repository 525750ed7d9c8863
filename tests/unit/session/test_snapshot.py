"""The state of the screen as a file and as a command line, and back."""

import json
import shlex

import jsonschema
import pytest

from gemmviz import data
from gemmviz.catalogue.errors import ConstraintError, GemmvizError, UnknownKernel
from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.problem import Problem
from gemmviz.cli import _parser
from gemmviz.cli.window import snapshot as from_options
from gemmviz.language import set_language
from gemmviz.session import Session
from gemmviz.session.files.command_line import command, left_out
from gemmviz.session.files.snapshot import apply, take
from gemmviz.session.files.state_file import read_state, write_state
from gemmviz.session.rules.setting_stops import stop_here
from gemmviz.session.tour.stop import OwnStop
from gemmviz.trace.cost.traffic import measure
from gemmviz.trace.order.timeline import build
from gemmviz.trace.playable import Playable
from gemmviz.trace.recording.record import record

VIEW = {"page": "charts", "panel": "origin", "zoom": 2.5, "shift": [-0.5, 0.25]}


@pytest.fixture(autouse=True)
def english_afterwards():
    yield
    set_language("en")


def new_session():
    session = Session(ladder())
    session.choice.choose(problem=Problem.cube(8))
    session.choice.choose_kernel(find("gputiled", session.choice.kernels))
    return session


def arrive(session):
    """Record the chosen kernel and put it on the stage, as the engine does."""
    recording = record(session.choice.launch(), as_written=session.choice.as_written)
    timeline = build(recording, session.choice.order)
    session.cursor.show(Playable(recording, timeline, measure(recording, timeline)).prepare())


def busy_session():
    """A session in which nothing is as at the start."""
    session = new_session()
    session.choice.choose_kernel(find("gputiled", session.choice.kernels))
    session.choice.break_it(("no-second-barrier",))
    session.choice.choose(Problem(8, 12, 8), {"TS": 2}, "block", as_written=True)
    arrive(session)
    session.cursor.pick((2, 30), 1)
    session.inspection.choose_lane(1)
    session.warp_steps.toggle()
    session.side_by_side.start_named("gpumult1", "bytes")
    session.playback.set_loop_range(3, 20)
    session.cursor.seek(11)
    session.playback.set_speed(0.25)
    session.cursor.choose_unit("phase")
    session.preferences.set_theme("light")
    session.preferences.set_type_scale(1.25)
    session.preferences.set_calm(True)
    session.preferences.speak("es")
    return session


def reopened(plain):
    set_language("en")
    session = new_session()
    apply(session, plain)
    arrive(session)
    return session


def test_a_state_file_brings_back_everything(tmp_path):
    before = take(busy_session(), VIEW)
    path = tmp_path / "my.gemmviz"
    write_state(before, path)
    seen = []
    set_language("en")
    session = new_session()
    session.reopening.placed.connect(seen.append)
    apply(session, read_state(path)[0])
    arrive(session)
    assert take(session, VIEW) == before
    assert seen == [VIEW]
    assert (session.cursor.step, session.cursor.cell, session.cursor.block, session.playback.loop_range) == (
        11,
        (2, 30),
        1,
        (3, 20),
    )


def test_a_state_of_a_file_opens_beside_another_file_with_its_name(tmp_path):
    """It was refused until one of them was renamed."""
    text = find("gpumult1", ladder()).text
    first, second = (tmp_path / folder / "mine.cu" for folder in ("new", "old"))
    for path in (first, second):
        path.parent.mkdir()
        path.write_text(text, encoding="utf-8")
    session, other = Session(ladder()), Session(ladder())
    session.choice.add_kernel(parse(text, second))
    other.choice.add_kernel(parse(text, first))
    apply(other, take(session, VIEW))
    assert other.choice.base.name == "mine (old)" and other.choice.base.path.samefile(second)
    apply(other, take(other, VIEW))
    assert [kernel.name for kernel in other.choice.kernels if kernel.path.name == "mine.cu"] == ["mine", "mine (old)"]
    assert take(other)["kernel"]["path"] == str(second)
    # Earlier states repeat the folders of the name in the path.
    once = Session(ladder())
    apply(once, take(session) | {"kernel": {"path": f"{second.parent}/../old/mine.cu", "text": text}})
    assert (once.choice.base.name, once.choice.base.path) == ("mine", second)


def test_the_command_line_restores_its_content():
    before = take(busy_session(), VIEW)
    words = shlex.split(command(before))
    assert words[0] == "gemmviz"
    plain = from_options(_parser("window").parse_args(["window", *words[1:]]))
    assert plain["view"] == VIEW
    assert take(reopened(plain), VIEW) == before
    assert not left_out(before)


def test_ones_own_stops_come_back_and_the_command_line_says_that_it_lacks_them(tmp_path):
    session = new_session()
    arrive(session)
    session.cursor.seek(5)
    session.cursor.pick((2, 9), 1)
    session.own_stops.add(stop_here(session.staged))
    session.own_stops.say(0, "Look here.")
    session.own_stops.add(OwnStop(7))
    plain = take(session)
    write_state(plain, tmp_path / "my.gemmviz")
    again = reopened(read_state(tmp_path / "my.gemmviz")[0])
    assert again.own_stops.here == session.own_stops.here
    assert [stop.say for stop in again.own_stops.here] == ["Look here.", ""]
    assert "your stops" in left_out(plain)


def test_a_state_that_names_no_view_is_from_when_all_was_recorded_as_compiled(tmp_path):
    path = tmp_path / "old.gemmviz"
    plain = take(new_session())
    plain.pop("as_written")
    write_state(plain, path)
    session = new_session()
    session.choice.choose(as_written=True)
    apply(session, read_state(path)[0])
    assert session.choice.as_written is False


def test_a_stop_of_ones_own_keeps_the_view_in_which_it_was_set(tmp_path):
    session = new_session()
    session.choice.choose_kernel(find("gpumult0", session.choice.kernels))
    session.choice.choose(as_written=True)
    arrive(session)
    session.cursor.seek(30)
    session.own_stops.add(stop_here(session.staged))
    write_state(take(session), tmp_path / "my.gemmviz")
    session.choice.choose(as_written=False)
    arrive(session)
    assert session.cursor.steps <= 30  # as compiled there is no such step
    again = reopened(read_state(tmp_path / "my.gemmviz")[0])
    assert again.choice.as_written
    again.guide.show_own(0)
    assert again.cursor.step == 30
    session.guide.show_own(0)
    arrive(session)
    assert session.choice.as_written and session.cursor.step == 30


def test_the_command_line_leaves_out_defaults():
    session = new_session()
    arrive(session)
    assert command(take(session)) == "gemmviz --kernel gputiled --size 8 --set TS=4 --step 1 --theme dark --language en"


def test_a_cell_says_its_block_where_that_is_not_its_owner():
    session = new_session()
    arrive(session)
    session.cursor.pick((2, 63), 0)
    words = shlex.split(command(take(session)))
    again = reopened(from_options(_parser("window").parse_args(["window", *words[1:]])))
    assert (again.cursor.cell, again.cursor.block) == ((2, 63), 0)
    plain = from_options(_parser("window").parse_args(["window", "--cell", "C,7,7"]))
    assert reopened(plain).cursor.block == 3


def test_a_kernel_alone_is_shown_at_a_size_that_it_takes():
    session = new_session()
    apply(session, {"kernel": {"name": "matmul_tc_2d_warp_tiling"}, "breaks": [], "params": {"WM": 1}})
    assert (session.choice.kernel.name, session.choice.problem, session.choice.params["WM"]) == (
        "matmul_tc_2d_warp_tiling",
        Problem.cube(64),
        1,
    )


def test_an_edited_text_comes_back_and_the_command_line_says_that_it_lacks_it():
    session = new_session()
    session.choice.edit(session.choice.text.replace("float sum = 0;", "float sum = 0; // mine"))
    plain = take(session)
    again = new_session()
    apply(again, plain)
    assert again.choice.text == session.choice.text and again.choice.variant
    assert "edited text" in left_out(plain)


def test_a_kernel_of_ones_own_comes_back_with_and_without_its_file(tmp_path):
    path = tmp_path / "mine.cu"
    text = find("gputiled", ladder()).text
    path.write_text(text)
    session = new_session()
    session.choice.add_kernel(parse(text, path))
    plain = take(session)
    for there in (True, False):
        again = new_session()
        if not there:
            path.unlink()
        apply(again, plain)
        assert (again.choice.base.path, again.choice.text) == (path, text)
        assert again.choice.unsaved(again.choice.base) is not there


def test_a_choice_made_meanwhile_wins():
    session = new_session()
    apply(session, take(busy_session()))
    session.choice.choose_kernel(find("gpumult1", session.choice.kernels))
    arrive(session)
    assert session.cursor.step == 0 and session.cursor.cell is None


def test_a_recording_that_is_not_the_one_awaited_leaves_the_state_waiting():
    session, other = Session(ladder()), Session(ladder())
    apply(session, take(busy_session()))
    arrive(other)
    session.cursor.show(other.cursor.playable)
    assert session.cursor.step == 0
    arrive(session)
    assert session.cursor.step == 11


@pytest.mark.parametrize(
    ("part", "error", "text"),
    [
        ({"kernel": {"name": "nothing"}}, UnknownKernel, "nothing"),
        ({"kernel": {"path": "/nowhere/x.cu"}}, UnknownKernel, "/nowhere/x.cu"),
        ({"kernel": {"name": "gputiled"}, "breaks": ["nothing"]}, UnknownKernel, "nothing"),
        ({"beside": {"kernel": "nothing"}}, UnknownKernel, "nothing"),
        ({"params": {"TS": 64}}, ConstraintError, "TS <= 32"),
        ({"size": [8, 8, 1 << 30]}, ConstraintError, "1073741824"),
    ],
)
def test_a_state_that_cannot_be_reopened_changes_nothing(part, error, text):
    session = new_session()
    before = take(session)
    with pytest.raises(error, match=text):
        apply(session, part | {"theme": "light"})
    assert take(session) == before


def test_a_missing_place_has_a_message():
    session = reopened({"step": 1000})
    assert session.cursor.step == 0
    assert "steps 1 to 25" in session.messages.current.text


def test_written_files_fit_the_published_form(tmp_path):
    schema = json.loads((data.root("resources") / "schema" / "state-1.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    path = tmp_path / "my.gemmviz"
    session = busy_session()
    session.own_stops.add(stop_here(session.staged))
    write_state(take(session, VIEW), path)
    jsonschema.validate(json.loads(path.read_text()), schema)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is damaged"),
        ("[]", "not a state"),
        ('{"kernel": {"name": "gputiled"}}', "no state_version"),
        ('{"state_version": 2, "kernel": {"name": "gputiled"}}', "version 2; this gemmviz reads version 1"),
        ('{"state_version": 1}', "no kernel"),
        ('{"state_version": 1, "kernel": {"name": "a", "path": "b"}}', "kernel cannot be"),
        ('{"state_version": 1, "kernel": ' + "[" * 5000 + "]" * 5000 + "}", "within each other"),
        ("\x00\xff", "UTF-8"),
    ],
)
def test_a_damaged_file_is_read_as_empty_with_a_message(tmp_path, text, message):
    path = tmp_path / "my.gemmviz"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(GemmvizError, match=message):
        read_state(path)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("step", "0"),
        ("step", "1" + "0" * 400),
        ("size", "[8, 8, 1" + "0" * 5000 + "]"),
        ("cell", '["C", -1, 0]'),
        ("lane", "1e999"),
        ("type_scale", "0.3"),
        ("type_scale", "NaN"),
        ("speed", "Infinity"),
        ("stops", '[{"step": 1, "size": [0, 0, 0]}]'),
        ("shift", '{"shift": [1]}'),
        ("zoom", '{"zoom": 0}'),
        ("zoom", '{"zoom": NaN}'),
        ("zoom", '{"zoom": 1e308}'),
        ("zoom", '{"zoom": true}'),
    ],
)
def test_a_part_that_cannot_be_is_left_out_and_the_rest_is_used(tmp_path, key, value):
    path = tmp_path / "my.gemmviz"
    part = "view" if key in ("shift", "zoom") else key
    path.write_text(f'{{"state_version": 1, "kernel": {{"name": "gpumult1"}}, "{part}": {value}, "calm": true}}')
    plain, (fault,) = read_state(path)
    assert f"{key} cannot be" in fault and fault.startswith("my.gemmviz: ")
    session = reopened(plain)
    assert (session.choice.kernel.name, session.preferences.calm) == ("gpumult1", True)


def test_a_file_that_cannot_be_written_leaves_the_old_one(tmp_path):
    with pytest.raises(GemmvizError, match="cannot write"):
        write_state({"kernel": {"name": "gputiled"}}, tmp_path / "nowhere" / "my.gemmviz")
    path = tmp_path / "my.gemmviz"
    path.write_text("old")
    with pytest.raises(TypeError):
        write_state({"kernel": object()}, path)
    assert path.read_text() == "old" and list(tmp_path.iterdir()) == [path]
