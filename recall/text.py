"""The one tokeniser: what the full-text index holds, what a query asks for, and every lexical check use it.

A word gives its exact form and, beside it, its English stem marked with `#`, so that the two never meet. A compound
(`ADR-0172`, `parse_tide_table`, `TideTableParser`, `/srv/orchard/zones.yaml`) gives itself whole and its parts. Script
without spaces gives single characters and overlapping bigrams. No term holds white space, and none is longer than 128.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

import regex  # type: ignore[import-untyped]
import Stemmer

from recall.fold import CJK, cjk_share, clean, fold, meaningless, non_ascii_letter_share, unspaced
from recall.names import name_key, names, proper_names
from recall.passages import passages, sentences
from recall.stopwords import STOP_WORDS

__all__ = [
    "MAX_QUERY_TERMS", "MAX_TERM_LENGTH", "QueryTerms", "Word", "cjk_share", "clean", "fold", "lucene", "meaningless",
    "name_key", "names", "non_ascii_letter_share", "passages", "proper_names", "query_terms", "sentences", "terms",
    "unspaced",
]  # fmt: skip

MAX_TERM_LENGTH = 128
MAX_QUERY_TERMS = 64
Rarity = Callable[[str], float]

_LOCAL = threading.local()  # a stemmer serves one thread
_RUNS = regex.compile(rf"(?P<cjk>[{CJK}]+)|[^\s{CJK}]+")
_LETTERS = r"[\p{L}\p{M}\p{N}]"
_COMPOUND = regex.compile(
    rf"(?:(?<![\p{{L}}\p{{M}}\p{{N}}.])\.)?{_LETTERS}++(?:[-‐‑._/\\:@&+='’]{{1,3}}{_LETTERS}++)*+(?:\+\+|#)?"
)
_TOP_LEVEL = regex.compile(r"[/\\:@&+=]+")
_LEAF = regex.compile(rf"{_LETTERS}+")
_CAMEL = regex.compile(r"\p{Lu}+(?=\p{Lu}\p{Ll}{2})|\p{Lu}*\p{Ll}+\p{N}*|\p{Lu}+\p{N}*|[\p{L}\p{M}\p{N}]+")
_CAMEL_HUMP = regex.compile(r"\p{Ll}\p{Lu}|\p{Lu}\p{Lu}\p{Ll}{2}")
_THOUSANDS = regex.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_POSSESSIVE = regex.compile(r"(?i)['’](?:s|ll|re|ve|d|m)(?![\p{L}\p{N}])|n['’]t(?![\p{L}\p{N}])")
_LUCENE_SYNTAX = regex.compile(r'([-+&|!(){}\[\]^"~*?:\\/<>=])')


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a query and the index terms by which a note may have it.

    text: the exact form.  others: equally good forms (a compound written as one word).  stem: marked stem, or "".
    parts: what a compound consists of.  grams: the bigrams of a run without spaces, in order (then `parts` is empty).
    """

    text: str
    others: tuple[str, ...] = ()
    stem: str = ""
    parts: tuple[Word, ...] = ()
    grams: tuple[str, ...] = ()

    def forms(self) -> Iterator[str]:
        """Each index term of the word, the exact one first."""
        yield from self.grams or (self.text,)
        yield from self.others
        if self.stem:
            yield self.stem
        for part in self.parts:
            yield from part.forms()


@dataclass(frozen=True, slots=True)
class QueryTerms:
    """The distinct words of a query. only_stop_words: nothing else was asked, so they stayed."""

    words: tuple[Word, ...]
    only_stop_words: bool = False

    @property
    def terms(self) -> tuple[str, ...]:
        """Distinct index terms of all words, in order."""
        return tuple(dict.fromkeys(term for word in self.words for term in word.forms()))


def terms(text: str) -> list[str]:
    """Index terms of `text` in order, repeated as often as they occur.

    >>> terms("Rowan's tide-gauge")
    ['rowan', '#rowan', 'tide-gauge', 'tidegauge', 'tide', '#tide', 'gauge', '#gaug']
    >>> terms("钢琴室")
    ['钢', '琴', '室', '钢琴', '琴室']
    """
    out: list[str] = []
    cleaned = clean(text)
    if cleaned.isascii():
        for chunk in cleaned.split():
            out.extend(_chunk_terms(chunk) if len(chunk) <= 64 else _flatten(_chunk_words(chunk)))
        return out
    last, end = "", -1
    for match in _RUNS.finditer(cleaned):
        chunk = match.group()
        if match.lastgroup == "cjk":
            run = fold(chunk)
            # A run may be broken by one space where another writer has none: the bigram across it is kept too.
            if last and match.start() - end <= 1 and run:
                out.append(last + run[0])
            out.extend(run)
            out.extend(run[at : at + 2] for at in range(len(run) - 1))
            last, end = run[-1:], match.end()
        else:
            last = ""
            out.extend(_chunk_terms(chunk) if len(chunk) <= 64 else _flatten(_chunk_words(chunk)))
    return out


def query_terms(text: str, rarity: Rarity | None = None, limit: int = MAX_QUERY_TERMS) -> QueryTerms:
    """The distinct words of a query, without stop words unless there is nothing else; at most `limit` of them.

    rarity: larger for rarer index terms; says which words stay when there are too many (without it: the first ones).
    """
    words: dict[str, Word] = {}
    for match in _RUNS.finditer(clean(text)):
        if match.lastgroup == "cjk":
            run = fold(match.group())
            grams = tuple(run[at : at + 2] for at in range(len(run) - 1)) or tuple(run)
            for at in range(0, len(grams), 32):
                piece = grams[at : at + 32]
                words.setdefault("".join(g[0] for g in piece) + piece[-1][1:], Word(run[at : at + 33], grams=piece))
        else:
            for word in _chunk_words(match.group()):
                words.setdefault(word.text, word)
    asked = [_without_stop_parts(word) for word in words.values() if word.text not in STOP_WORDS]
    chosen = asked or list(words.values())
    return QueryTerms(tuple(_rarest(chosen, rarity, limit)), only_stop_words=not asked)


def _without_stop_parts(word: Word) -> Word:
    parts = tuple(part for part in word.parts if part.text not in STOP_WORDS)
    return replace(word, parts=parts) if parts and len(parts) < len(word.parts) else word


def lucene(query: QueryTerms) -> str:
    """A disjunction in Lucene's syntax, every term escaped; "" when the query has no terms.

    >>> lucene(query_terms("tides C++"))
    'tides #tide c\\\\+\\\\+ c'
    """
    return " ".join(_LUCENE_SYNTAX.sub(r"\\\1", term) for term in query.terms)


def _rarest(words: list[Word], rarity: Rarity | None, limit: int) -> list[Word]:
    """`words` in order; when their forms are more than `limit`, those of the rarest words that fit."""
    sizes = {word.text: len(word.grams) or 1 + len(word.parts) for word in words}
    if sum(sizes.values()) <= limit:
        return words
    ordered = words
    if rarity is not None:
        ordered = sorted(words, key=lambda word: -max(rarity(term) for term in word.forms()))
    kept, room = set(), limit
    for word in ordered:
        if sizes[word.text] <= room:
            kept.add(word.text)
            room -= sizes[word.text]
        if room <= 0:
            break
    return [word for word in words if word.text in kept] or [_short(ordered[0], limit)]


def _short(word: Word, limit: int) -> Word:
    return Word(word.text, word.others, word.stem, word.parts[: limit - 1], word.grams[:limit])


@lru_cache(maxsize=65536)
def _chunk_terms(chunk: str) -> tuple[str, ...]:
    bare = chunk.strip("\"',;:!?()")
    if bare.isalpha() and bare.isascii() and bare.islower() and len(bare) <= 40:
        return (bare,) if bare in STOP_WORDS or len(bare) < 3 else (bare, "#" + _stem(bare))
    return tuple(_flatten(_chunk_words(chunk)))


def _flatten(words: Iterable[Word]) -> Iterator[str]:
    for word in words:
        yield from word.forms()


def _chunk_words(chunk: str) -> list[Word]:
    """Words of a piece of text without white space; index and query both start from these."""
    bare = chunk.strip("\"',.;:!?()") if chunk.isascii() else ""
    if bare.isalnum() and (bare[1:].islower() or len(bare) == 1) and not chunk.startswith("."):
        return [_word(bare.lower())]
    chunk = _THOUSANDS.sub("", _POSSESSIVE.sub("", chunk))
    return [word for match in _COMPOUND.finditer(chunk) if (word := _compound(match.group())).text]


def _word(folded: str) -> Word:
    text = _bounded(folded)
    if not (text.isascii() and text.isalpha()) or text in STOP_WORDS or not 3 <= len(text) <= 40:
        return Word(text)
    return Word(text, stem="#" + _stem(text))


@lru_cache(maxsize=65536)
def _stem(word: str) -> str:
    stemmer = getattr(_LOCAL, "stemmer", None)
    if stemmer is None:
        stemmer = _LOCAL.stemmer = Stemmer.Stemmer("english", 0)
    return str(stemmer.stemWord(word))


def _compound(chunk: str) -> Word:
    """A word, or a compound with its segments (`conf.d`) and leaves (`conf`, `d`) as parts."""
    leaves: dict[str, Word] = {}
    for leaf in _LEAF.findall(chunk):
        folded = fold(leaf)
        if not folded:
            continue
        humps = _CAMEL.findall(leaf) if _CAMEL_HUMP.search(leaf) else []
        if len(humps) > 1:
            leaves |= {part.text: part for part in map(_word, map(fold, humps))}
            if len(leaf) == len(chunk):
                return Word(_bounded(folded), parts=tuple(leaves.values()))
        leaves.setdefault(_bounded(folded), _word(folded))
        if folded[0] == "v" and folded[1:].isdecimal():
            leaves.setdefault(folded[1:], _word(folded[1:]))
    whole = fold(chunk)
    if not leaves or (len(leaves) == 1 and whole in leaves):
        return leaves.get(whole, Word(""))
    for segment in _TOP_LEVEL.split(whole):
        if segment != whole and segment not in leaves and any(mark in segment for mark in "-._"):
            leaves.setdefault(_bounded(segment), Word(_bounded(segment)))
    joined = regex.sub(r"[-'.,]", "", whole)
    others = (joined,) if joined != whole and len(joined) <= 40 and joined.isalnum() and joined not in leaves else ()
    return Word(_bounded(whole), others, parts=tuple(leaves.values()))


def _bounded(term: str) -> str:
    if len(term) <= MAX_TERM_LENGTH:
        return term
    return term[:100] + "#" + hashlib.blake2b(term.encode("utf-8", "replace"), digest_size=12).hexdigest()
