"""The message about system libraries that Qt lacks: the command that installs them, with the system's package names."""

import platform

import pytest

from gemmviz.cli import doctor
from gemmviz.ui.look import display

DEBIAN_12 = {"ID": "debian", "VERSION_CODENAME": "bookworm"}
DEBIAN_13 = {"ID": "debian", "VERSION_CODENAME": "trixie"}
UBUNTU_22 = {"ID": "ubuntu", "ID_LIKE": "debian", "VERSION_CODENAME": "jammy", "UBUNTU_CODENAME": "jammy"}
UBUNTU_24 = {"ID": "ubuntu", "ID_LIKE": "debian", "VERSION_CODENAME": "noble", "UBUNTU_CODENAME": "noble"}
MINT_21 = {"ID": "linuxmint", "ID_LIKE": "ubuntu debian", "VERSION_CODENAME": "vera", "UBUNTU_CODENAME": "jammy"}
MINT_22 = {"ID": "linuxmint", "ID_LIKE": "ubuntu debian", "VERSION_CODENAME": "wilma", "UBUNTU_CODENAME": "noble"}
FEDORA = {"ID": "fedora", "VERSION_CODENAME": ""}
LACKING = ("libglib-2.0.so.0", "libEGL.so.1")


@pytest.fixture
def on(monkeypatch):
    """Makes the machine another system, which lacks some libraries."""

    def be(system):
        monkeypatch.setattr(platform, "freedesktop_os_release", lambda: system)
        monkeypatch.setattr(display, "_loads", lambda name: name not in LACKING)
        monkeypatch.setattr("sys.platform", "linux")

    return be


@pytest.mark.parametrize(
    ("system", "package"),
    [
        (DEBIAN_12, "libglib2.0-0"),
        (DEBIAN_13, "libglib2.0-0t64"),
        (UBUNTU_22, "libglib2.0-0"),
        (UBUNTU_24, "libglib2.0-0t64"),
        (MINT_21, "libglib2.0-0"),
        (MINT_22, "libglib2.0-0t64"),
    ],
    ids=lambda value: value["VERSION_CODENAME"] if isinstance(value, dict) else value,
)
def test_the_command_names_the_packages_of_the_system(on, system, package):
    on(system)
    command = f"sudo apt-get install libegl1 {package}"
    text = display.missing({"QT_QPA_PLATFORM": "offscreen"})
    assert text == f"Qt needs system libraries that are missing here: {command}"
    assert doctor._libraries().remedy == f"for the window: {command}"


def test_a_system_without_apt_gets_the_names_of_the_libraries(on):
    on(FEDORA)
    text = display.missing({"QT_QPA_PLATFORM": "offscreen"})
    assert text == "Qt needs system libraries that are missing here: libEGL.so.1, libglib-2.0.so.0"


def test_an_unknown_system_gets_the_names_of_the_libraries(on, monkeypatch):
    def nothing():
        raise OSError("no os-release")

    on({})
    monkeypatch.setattr(platform, "freedesktop_os_release", nothing)
    assert display.missing({"QT_QPA_PLATFORM": "offscreen"}).endswith("here: libEGL.so.1, libglib-2.0.so.0")


def test_without_missing_libraries_there_is_no_message(on, monkeypatch):
    on(DEBIAN_13)
    monkeypatch.setattr(display, "_loads", lambda name: True)
    assert display.missing_libraries(x11=True) == []
    assert doctor._libraries().state == "ok"
