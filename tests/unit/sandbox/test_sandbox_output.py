"""What a kernel prints is handed on; what the C library prints when it ends a process is not."""

import os
import tempfile

from gemmviz.sandbox.output import pass_on, plain


def test_the_last_words_of_the_c_library_are_left_out():
    text = "row 1\nfree(): invalid pointer\ndouble free or corruption (out)\nmalloc(): corrupted top size\nrow 2\n"
    text += "Fatal glibc error: malloc assertion failure in _int_malloc\n*** stack smashing detected ***: terminated\n"
    assert plain(text) == "row 1\nrow 2\n"


def test_what_a_kernel_says_about_such_words_stays():
    assert plain("I call free(): it is mine\n") == "I call free(): it is mine\n"


def test_nothing_that_a_terminal_would_obey_is_handed_on(capfd):
    with tempfile.TemporaryFile() as printed:
        os.write(printed.fileno(), b"\x1b[2Jhello\ndouble free or corruption (!prev)\n")
        pass_on(printed)
    assert capfd.readouterr().err == "[2Jhello\n"
