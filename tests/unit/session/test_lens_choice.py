"""Which lens is on the stage: the kernel's own first, then the others, then none."""

from gemmviz.catalogue.ladder import find, ladder
from gemmviz.session import Session


def session_at(name):
    session = Session(ladder())
    session.choice.choose_kernel(find(name, session.choice.kernels))
    return session


def test_a_kernel_comes_with_the_lens_that_its_demo_names():
    session = session_at("gputiled")
    for kernel in session.choice.kernels:
        session.choice.choose_kernel(kernel)
        assert session.lens.name == (kernel.demo.lens if kernel.demo else None)


def test_the_key_goes_through_those_that_suit_and_then_shows_none():
    session, names = session_at("gputiled"), []
    session.lens.changed.connect(lambda: names.append(session.lens.name))
    for _ in range(4):
        session.lens.next(["coalescing", "banks"])
    assert names == ["coalescing", "banks", None, "coalescing"]
    session.lens.show("reuse")
    session.lens.next(["coalescing", "banks"])
    assert session.lens.name == "coalescing"
    session.lens.next([])
    assert session.lens.name is None


def test_another_size_of_the_same_kernel_keeps_the_lens():
    session = session_at("gputiled")
    session.lens.show("banks")
    session.choice.choose(params={"TS": 8})
    assert session.lens.name == "banks"
