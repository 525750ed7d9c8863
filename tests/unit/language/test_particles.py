"""Korean particles follow the sound before them."""

import pytest

from gemmviz import language
from gemmviz.language.particles import final_of, with_particles


@pytest.fixture
def korean():
    language.set_language("ko")
    yield
    language.set_language("en")


@pytest.mark.parametrize(
    ("text", "chosen"),
    [
        ("커널을(를)", "커널을"),
        ("스레드을(를)", "스레드를"),
        ("블록이(가) 워프을(를)", "블록이 워프를"),
        ("타일(으)로", "타일로"),
        ("블록(으)로", "블록으로"),
        ("8 × 8 × 8(으)로", "8 × 8 × 8로"),
        ("16(으)로", "16으로"),
        ("4은(는)", "4는"),
        ("10은(는)", "10은"),
        ("A과(와) N과(와) M", "A와 N과 M"),
        ("As[0][0]을(를)", "As[0][0]을"),
        ("C[2, 5]이(가)", "C[2, 5]가"),
        ("gputiled<16>은(는)", "gputiled<16>은"),
        ("gpumult1은(는)", "gpumult1은"),
        ("matmul_kernel은(는)", "matmul_kernel은"),
        ("cuBLAS이(가)", "cuBLAS가"),
        ("main.cu을(를)", "main.cu를"),
        ("<b>레인</b>을(를)", "<b>레인</b>을"),
        ("50 %을(를)", "50 %를"),
        ("3초(이)라고", "3초라고"),
        ("레슨(이)라고", "레슨이라고"),
        ("“블록”이(가)", "“블록”이"),
        ("µ을(를)", "µ을(를)"),
        ("스레드 (0,0)", "스레드 (0,0)"),
    ],
)
def test_the_form_follows_the_last_sound(text, chosen):
    assert with_particles(text) == chosen


def test_every_digit_and_every_letter_has_its_sound():
    assert "".join(digit for digit in "0123456789" if final_of(digit) != "none") == "013678"
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    assert "".join(letter for letter in letters if final_of(letter) != "none") == "LMNR"
    assert final_of("") is None and final_of("≥") is None


def test_a_value_decides_when_it_is_filled_in(korean, monkeypatch):
    monkeypatch.setitem(language._state["ko"].texts, "{file} opens", "{file}이(가) 열립니다")
    assert language.tr("{file} opens", file="블록") == "블록이 열립니다"
    assert language.tr("{file} opens", file="타일 2") == "타일 2가 열립니다"
    language.set_language("en")
    assert language.tr("{file} 이(가)", file="x") == "x 이(가)"


def test_no_finished_text_keeps_both_forms_with_usual_values(korean):
    texts = language._state["ko"].texts
    both = [text for text in texts.values() if with_particles(text.replace("{", "").replace("}", "")) != text]
    assert both, "the catalogue has particles to choose"
    for text in both:
        message = with_particles(text.replace("{", "").replace("}", ""))
        assert not any(form in message for form in ("을(를)", "은(는)", "이(가)", "과(와)", "(으)로")), message
