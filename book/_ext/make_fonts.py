"""Makes the book's fonts: the used part of Source Serif 4, Noto Serif SC, IBM Plex Sans and Mono, and STIX Two Math.

They go into `_assets/fonts`; that of the charts goes into `annotated_book/viz/fonts`, too, for their still pictures.
Run it again only when the book needs another letter, such as a new Chinese term in the glossary:
`python book/_ext/make_fonts.py` fetches five packages from npm, checks them, and writes the files that are committed.
It needs `fonttools` and `brotli`. With `--metrics` it prints how far each fallback font must be scaled so that a line
keeps its length when the real font arrives.
"""

from __future__ import annotations

import hashlib
import io
import re
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from fontTools import subset
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen
from fontTools.ttLib import TTFont

FOLDER = Path(__file__).resolve().parents[1] / "_assets" / "fonts"
PACKAGES = {
    "source-serif@4.5.1": "19a448df98f4aa777de3452b0a1e29aa7ffe29252fe552c8a2d2531702d80746",
    "@ibm/plex-sans@1.1.0": "c3818979c2a2c82927ea3e7c485e389a18de0b7462887dd4f7acc9a525568962",
    "@ibm/plex-mono@2.5.0": "55b5ffcfcd5e9db36ef2070b2b07a573434ca02c6f3be2b921c0b88fff29acad",
    "@fontsource/stix-two-math@5.3.0": "948de1b5470fbbd745fedbe6135797454fe833d94feecc6f2073cd771fe2f5fd",
    "@fontsource/noto-serif-sc@5.3.0": "e46d02fdaba2e816c8cdbc38188c80830b5f6af75fff207d0204e25d23d48fd4",
}
"""Packages of npm, and the SHA-256 of their archives."""
_SERIF = "package/WOFF2/TTF/SourceSerif4{}.ttf.woff2"
_SANS = "package/fonts/complete/woff2/IBMPlexSans-{}.woff2"
_MONO = "package/fonts/complete/woff2/IBMPlexMono-{}.woff2"
ASCII = range(0x20, 0x7F)
LATIN = [*ASCII, *range(0xA0, 0x100), *map(ord, "āćčęěğĠıłńňőœřśşšťūůźżžŒŠŽ")]
PUNCTUATION = [*range(0x2010, 0x2016), *range(0x2018, 0x201F), *map(ord, "†‡•…‰′″‹›€™")]
GREEK = [*range(0x391, 0x3A2), *range(0x3A3, 0x3AA), *range(0x3B1, 0x3CA), 0x3D5]
SIGNS = [*map(ord, "←↑→↓↔⇒∂∈∏∑−∕∙√∞∫≈≠≤≥⊤⊙ℓ▁✓✗▶◀■●◆○␣⁰¹²³⁴⁵⁶⁷⁸⁹⁻₀₁₂₃₄│─")]
TEXT = [*LATIN, *PUNCTUATION, *GREEK, *SIGNS]
FONTS = {
    "serif-regular": (_SERIF.format("-Regular"), TEXT),
    "serif-italic": (_SERIF.format("-It"), TEXT),
    "serif-semibold": (_SERIF.format("-Semibold"), [*LATIN, *PUNCTUATION, *SIGNS]),
    "serif-display": (_SERIF.format("Display-Regular"), [*ASCII, *PUNCTUATION, *map(ord, "ÄÖÜßäöüé×−")]),
    "sans-regular": (_SANS.format("Regular"), TEXT),
    "sans-semibold": (_SANS.format("SemiBold"), [*LATIN, *PUNCTUATION, *GREEK, *SIGNS]),
    "mono-regular": (_MONO.format("Regular"), TEXT),
    "mono-semibold": (_MONO.format("SemiBold"), [*LATIN, *PUNCTUATION, *SIGNS]),
}
_FORMULA_SIGNS = "ℂℍℕℙℚℝℤℎℓ∀∂∃∇∈∉∏∑−∓∖∗∘√∝∞∠∣∥∧∨∩∪∫∼≈≠≡≤≥≪≫⊂⊆⊙⊕⊤⊥⋯…′″‖⌈⌉⌊⌋⟨⟩⟺⇒→←↔↦ˆ˜¯˙̂·×±¬"
FORMULA = [
    *ASCII,
    *GREEK,
    0x3F5,
    *range(0x1D400, 0x1D468),
    *range(0x1D538, 0x1D551),
    *range(0x1D6E2, 0x1D71C),
    *map(ord, _FORMULA_SIGNS),
]
FONTS["math"] = ("package/files/stix-two-math-latin-400-normal.woff2", FORMULA)
BOOK = FOLDER.parents[1]


def chinese(book: Path = BOOK) -> list[int]:
    """The Chinese characters of pages and bibliography, their punctuation and the ellipsis: the only ones shipped."""
    files = [*sorted(book.rglob("*.md")), book / "annotated_book" / "references.bib"]
    pages = "".join(file.read_text(encoding="utf-8") for file in files)
    return sorted({*map(ord, re.findall(r"[\u3001-\u303f\u4e00-\u9fff\uff00-\uffef]", pages)), ord("…")})


_CHINESE = "package/files/noto-serif-sc-chinese-simplified-400-normal.woff2"
LICENCES = {
    "source-serif@4.5.1": ("LICENSE.md", "OFL-Source-Serif.txt"),
    "@ibm/plex-sans@1.1.0": ("LICENSE.txt", "OFL-IBM-Plex.txt"),
    "@ibm/plex-mono@2.5.0": ("fonts/complete/woff2/license.txt", "OFL-IBM-Plex.txt"),
    "@fontsource/stix-two-math@5.3.0": ("LICENSE", "OFL-STIX-Two.txt"),
    "@fontsource/noto-serif-sc@5.3.0": ("LICENSE", "OFL-Noto-Serif-SC.txt"),
}
FONTS["chinese"] = (_CHINESE, chinese())  # chinese.txt lists them: a test reads it, which has no brotli
CHARTS = FOLDER.parents[1] / "annotated_book" / "viz" / "fonts"
SANS = "Book Sans"
"""The family of the charts' letters: a part of a font must not have the reserved name of the whole."""
FEATURES = ["kern", "mark", "ccmp", "locl", "liga", "tnum", "ssty", "dtls"]
"""What fonts do besides: `ssty` and `dtls` are for indices and accents in formulas."""


def fetch() -> dict[str, bytes]:
    """The fonts, by their names in the archives, and the licences, by their packages.

    Raises
    ------
    ValueError
        If an archive is not the expected one.
    """
    files: dict[str, bytes] = {}
    for package, expected in PACKAGES.items():
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(["npm", "pack", "--silent", package], cwd=folder, check=True, stdout=subprocess.DEVNULL)
            (archive,) = Path(folder).glob("*.tgz")
            content = archive.read_bytes()
        found = hashlib.sha256(content).hexdigest()
        if found != expected:
            raise ValueError(f"{package}: SHA-256 {found}, expected {expected}")
        with tarfile.open(fileobj=io.BytesIO(content)) as tar:
            licence = f"package/{LICENCES[package][0]}"
            wanted = {path: path for path, _ in FONTS.values()} | {licence: package}
            for name in wanted.keys() & set(tar.getnames()):
                member = tar.extractfile(name)
                assert member is not None
                files[wanted[name]] = member.read()
    return files


def write(source: bytes, characters: list[int], place: Path) -> None:
    """The part of a font that has these characters."""
    font = TTFont(io.BytesIO(source))
    options = subset.Options(layout_features=FEATURES, hinting=False, name_IDs=[0, 1, 2, 6, 13, 14])
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=characters)
    subsetter.subset(font)
    if "MATH" in font:
        even_roots(font)
    if place.stem.startswith("sans-"):
        for record in font["name"].names:
            record.string = {1: SANS, 6: f"Book{place.stem.title()}"}.get(record.nameID, record.string)
        font.flavor = None
        font.save(CHARTS / f"{place.stem}.ttf")
    font.flavor = "woff2"
    font.save(place)


def write_token_mark(place: Path) -> None:
    """A font of one sign, "▁", the space that a token begins with: a thin line, not the block of most fonts."""
    pen, builder = TTGlyphPen(None), FontBuilder(1000, isTTF=True)
    for x, y in ((60, -120), (60, -70), (440, -70), (440, -120)):
        (pen.lineTo if (x, y) != (60, -120) else pen.moveTo)((x, y))
    pen.closePath()
    builder.setupGlyphOrder([".notdef", "mark"])
    builder.setupCharacterMap({ord("▁"): "mark"})
    builder.setupGlyf({".notdef": TTGlyphPen(None).glyph(), "mark": pen.glyph()})
    builder.setupHorizontalMetrics({".notdef": (500, 0), "mark": (500, 60)})
    builder.setupHorizontalHeader(ascent=800, descent=-200)
    builder.setupNameTable({"familyName": "Token Mark", "styleName": "Regular"})
    builder.setupOS2()
    builder.setupPost()
    builder.font.flavor = "woff2"
    builder.save(place)


def even_roots(font: TTFont) -> None:
    """Make every height of the root sign as wide as the lowest: Chromium keeps room for the widest behind each root."""
    variants = font["MATH"].table.MathVariants
    root = font.getBestCmap()[ord("√")]
    shapes = variants.VertGlyphConstruction[variants.VertGlyphCoverage.glyphs.index(root)]
    parts = [part.glyph for part in shapes.GlyphAssembly.PartRecords] if shapes.GlyphAssembly else []
    width = font["hmtx"][root][0]
    for name in {*parts, *(variant.VariantGlyph for variant in shapes.MathGlyphVariantRecord)} - {root}:
        advance, bearing = font["hmtx"][name]
        scale = width / advance
        coordinates = font["glyf"][name].coordinates
        coordinates.scale((scale, 1))
        coordinates.toInt()
        font["glyf"][name].recalcBounds(font["glyf"])
        font["hmtx"][name] = (width, round(bearing * scale))


# How often letters stand in English text, per thousand; the width of a line follows from them.
_FREQUENCY = {" ": 183, "e": 102, "t": 75, "a": 65, "o": 62, "i": 57, "n": 57, "s": 53, "h": 50, "r": 49, "d": 35}
_FREQUENCY |= {"l": 33, "c": 23, "u": 23, "m": 20, "w": 17, "f": 16, "g": 16, "y": 15, "p": 13, "b": 12, "v": 8, "k": 6}


def mean_width(font: TTFont) -> float:
    """The mean width of a letter in text, in ems."""
    cmap, widths = font.getBestCmap(), font["hmtx"]
    total = sum(n * widths[cmap[ord(letter)]][0] for letter, n in _FREQUENCY.items())
    return total / sum(_FREQUENCY.values()) / font["head"].unitsPerEm


def main() -> None:
    """Write the fonts and their licences."""
    for folder in (FOLDER, CHARTS):
        folder.mkdir(parents=True, exist_ok=True)
    files = fetch()
    for name, (path, characters) in FONTS.items():
        write(files[path], characters, FOLDER / f"{name}.woff2")
        print(f"{name}: {(FOLDER / f'{name}.woff2').stat().st_size / 1024:.1f} KiB")
    (FOLDER / "chinese.txt").write_text("".join(map(chr, FONTS["chinese"][1])) + "\n", encoding="utf-8")
    write_token_mark(FOLDER / "token-mark.woff2")
    for package, (_, name) in LICENCES.items():
        (FOLDER / name).write_bytes(files[package])


def print_metrics(others: list[str]) -> None:
    """For each face of the book's serif and each other font: the scale that makes lines equally long, and heights."""
    for face in ("regular", "italic", "semibold", "display"):
        own = TTFont(FOLDER / f"serif-{face}.woff2")
        head, above, below = own["head"], own["hhea"].ascent, -own["hhea"].descent
        for path in others:
            scale = mean_width(own) / mean_width(TTFont(path))
            heights = (f"{height / head.unitsPerEm / scale:.1%}" for height in (above, below))
            print(face, path, f"size-adjust {scale:.1%} ascent and descent", *heights)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--metrics"]:
        print_metrics(sys.argv[2:])
    else:
        main()
