"""Numbers in texts for people: thousands are apart by a thin space in every language, as a comma is a decimal sign."""

THIN = "\N{NARROW NO-BREAK SPACE}"


def thousands(value: float, decimals: int = 0) -> str:
    """Write a number with a thin space between its thousands.

    Parameters
    ----------
    value
        The number.
    decimals
        How many digits follow the point.
    """
    text = f"{value:,.{decimals}f}" if decimals or isinstance(value, float) else f"{value:,}"
    return text.replace(",", THIN)
