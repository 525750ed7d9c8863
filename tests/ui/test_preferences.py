# ruff: noqa: E402  (modules that need Qt are imported after `need_qt`)
"""With any preferences the window starts, reports the ones that it leaves out, and is drawn at any size of type."""

import json
import os

import pytest
from window_driving import need_qt, wait_recorded

need_qt()

from PySide6.QtCore import QCoreApplication

from gemmviz import language
from gemmviz.app import new_session
from gemmviz.session.files import preferences_file
from gemmviz.session.models.preferences import TYPE_SCALES


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """The file of preferences, which a test writes."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    path = preferences_file.file()
    path.parent.mkdir(parents=True)
    return path


@pytest.fixture(scope="module")
def drawn(shared_window):
    """A window that is drawn at one size after the other, with all its pages."""
    yield shared_window.take()
    shared_window.give_back()


@pytest.mark.sweep("3.0")
@pytest.mark.parametrize("scale", [0.5, 0.64, 0.79, 0.82, 3.0])
def test_the_window_is_drawn_at_every_size_of_type(drawn, qtbot, scale):
    window = drawn
    window.session.choice.choose(params={"TS": 4})
    wait_recorded(window, qtbot)
    window.session.preferences.set_type_scale(scale)
    QCoreApplication.processEvents()
    for page in ("stage", "charts", "claims"):
        window.pages.turn_to(page)
        QCoreApplication.processEvents()
        assert not window.grab().isNull()
    window.pages.turn_to("stage")
    window.session.choice.choose(params={"TS": 2})
    wait_recorded(window, qtbot)
    assert window.inspector.counters.view.columnWidth(0) > 0


@pytest.mark.sweep("0.79", "1e308")
@pytest.mark.parametrize("scale", ["0.01", "0.5", "0.79", "1e308"])
def test_a_window_starts_at_the_size_that_is_kept_or_the_nearest_that_works(make_window, kept, monkeypatch, scale):
    kept.write_text(f'{{"type_scale": {scale}}}')
    monkeypatch.setattr("window_fixtures.new_session", restored)
    window = make_window()
    smallest, largest = TYPE_SCALES
    assert window.session.preferences.type_scale == min(max(float(scale), smallest), largest)
    assert not window.grab().isNull()


def restored(theme=None):
    session = new_session(theme)
    session.faults = preferences_file.restore(session.preferences)
    return session


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"type_scale": NaN, "calm": true}', "type_scale cannot be NaN"),
        ('{"type_scale": Infinity, "calm": true}', "type_scale cannot be Infinity"),
        ('{"type_scale": 1' + "0" * 400 + ', "calm": true}', "type_scale cannot be Infinity"),
        ('{"type_scale": "large", "calm": true}', 'type_scale cannot be "large"'),
        ('{"theme": ["dark"], "calm": true}', 'theme cannot be ["dark"]'),
        ('{"language": {}, "calm": true}', "language cannot be {}"),
    ],
)
def test_an_invalid_preference_is_left_out_and_the_others_are_used(kept, text, message):
    kept.write_text(text)
    session = restored()
    (fault,) = session.faults
    assert message in fault and str(kept) in fault
    assert session.preferences.calm and session.preferences.type_scale == 1.0


@pytest.mark.parametrize("kind", ["pipe", "device", "folder", "deep", "digits", "bytes", "list"])
def test_unreadable_preferences_are_reported_and_the_window_starts(kept, kind):
    if kind == "pipe":
        os.mkfifo(kept)
    elif kind == "device":
        kept.symlink_to("/dev/zero")
    elif kind == "folder":
        kept.mkdir()
    else:
        text = {"deep": "[" * 100_000, "digits": "1" * 5000, "bytes": "\xff", "list": "[1]"}[kind]
        kept.write_bytes(text.encode("latin-1"))
    session = restored()
    assert len(session.faults) == 1 and str(kept) in session.faults[0]
    assert session.preferences.type_scale == 1.0


def test_a_changed_preference_is_saved_completely(kept):
    session = new_session()
    preferences_file.remember(session.preferences)
    session.preferences.set_type_scale(0.79)
    assert json.loads(kept.read_text())["type_scale"] == 0.79
    assert [path.name for path in kept.parent.iterdir()] == [kept.name]


def test_preferences_are_kept_between_two_starts(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("LANG", "es_MX.UTF-8")
    monkeypatch.delenv("LC_ALL", raising=False)
    monkeypatch.delenv("LC_MESSAGES", raising=False)
    try:
        first = new_session()
        preferences_file.restore(first.preferences)
        assert first.preferences.language == "es"
        preferences_file.remember(first.preferences)
        first.preferences.speak("ko")
        first.preferences.set_theme("light")
        first.preferences.set_type_scale(1.5)
        first.preferences.set_calm(True)
        second = new_session()
        preferences_file.restore(second.preferences)
        assert (
            second.preferences.language,
            second.preferences.theme,
            second.preferences.type_scale,
            second.preferences.calm,
        ) == ("ko", "light", 1.5, True)
        third = new_session("dark")
        preferences_file.restore(third.preferences, theme="dark", language="en")
        assert (third.preferences.language, third.preferences.theme) == ("en", "dark")
        preferences_file.file().write_text("no JSON")
        fourth = new_session()
        preferences_file.restore(fourth.preferences)
        assert (fourth.preferences.language, fourth.preferences.theme) == ("es", "dark")
        preferences_file.remember(fourth.preferences)
        fourth.preferences.set_calm(True)
        assert json.loads(preferences_file.file().read_text())["calm"] is True
    finally:
        language.set_language("en")
