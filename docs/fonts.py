"""Makes the fonts of `resources/fonts` from the files of Inter and JetBrains Mono; wants fontTools.

    python docs/fonts.py FOLDER

FOLDER holds the fonts as their authors release them (Debian: fonts-inter, fonts-jetbrains-mono): `Inter-Regular.otf`,
`JetBrainsMonoNL-Regular.ttf`, and so on. Letters of alphabets that no text of gemmviz uses are left out: the system's
fonts have them. All digits get one width, so that columns of numbers stand still while they change.
"""

import sys
from pathlib import Path

from fontTools import subset
from fontTools.ttLib import TTFont

HERE = Path(__file__).resolve().parent
FACES = ("Regular", "Italic", "Bold", "BoldItalic")
FAMILIES = {"Sans": ("Inter-{}.otf", "gemmviz Sans"), "Mono": ("JetBrainsMonoNL-{}.ttf", "gemmviz Mono")}
RANGES = (
    (0x20, 0x7E),  # ASCII
    (0xA0, 0x17F),  # Latin
    (0x391, 0x3C9),  # Greek
    (0x2000, 0x206F),  # punctuation
    (0x2070, 0x209C),  # figures above and below the line
    (0x20AC, 0x20AC),
    (0x2122, 0x2122),
    (0x2190, 0x22FF),  # arrows, mathematics
    (0x2300, 0x23FF),
    (0x2500, 0x27BF),  # lines, blocks, shapes, marks
)
_FAMILY, _STYLE, _FULL, _POSTSCRIPT, _TYPOGRAPHIC = 1, 2, 4, 6, 16


def with_figures_of_one_width(font: TTFont) -> None:
    """Draw each digit, plus and minus by its glyph of the feature `tnum`."""
    if "GSUB" not in font:
        return
    table = font["GSUB"].table
    places = {
        i
        for record in table.FeatureList.FeatureRecord
        if record.FeatureTag == "tnum"
        for i in record.Feature.LookupListIndex
    }
    other: dict[str, str] = {}
    for place in sorted(places):
        for part in table.LookupList.Lookup[place].SubTable:
            other.update(getattr(part, "ExtSubTable", part).mapping)
    for part in font["cmap"].tables:
        for letter in map(ord, "0123456789+\N{MINUS SIGN}"):
            if letter in part.cmap:
                part.cmap[letter] = other.get(part.cmap[letter], part.cmap[letter])


def named(font: TTFont, family: str, face: str) -> None:
    """Give a font the name by which only this program asks for it; its authors and licence stay in it."""
    style = face.replace("BoldItalic", "Bold Italic")
    names = font["name"]
    for record in [*names.names]:
        if record.nameID >= _TYPOGRAPHIC and record.nameID not in (13, 14):
            names.removeNames(nameID=record.nameID)
    for number, text in {
        _FAMILY: family,
        _STYLE: style,
        _FULL: f"{family} {style}",
        _POSTSCRIPT: f"{family}-{face}".replace(" ", ""),
    }.items():
        names.setName(text, number, 3, 1, 0x409)


def main(folder: Path) -> None:
    """Write all faces."""
    letters = [letter for first, last in RANGES for letter in range(first, last + 1)]
    for short, (pattern, family) in FAMILIES.items():
        for face in FACES:
            source = TTFont(folder / pattern.format(face))
            with_figures_of_one_width(source)
            options = subset.Options(
                layout_features=["kern", "mark", "ccmp"], name_IDs=["*"], notdef_outline=True, hinting=True
            )
            cutter = subset.Subsetter(options)
            cutter.populate(unicodes=letters)
            cutter.subset(source)
            named(source, family, face)
            if "CFF " in source:
                source["CFF "].cff.fontNames = [f"{family}-{face}".replace(" ", "")]
            kept = HERE.parent / "resources" / "fonts" / f"{short}-{face}{Path(pattern).suffix}"
            source.save(kept)
            print(f"{kept.name}: {kept.stat().st_size} bytes, {len(source.getBestCmap())} letters")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
