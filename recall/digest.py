"""What a group of notes says, in its own sentences: no model, and the same for the same notes.

Another summariser takes its place by `Runtime.summariser`, which a pack may set when it opens.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import regex  # type: ignore[import-untyped]

from recall.stopwords import SMALL_TALK, STOP_WORDS
from recall.text import sentences, terms

SENTENCES = 6  # of a digest
CHARACTERS = 1_200
FROM_EACH = 40  # sentences of a note that are looked at
_TURN = regex.compile(r"\s*(?:\[[^\]\n]{1,60}\]\s*)?[\p{L}\p{N} .'’_-]{1,40}:\s|\s*\[[^\]\n]{1,60}\]\s")


@dataclass(frozen=True, kw_only=True)
class Digest:
    """knowledge: what the notes say, in the order of their times.  abstraction: the sentence that most of them are about."""

    knowledge: str
    abstraction: str
    keywords: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class _Sentence:
    text: str
    note: int
    words: frozenset[str]


class Extractive:
    """The summariser that ships."""

    name = "extractive-1"

    def digest(self, contents: Sequence[str], weight: Callable[[str], float]) -> Digest:
        """contents: of the notes of a group, the oldest first.  weight: how much a word tells in their namespace."""
        told = list(_sentences(contents))
        weights = _weights(told, weight)
        ranked = sorted(told, key=lambda s: (-_worth(s, weights), s.note, s.text))
        chosen = _chosen(ranked)
        ordered = sorted(chosen, key=lambda s: (s.note, contents[s.note].find(s.text)))
        keywords = [word for word, _ in sorted(weights.items(), key=lambda item: (-item[1], item[0]))[:8]]
        return Digest(
            knowledge=" ".join(s.text for s in ordered) or contents[0][:CHARACTERS],
            abstraction=ranked[0].text if ranked else contents[0][:CHARACTERS],
            keywords=keywords,
        )


def telling(text: str) -> frozenset[str]:
    """The words of a text by which it can be told what it is about: not who said it and when, as a chat turn begins."""
    turn = _TURN.match(text)
    words = frozenset(term for term in terms(text[turn.end() :] if turn else text) if term[0] != "#")
    return words - STOP_WORDS - SMALL_TALK


def _sentences(contents: Sequence[str]) -> Iterator[_Sentence]:
    for note, content in enumerate(contents):
        for text in sentences(content)[:FROM_EACH]:
            if words := telling(text):
                yield _Sentence(text=text[:CHARACTERS], note=note, words=words)


def _weights(told: Sequence[_Sentence], weight: Callable[[str], float]) -> dict[str, float]:
    """Words that several notes have, by the share of the notes that have them, and by how much they tell."""
    notes: dict[str, set[int]] = {}
    for sentence in told:
        for word in sentence.words:
            notes.setdefault(word, set()).add(sentence.note)
    whole = max(len({sentence.note for sentence in told}), 1)
    return {word: weight(word) * len(those) / whole for word, those in notes.items() if len(those) > 1}


def _worth(sentence: _Sentence, weights: dict[str, float]) -> float:
    """What it holds of the group's words; a long sentence holds more, and is worth less for it."""
    return float(sum(sorted(weights.get(word, 0.0) for word in sentence.words)) / len(sentence.words) ** 0.5)


def _chosen(ranked: Sequence[_Sentence]) -> list[_Sentence]:
    """The best sentences that each say something new; first one of every note, as far as there is room."""
    chosen: list[_Sentence] = []
    room, per_note = CHARACTERS, Counter[int]()
    for again in (False, True):
        for sentence in ranked:
            if sentence in chosen or len(chosen) >= SENTENCES or len(sentence.text) > room:
                continue
            new = sentence.words - frozenset().union(*(other.words for other in chosen))
            if new and (again or not per_note[sentence.note]):
                chosen.append(sentence)
                per_note[sentence.note] += 1
                room -= len(sentence.text) + 1
    return chosen
