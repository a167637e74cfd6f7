"""One written form for what people write in many: width, case, diacritics, ligatures, script variants."""

from __future__ import annotations

import unicodedata

import regex  # type: ignore[import-untyped]

# Marks that are dropped: Latin, Greek and Cyrillic accents, Arabic vowel signs, Hebrew points. Kana voicing (U+3099) and
# the vowel signs of Indic and South-East Asian scripts stay, for there they make another letter.
_MARKS = regex.compile(
    r"[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe00-\ufe0f\ufe20-\ufe2f"
    r"\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed\u0591-\u05bd\u05bf-\u05c7]+"
)
_LETTERS = str.maketrans(
    {
        "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ħ": "h", "ı": "i", "ŋ": "n", "ŧ": "t",
        "ĸ": "k", "ə": "e", "ß": "ss", "ґ": "г", "ٱ": "ا", "ى": "ي", "ی": "ي", "ک": "ك", "ة": "ه",
        "’": "'", "‘": "'", "ʼ": "'", "＇": "'", "‐": "-", "‑": "-", "‒": "-", "–": "-", "−": "-", "⁄": "/",
    }
    | {chr(start + value): str(value) for start in (0x660, 0x6F0, 0x966, 0x9E6, 0xE50, 0xED0, 0x17E0) for value in range(10)}
)  # fmt: skip
# Invisible: joiners, direction marks, soft hyphens. Controls separate words.
_INVISIBLE = regex.compile(r"[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]+")
_CONTROL = regex.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]+")

CJK = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}々〆ー"
_CJK_RUN = regex.compile(rf"[{CJK}]+")
_CJK_LETTERS = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}ー]+")
_LETTER = regex.compile(r"\p{L}+")
_NON_ASCII_LETTER = regex.compile(r"[^\P{L}\x00-\x7f]+")
_MEANING = regex.compile(r"[\p{L}\p{Nd}\p{Nl}]+")


def clean(text: str) -> str:
    """`text` in NFKC without invisible characters; controls and halves of surrogate pairs become spaces. Keeps case."""
    if text.isascii() and text.isprintable():
        return text
    visible: str = _INVISIBLE.sub("", unicodedata.normalize("NFKC", _CONTROL.sub(" ", text)))
    return visible


def fold(text: str) -> str:
    """The form in which words are compared: `clean`, case-folded, without diacritics and ligatures.

    >>> fold("Crème BRÛLÉE, Ærø, Straße, İstanbul, か")
    'creme brulee, aero, strasse, istanbul, か'
    """
    if text.isascii():
        return clean(text).lower()
    plain = _MARKS.sub("", unicodedata.normalize("NFKD", clean(text).casefold()))
    return unicodedata.normalize("NFC", plain.translate(_LETTERS))


def meaningless(text: str) -> bool:
    """Whether `text` asks nothing: empty, symbols only, or one letter three times or more (a digit: five times).

    >>> [meaningless(text) for text in ("•••", "½", "zzzz", "7", "琴", "the of and")]
    [True, True, True, False, False, False]
    """
    if text.isascii() and text[:64].isalpha() and len(set(text[:64])) > 2:
        return False
    found = fold("".join(_MEANING.findall(text)))
    if not found:
        return True
    return len(found) >= (5 if found[0].isdigit() else 3) and found.count(found[0]) == len(found)


def _share(part: regex.Pattern[str], text: str) -> float:
    letters = sum(map(len, _LETTER.findall(text)))
    return sum(map(len, part.findall(text))) / letters if letters else 0.0


def cjk_share(text: str) -> float:
    """Share of the letters that are Chinese, Japanese or Korean, in [0, 1]; 0 for a text without letters."""
    return 0.0 if text.isascii() else _share(_CJK_LETTERS, text)


def non_ascii_letter_share(text: str) -> float:
    """Share of the letters that lie outside ASCII, in [0, 1]; 0 for a text without letters."""
    return 0.0 if text.isascii() else _share(_NON_ASCII_LETTER, text)


def unspaced(text: str) -> bool:
    """Whether all of `text` is one run of script written without spaces."""
    return _CJK_RUN.fullmatch(text) is not None


def cjk_runs(text: str) -> list[str]:
    """Runs of script written without spaces (CJK, Thai, Lao, Khmer, Burmese), in order."""
    return [] if text.isascii() else _CJK_RUN.findall(text)
