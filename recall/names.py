"""Names without a model: candidate names in a query, and proper names in a note by their form."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import regex  # type: ignore[import-untyped]

from recall.fold import cjk_runs, clean, fold
from recall.stopwords import STOP_WORDS

MAX_QUERY_NAMES = 200
MAX_NOTE_NAMES = 64
MAX_NAME_LENGTH = 100

_POSSESSIVE = regex.compile(r"(?i)['’]s\b")
_APOSTROPHE = regex.compile(r"(?<=\p{L})['’](?=\p{L})")
_NOT_NAME = regex.compile(r"[^\p{L}\p{M}\p{N}+#]+")
_WORD = r"\p{Lu}[\p{L}\p{M}\p{N}]*(?:[-'’&.][\p{L}\p{N}][\p{L}\p{M}\p{N}]*)*"
_JOINT = r"(?:[ \t]+(?:of|the|de|du|del|da|di|la|le|van|von|der|den)){1,2}[ \t]+|[ \t]+(?:&[ \t]+)?"
_RUN = regex.compile(
    rf"(?<![\p{{L}}\p{{N}}]){_WORD}(?:(?:{_JOINT}){_WORD}){{0,6}}+(?:[ \t]+\d{{1,5}}(?![\p{{N}}]|[.,:]\p{{N}}))?"
)
_CODE = regex.compile(r"(?<![\p{L}\p{N}])\p{Lu}[\p{L}\p{N}]*+(?:[-_/.][\p{L}\p{N}]++)*+")
_QUOTED = regex.compile(r"[\"“„«]([^\"”“»\n]{2,60})[\"”»]|[《「『]([^》」』\n]{1,40})[》」』]")
_SPEAKER = regex.compile(r"(?m)^(?:\[[^\]\n]{1,60}\][ \t]*)?(\p{Lu}[\p{L}\p{M}'’. -]{0,40}):(?=\s)")
_SENTENCE_START = regex.compile(r"(?:^|[.!?:;…]|[.!?]['\"”)\]]|[\n\r•*\[(“\"«-])[ \t]*$")
_CALENDAR_WORDS = """
    monday tuesday wednesday thursday friday saturday sunday january february march april may june july august
    september october november december mon tue wed thu fri sat sun jan feb mar apr jun jul aug sep sept oct nov dec
    am pm
"""
_CALENDAR = frozenset(_CALENDAR_WORDS.split())
_NO_NAME_WORDS = """
    ok okay yes no hi hey hello thanks thank wow oh yeah yep nope sure note notes today tomorrow yesterday please
    sorry lol correction update status reminder todo rule bye goodbye woah whoa congrats congratulations
"""
_NO_NAME = frozenset(_NO_NAME_WORDS.split())


def name_key(text: str) -> str:
    """The form under which a name is stored and looked up: folded words joined by one space, at most 100 characters.

    >>> name_key("  Tide-Gauge  O'Brien’s ")
    'tide gauge obrien'
    """
    return key_words(text).strip()[:MAX_NAME_LENGTH].rstrip()


def key_words(text: str) -> str:
    """The words of a text as names are written, with one space or more between them."""
    bare = _APOSTROPHE.sub("", _POSSESSIVE.sub("", clean(text)))
    return str(_NOT_NAME.sub(" ", fold(bare)))


def names(text: str) -> list[str]:
    """Candidate names in a query, as `name_key` writes them: runs of up to 5 words, CJK substrings of 2 to 8 characters.

    At most 200: fewest stop words at the ends first, then short runs before long ones; CJK gets at most half when both
    are there.
    """
    words = [word for word in key_words(text[:8192]).split() if len(word) <= MAX_NAME_LENGTH][:400]
    ranked: dict[str, tuple[int, int, int]] = {}
    for size in range(1, 6):
        for at in range(len(words) - size + 1):
            run = words[at : at + size]
            ends = (run[0] in STOP_WORDS) + (run[-1] in STOP_WORDS)
            if not all(word in STOP_WORDS for word in run):
                ranked.setdefault(" ".join(run)[:MAX_NAME_LENGTH], (ends, size, at))
    found = sorted(ranked, key=ranked.__getitem__)
    parts = list(dict.fromkeys(substrings(text)))
    room = MAX_QUERY_NAMES if not parts else max(MAX_QUERY_NAMES // 2, MAX_QUERY_NAMES - len(parts))
    return list(dict.fromkeys([*found[:room], *parts]))[:MAX_QUERY_NAMES]


def substrings(text: str) -> Iterator[str]:
    """Every 2 to 8 characters in a row of script without spaces, bounded."""
    runs = [name_key(run) for run in cjk_runs(clean(text[:8192]))]
    for size in range(2, 9):
        for run in runs[:64]:
            for at in range(min(len(run), 200) - size + 1):
                yield run[at : at + size]


def proper_names(text: str) -> list[str]:
    """Proper names in a note, as written, most frequent first, at most 64; a deterministic reading of their form.

    Capitalised runs (not a lone word at the start of a sentence, unless it comes again elsewhere), identifiers with
    digits (`RFC 7230`, `ADR-0172`), quoted titles, and who speaks in a chat turn (`[date] Name: ...`).

    >>> proper_names("Rule ADR-0172: Marta Olsen met Rowan.")
    ['ADR-0172', 'Marta Olsen', 'Rowan']
    """
    text = clean(text[:65536])
    counted: Counter[str] = Counter()
    shown: dict[str, str] = {}
    lone_at_start: Counter[str] = Counter()
    for name, sure in _found(text):
        key = name_key(name)
        if not key or len(name) > MAX_NAME_LENGTH:
            continue
        shown.setdefault(key, name)
        (counted if sure else lone_at_start)[key] += 1
    counted.update({key: n for key, n in lone_at_start.items() if n > 1 or key in counted})
    return [shown[key] for key, _ in counted.most_common(MAX_NOTE_NAMES)]


def _found(text: str) -> Iterator[tuple[str, bool]]:
    """Each name by form, and whether its form is proof enough."""
    for match in _SPEAKER.finditer(text):
        yield match.group(1), True
    for match in _QUOTED.finditer(text):
        quoted = (match.group(1) or match.group(2)).strip(" .,;:!?")
        if quoted and (match.group(2) or (quoted[0].isupper() and quoted.count(" ") < 6)):
            yield quoted, True
    for match in _CODE.finditer(text):
        if not match.group().isalpha() and any(letter.isdigit() for letter in match.group()[:MAX_NAME_LENGTH]):
            yield match.group(), True
    for match in _RUN.finditer(text):
        name, sure = _trim(match.group(), bool(_SENTENCE_START.search(text, max(0, match.start() - 3), match.start())))
        if name:
            yield name, sure


def _trim(run: str, at_start: bool) -> tuple[str, bool]:
    """`run` without leading stop words, calendar words and interjections; "" when nothing is left."""
    words = _POSSESSIVE.sub("", run).split()
    while words and _is_common(words[0]):
        words.pop(0)
        at_start = False
    while words and (_is_common(words[-1]) or not (words[-1][0].isupper() or words[-1][0].isdigit())):
        words.pop()
    if not words or not words[0][0].isupper() or (len(words) == 1 and len(words[0]) < 2):
        return "", False
    return " ".join(words), not at_start or len(words) > 1 or not words[0][1:].islower()


def _is_common(word: str) -> bool:
    key = word.casefold().split("'")[0].split("’")[0]
    return key in STOP_WORDS or key in _CALENDAR or key in _NO_NAME
