"""A stranger's text that is compiled for a GPU and disassembled opens no file of the user."""

import threading

import attacks
import pytest
from listings import needs_tools

from gemmviz.catalogue.ladder import find, ladder
from gemmviz.engine.messages import FINAL, Assembled, AssembleRequest, Failed

TILED = find("gputiled", ladder())


def assembled(engine, text, path="/nowhere/mine.cu"):
    request = AssembleRequest(1, path, text, 32, 32, 32, {}, "sm_80")
    (reply,) = (r for r in engine.run(request, threading.Event()) if isinstance(r, FINAL))
    return reply


ATTACKS = (
    '#include "/etc/passwd"',
    '#include "/dev/zero"',
    '#include "{0}/secret.h"',
    'asm(".incbin \\"{0}/secret.h\\"");',
)


def secrets(text):
    return [secret for secret in ("secret\n", "this is", "root:") if secret in text]


@pytest.mark.sweep('#include "{0}/secret.h"', "asm*")
@needs_tools
@pytest.mark.parametrize("line", ATTACKS)
def test_it_includes_no_file_of_the_user(engine, tmp_path, line):
    (tmp_path / "secret.h").write_text("this is a secret\n")
    # In the kernel's body, where the compiler reads it.
    reply = assembled(engine, attacks.device_attack("\n" + line.format(tmp_path) + "\n"))
    assert isinstance(reply, Failed), reply
    assert reply.kind == "compile"
    assert not secrets(reply.message)
    reply = assembled(engine, TILED.text, str(TILED.path))
    assert isinstance(reply, Assembled) and reply.listing.usage.registers
    assert reply.listing.files[0].name == TILED.path.name


@pytest.mark.sweep('#include "{0}/secret.h"')
@needs_tools
@pytest.mark.parametrize("line", ATTACKS)
def test_a_file_that_the_kernel_does_not_reach_is_not_read(engine, tmp_path, line):
    (tmp_path / "secret.h").write_text("this is a secret\n")
    reply = assembled(engine, attacks.device_attack("", line.format(tmp_path)))
    if isinstance(reply, Failed):
        assert not secrets(reply.message)
    else:
        assert [file.name for file in reply.listing.files] == ["mine.cu"]
        assert not secrets("".join(file.text for file in reply.listing.files))
