"""The texts of kernels that people read are found in the catalogues as the window asks for them."""

import pytest

from gemmviz.catalogue.ladder import ladder
from gemmviz.language import set_language, tr


@pytest.mark.parametrize("code", ["ko", "es"])
def test_each_exhibit_says_its_purpose_in_the_spoken_language(code):
    texts = [kernel.exhibit for kernel in ladder() if kernel.exhibit]
    set_language(code)
    try:
        assert len(texts) > 5 and not [text for text in texts if tr(text) == text]
    finally:
        set_language("en")
