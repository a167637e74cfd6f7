"""Which entities a note mentions, read from its text without a model: names by their form, and names that are known.

The store asks twice: `read` while a note is prepared, and what that gives, `among`, inside the transaction, where the names
of the namespace are certain. Another linker takes its place by `Runtime.linker`, which a pack may set when it opens.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from graph.packs import Indexer
from recall.background import Background
from recall.fold import cjk_runs
from recall.index import phrase
from recall.names import key_words, name_key, proper_names, substrings
from recall.stopwords import FAMILIAR_NAMES, SMALL_TALK, STOP_WORDS
from recall.tokens import count

BY_FORM = 16  # names of a note by their form, the most frequent
MENTIONS = 32  # entities that a note is linked to, at most
CHARACTERS = 16_384  # of a note in which known names are looked for
RUN = 5  # words of a known name, at most
ARTICLES = frozenset({"the", "a", "an"})


@dataclass(frozen=True, slots=True)
class Reading:
    """One text. proper: its names by form.  words: all of it, folded.  unspaced: it, if it has script without spaces."""

    proper: Sequence[Mapping[str, Any]]
    words: str
    unspaced: str

    def among(self, known: Set[str]) -> list[Mapping[str, Any]]:
        """The names that the text mentions, where `known` are borne by entities: those by form, then the longest.

        A name counts where it stands by itself, not as part of a longer one that is named: "Marta" in "Marta Olsen".
        """
        by_form = {name["name_key"]: name for name in self.proper}
        found = {run for run in self._runs() if run in known}
        strong = [key for key in found - by_form.keys() if not is_weak(key)]
        named = [*by_form, *sorted(strong, key=lambda key: (-len(key), key))][: 2 * MENTIONS]
        alone = self._alone(named)
        return [by_form.get(key, {"name_key": key}) for key in named if key in alone][:MENTIONS]

    def _alone(self, named: Sequence[str]) -> set[str]:
        """Those of the names that are left somewhere when the longer ones are taken out of the text."""
        whole = left = f" {' '.join(self.words.split())} "
        alone = set()
        for key in sorted(named, key=lambda key: (-len(key), key)):
            stands = key if cjk_runs(key) else f" {key} "
            if stands in left or stands not in whole:  # what is not there at all is a name by form from further on
                alone.add(key)
            left = left.replace(stands, " | ")
        return alone

    def _runs(self) -> Iterator[str]:
        words = self.words.split()
        yield from words
        for size in range(2, RUN + 1):
            yield from map(" ".join, zip(*(words[at:] for at in range(size)), strict=False))
        yield from substrings(self.unspaced)


class NameLinker:
    """The linker that ships. Safe for several threads."""

    def __init__(self, indexer: Indexer):
        self._entity = lru_cache(maxsize=65_536)(indexer.entity)

    def read(self, content: str) -> Reading:
        """The names in a note, and what may be one."""
        start = content[:CHARACTERS]
        return Reading(tuple(self._proper(content)), key_words(start), start if cjk_runs(start) else "")

    def _proper(self, content: str) -> Iterator[Mapping[str, Any]]:
        for name in _told_apart(proper_names(content)):
            found = self._entity(name)
            yield found | {"name": name, "lone": is_usual(found["name_key"])}

    def query(self, ns: str, name: str) -> str | None:
        """The full-text query for the notes of a namespace that hold a name; None for a word that is too common."""
        key = name_key(name)
        return None if not key or is_weak(key) else phrase(ns, name)


def linker(name: str, indexer: Indexer) -> NameLinker | None:
    """The linker of that name; None is `off`."""
    return NameLinker(indexer) if name == "names" else None


def _told_apart(names: Iterable[str]) -> list[str]:
    """Names without an article before them and without words that name nothing, each once, at most `BY_FORM`."""
    found: dict[str, str] = {}
    for name in names:
        first, _, rest = name.partition(" ")
        shown = rest if rest and first.casefold() in ARTICLES else name
        key = name_key(shown)
        if key and key not in STOP_WORDS and key not in SMALL_TALK and not key.isdecimal():
            found.setdefault(key, shown)
    return list(found.values())[:BY_FORM]


@lru_cache(maxsize=65_536)
def is_weak(key: str) -> bool:
    """Whether a name by its words alone tells nothing apart: stop words, a number, a single word that everybody uses."""
    words = key.split(" ")
    if len(words) > 1:
        return all(word in STOP_WORDS or word.isdecimal() for word in words)
    if key in STOP_WORDS or key in SMALL_TALK or key.isdecimal() or len(key) < 2:
        return True
    return key in Background.shipped().shares and key not in FAMILIAR_NAMES


@lru_cache(maxsize=65_536)
def is_usual(key: str) -> bool:
    """Whether a name is one word that is usual in small letters too, as the vocabulary of a language model has it.

    Only its capital made it a name ("Pride"), so that elsewhere in small letters it is none.
    """
    return " " not in key and count(f" {key}") == 1
