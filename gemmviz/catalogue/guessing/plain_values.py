"""Values in host code without conversions, and the bytes of types."""

import re

_SIZE_OF = re.compile(r"sizeof \( (?:const )?(\w+) \)")
SIZES = {
    **{"float": 4, "double": 8, "half": 2, "__half": 2, "int": 4, "unsigned": 4, "char": 1, "int8_t": 1, "uint8_t": 1},
    **{"nv_half": 2, "__nv_half": 2, "Half": 2, "BFloat16": 2},
    **{"__nv_bfloat16": 2, "nv_bfloat16": 2, "half2": 4, "float2": 8, "float4": 16, "int4": 16, "uint32_t": 4},
}
"""The bytes of types."""


def plain(tokens: tuple[str, ...]) -> tuple[str, ...]:
    """Return a value without the parts that only convert to float: ``ceil(N / 16.0f)``, ``ceil((float) N / 16)``.

    Parameters
    ----------
    tokens
        The value; sizes of types become numbers.
    """
    out: list[str] = []
    for token in tokens:
        number = re.fullmatch(r"(\d+)\.0*[fF]?", token)
        out.append(number[1] if number else token)
    text = _SIZE_OF.sub(lambda found: str(SIZES.get(found[1], found[0])), " ".join(out))
    text = text.replace("( float )", "").replace("( double )", "")
    text = re.sub(r"static_cast < (?:unsigned )?\w+ > ", "", text)
    return tuple(text.replace("std :: ", "").replace("ceilf", "ceil").split())
