"""Functions that call each other several times make a text that grows with each level: a guess ends all the same."""

from gemmviz.catalogue.guessing import macros

_CHAIN = {f"f{n}": (["x"], tuple(f"( f{n - 1} ( x ) * f{n - 1} ( x ) )".split())) for n in range(1, 5)}
_CALL = ("f4", "(", "a", ")")


def test_all_expansions_of_one_guess_share_a_limit(monkeypatch):
    whole = macros.expand(_CALL, {}, _CHAIN)
    assert whole.count("f0") == 16
    monkeypatch.setattr(macros, "_MOST_WORK", 2 * len(whole))
    with macros.limited():
        texts = [macros.expand(_CALL, {}, _CHAIN) for _ in range(3)]
    assert len(texts[0]) > len(texts[2]) == 0
    assert macros.expand(("a", "+", "1"), {}, _CHAIN) == ["a", "+", "1"]
