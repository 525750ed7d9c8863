"""Can a window be opened here? Asked before Qt is loaded, because Qt ends the process when it cannot. No Qt in here."""

import contextlib
import ctypes
import platform
import re
import socket
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

# Libraries of the system that PySide6-Essentials needs, and the Debian package of each: always, and for X11.
_ALWAYS = {
    "libEGL.so.1": "libegl1",
    "libGL.so.1": "libgl1",
    "libxkbcommon.so.0": "libxkbcommon0",
    "libdbus-1.so.3": "libdbus-1-3",
    "libfontconfig.so.1": "libfontconfig1",
    "libglib-2.0.so.0": "libglib2.0-0",
}
_X11 = {
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
    "libX11-xcb.so.1": "libx11-xcb1",
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-image.so.0": "libxcb-image0",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
    "libxcb-randr.so.0": "libxcb-randr0",
    "libxcb-render-util.so.0": "libxcb-render-util0",
    "libxcb-shape.so.0": "libxcb-shape0",
    "libxcb-shm.so.0": "libxcb-shm0",
    "libxcb-sync.so.1": "libxcb-sync1",
    "libxcb-util.so.1": "libxcb-util1",
    "libxcb-xfixes.so.0": "libxcb-xfixes0",
    "libxcb-xkb.so.1": "libxcb-xkb1",
}
# Debian 13 and Ubuntu 24.04 gave some packages another name, with the system's 64-bit time.
_RENAMED = {"libglib2.0-0": "libglib2.0-0t64"}
_BEFORE = {"bullseye", "bookworm", "focal", "jammy"}
"""The releases of Debian and Ubuntu that still have the old names, by code name."""
_INSTEAD = "without a window, `gemmviz render KERNEL -o out.png` draws a picture and `gemmviz bench` measures"


def missing(environ: Mapping[str, str]) -> str | None:
    """Return one line with the reason why no window can be opened and the remedy, or None when one can.

    Parameters
    ----------
    environ
        The environment: DISPLAY, WAYLAND_DISPLAY and QT_QPA_PLATFORM count.
    """
    plugin = environ.get("QT_QPA_PLATFORM", "").split(":")[0]
    wayland, x11 = environ.get("WAYLAND_DISPLAY"), environ.get("DISPLAY")
    on_linux = sys.platform.startswith("linux")
    if on_linux and not plugin and not wayland and not x11:
        return f"there is no display (neither DISPLAY nor WAYLAND_DISPLAY is set); {_INSTEAD}"
    uses_x11 = on_linux and (plugin == "xcb" or (not plugin and not wayland))
    if uses_x11 and not _answers(x11 or ""):
        return f"the display {x11 or '(DISPLAY is not set)'} does not answer; {_INSTEAD}"
    lacking = missing_libraries(x11=uses_x11)
    if lacking:
        return f"Qt needs system libraries that are missing here: {how_to_install(lacking)}"
    return qt_fault()


def missing_libraries(*, x11: bool) -> list[str]:
    """Return the libraries that Qt needs of the system and that cannot be loaded, as ``"libEGL.so.1"``."""
    if not sys.platform.startswith("linux"):
        return []
    return [name for name in (_ALWAYS | (_X11 if x11 else {})) if not _loads(name)]


def how_to_install(libraries: Sequence[str]) -> str:
    """Return the command that installs libraries on this system, or their names where it has no ``apt-get``.

    Parameters
    ----------
    libraries
        Of those that `missing_libraries` names.
    """
    system = _release()
    if not {"debian", "ubuntu"} & {system.get("ID"), *system.get("ID_LIKE", "").split()}:
        return ", ".join(libraries)
    # A system derived from Debian or Ubuntu names the release.
    release = next((system[key] for key in ("UBUNTU_CODENAME", "DEBIAN_CODENAME") if key in system), None)
    packages = [(_ALWAYS | _X11)[name] for name in libraries]
    if (release or system.get("VERSION_CODENAME")) not in _BEFORE:
        packages = [_RENAMED.get(package, package) for package in packages]
    return f"sudo apt-get install {' '.join(packages)}"


def qt_fault() -> str | None:
    """Return one line that says why Qt cannot be imported, or None when it can."""
    try:
        import PySide6.QtWidgets  # noqa: F401
    except ImportError as error:
        return f"Qt cannot be loaded ({error}); install it with: python -m pip install 'PySide6-Essentials>=6.10,<6.11'"
    return None


def _release() -> Mapping[str, str]:
    """Return the system's description of itself (``/etc/os-release``); empty if there is none."""
    try:
        return platform.freedesktop_os_release()
    except OSError:
        return {}


def _loads(name: str) -> bool:
    try:
        ctypes.CDLL(name)
    except OSError:
        return False
    return True


def _answers(display: str) -> bool:
    """Say whether an X server listens at a DISPLAY such as ``":0"`` or ``"host:10.0"``."""
    found = re.fullmatch(r"(?:unix)?(?P<host>[^:/]*|/.*):(?P<number>\d+)(?:\.\d+)?", display)
    if found is None:
        return False
    number = int(found["number"])
    places: list[tuple[int, str | tuple[str, int]]] = []
    if not found["host"]:
        path = f"/tmp/.X11-unix/X{number}"
        places = [(socket.AF_UNIX, path)] if Path(path).exists() else []
        places.append((socket.AF_UNIX, "\0" + path))
    places.append((socket.AF_INET, (found["host"] or "localhost", 6000 + number)))
    for family, address in places:
        with contextlib.suppress(OSError), socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.settimeout(2)
            probe.connect(address)
            return True
    return False
