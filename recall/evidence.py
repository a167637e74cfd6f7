"""What speaks for each candidate, as numbers: its own, its neighbours', and how the whole pool answers the query.

Words are counted again here from the candidates' `terms`, with the rarity they have in the namespace: the full-text index
spans all namespaces, so its scores find candidates and do not judge them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recall.background import PSEUDO_NOTES, Background, centred
from recall.stopwords import SMALL_TALK, STOP_WORDS
from recall.text import QueryTerms, Word

Floats = NDArray[np.float64]
STEM, PARTS, SMALL = 0.95, 0.9, 0.3  # worth of a stem, of parts found apart, and of small talk against other words
LARGEST = 10_000  # notes from which more of them no longer make a chance hit more likely
CROWD = 6  # rank of the row that stands for what else is there
NEIGHBOUR = 0.6  # worth of a word that the turn before or after has
SIDE_BY_SIDE = 4  # index terms from one word to the next with at most a stop word or two between them; stems count as terms
BOTH = 0.3  # worth of a standard deviation of closeness, against a whole query covered
GAP = " " * (SIDE_BY_SIDE + 1)  # keeps the last word of a row from being beside the first of the next
K1, B = 1.2, 0.75
NAMES = (
    "closeness", "meaning", "meaning_behind", "coverage", "coverage_behind", "words", "information", "beside_coverage",
    "linked", "best_closeness", "best_coverage", "best_information", "best_both", "side_by_side", "unknown", "crowd_meaning",
    "crowd_coverage", "matter", "stop_words", "size",
)  # fmt: skip
OF_QUERY = ("matter", "stop_words")  # what the words of a query say whatever the rows hold


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """The columns that evidence is read from, one row a candidate.

    note_ids: the note that is served for the row.  terms: index terms, joined by spaces.  vectors: (n, d) unit rows, zeros
    where there is none.  follows: ids of the notes before and after the row's note.  contents: text of the row, of which
    the beginning is enough; only names are read from it.
    """

    note_ids: Sequence[str]
    terms: Sequence[str]
    vectors: NDArray[np.float32]
    follows: Sequence[Sequence[str]]
    contents: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Evidence:
    """values: (n, len(NAMES)).  has_meaning, has_words: whether a row could be judged so, (n,) bool."""

    values: Floats
    has_meaning: NDArray[np.bool_]
    has_words: bool

    def column(self, name: str) -> Floats:
        return np.asarray(self.values[:, NAMES.index(name)])


def gathered(
    pool: Candidates, query: QueryTerms, embedding: NDArray[np.float32] | None, background: Background, *, words: bool = True
) -> Evidence:
    """The evidence for every row of `pool`.

    embedding: (d,) unit vector, or None; a row of zeros has no vector.  words: whether it counts which rows have the query's
    words; without, they only say how much of the query is more than small talk.
    """
    n = len(pool.note_ids)
    values = dict.fromkeys(NAMES, np.zeros(n))
    values["size"] = np.full(n, math.log1p(min(max(background.notes, n), LARGEST)))
    beside = _neighbours(pool.note_ids, pool.follows)
    has_meaning, has_words = np.zeros(n, dtype=bool), words and bool(query.words)
    if embedding is not None and n:
        has_meaning = np.any(pool.vectors, axis=1)
        values |= _meaning(pool.vectors, has_meaning, embedding, background, beside)
    if query.words and n:
        found = _words(pool, query, background, beside)
        values |= found if words else {name: found[name] for name in OF_QUERY}
        values["best_both"] = np.full(n, float((BOTH * values["closeness"] + values["coverage"]).max()))
    return Evidence(np.stack([values[name] for name in NAMES], axis=1), has_meaning, has_words)


def _neighbours(ids: Sequence[str], follows: Sequence[Sequence[str]]) -> list[NDArray[np.intp]]:
    """Rows of the notes before or after each row's note: a list of (n,) arrays, -1 where there is none in the pool."""
    rows = {id: row for row, id in reversed(list(enumerate(ids)))}
    width = max((len(near) for near in follows), default=0)
    table = np.full((min(width, 4), len(ids)), -1, dtype=np.intp)
    if width:
        for row, near in enumerate(follows):
            for at, id in enumerate(near[:4]):
                table[at, row] = rows.get(id, -1)
    return list(table)


def _best_beside(values: Floats, beside: list[NDArray[np.intp]], absent: float) -> Floats:
    """The best of the neighbours' values in each row; (..., n) in and out."""
    best = np.full(values.shape, absent)
    for rows in beside:
        best = np.maximum(best, np.where(rows >= 0, values[..., rows], absent))
    return best


def _meaning(
    vectors: NDArray[np.float32],
    known: NDArray[np.bool_],
    embedding: NDArray[np.float32],
    background: Background,
    beside: list[NDArray[np.intp]],
) -> dict[str, Floats]:
    """Cosines in standard deviations above what a note of the namespace has with this query."""
    if background.centre is not None and background.drift is not None and len(background.centre) == len(embedding):
        asked = centred(embedding, background.centre)
        cosines = (centred(vectors, background.centre) @ asked).astype(np.float64)
        usual, spread = float(background.drift @ asked), background.spread
    else:
        cosines = (vectors @ embedding).astype(np.float64)
        usual, spread = float(np.median(cosines)), max(float(np.std(cosines)), 0.08)
    own = np.where(known, (cosines - usual) / spread, -1.0)
    best = float(own.max())
    far, scatter = background.far or (usual + 3 * spread, spread)
    closeness = np.where(known, (vectors @ embedding - far) / scatter, -4.0)
    return {
        "closeness": closeness,
        "best_closeness": np.full(len(own), float(closeness.max())),
        "meaning": own,
        "meaning_behind": best - own,
        "crowd_meaning": np.full(len(own), max(_ranked(own), 0.0)),
    }


def _ranked(values: Floats) -> float:
    """The value at rank `CROWD`; 0 where there are fewer."""
    return float(np.partition(values, -CROWD)[-CROWD]) if len(values) >= CROWD else 0.0


class _Places:
    """Where the rows have the terms of a query.

    lines: the number of each term found.  rows: the row that has it.  places: how many terms lie before it.
    """

    def __init__(self, rows: Sequence[str], at: Mapping[str, int], lengths: NDArray[np.intp]):
        words = GAP.join(rows).split(" ")
        self.places = np.array([place for place, word in enumerate(words) if word in at], dtype=np.intp)
        self.lines = np.array([at[words[place]] for place in self.places.tolist()], dtype=np.intp)
        self.rows = np.repeat(np.arange(len(rows)), lengths + SIDE_BY_SIDE)[self.places]
        self._shape = len(at), len(rows)

    def counts(self) -> Floats:
        """How often each row has each term, (terms, rows)."""
        terms, rows = self._shape
        counts = np.bincount(self.lines * rows + self.rows, minlength=terms * rows)
        return counts.reshape(self._shape).astype(np.float64)

    def together(self, words: NDArray[np.intp]) -> NDArray[np.intp]:
        """The numbers of the words that some row has side by side with the next. words: the word of each term, (terms,)."""
        found = words[self.lines]
        near = []
        for step in (1, 2, 3):
            one, other = found[:-step], found[step:]
            beside = (self.places[step:] - self.places[:-step] <= SIDE_BY_SIDE) & (np.abs(one - other) == 1)
            near.append(np.minimum(one, other)[beside])
        return np.unique(np.concatenate(near))


class _Matcher:
    """How well each row has a word, and how much a word is worth."""

    def __init__(self, rows: Sequence[str], terms: Sequence[str], background: Background):
        self.background = background
        self.total = max(background.notes, len(rows)) + PSEUDO_NOTES
        lengths = np.array([row.count(" ") + 1 for row in rows], dtype=np.intp)
        usual = background.length if background.notes else (background.length + float(lengths.mean())) / 2
        slow = K1 * (1 - B + B * lengths / max(usual, 1.0))
        self.at = {term: n for n, term in enumerate(terms)}
        self.places = _Places(rows, self.at, lengths)
        counts = self.places.counts()
        self.has = (counts > 0).astype(np.float64)
        self.often = counts * (K1 + 1) / (counts + slow)
        self.seen = self.has.sum(axis=1).tolist()

    def rarity(self, term: str) -> float:
        """Nats that a match of `term` tells: ln(1 + (N - df + .5) / (df + .5)), shipped word shares mixed in."""
        own = max(self.seen[self.at[term]], self.background.share(term) * self.background.notes)
        df = own + PSEUDO_NOTES * self.background.shares.get(term, 0.0)
        return math.log(1 + (self.total - min(df, self.total) + 0.5) / (df + 0.5))

    def worth(self, word: Word) -> float:
        if word.grams:
            known = [min(self.rarity(gram), 6.0) for gram in word.grams]
            return len(word.text) / 2 * sum(known) / len(known)
        if word.parts:
            return sum(self.worth(part) for part in word.parts)
        rarity = min(self.rarity(word.text), self.rarity(word.stem)) if word.stem else self.rarity(word.text)
        return rarity * (SMALL if is_small(word) else 1.0)

    def side_by_side(self, words: Sequence[Word]) -> Floats:
        """Whether some row has each word side by side with the next one, (len(words) - 1,) of 0 and 1."""
        word_of = np.empty(len(self.at), dtype=np.intp)
        for number, word in reversed(list(enumerate(words))):
            word_of[[self.at[term] for term in word.forms()]] = number
        found = np.zeros(len(words) - 1)
        found[self.places.together(word_of)] = 1.0
        return found

    def match(self, word: Word) -> tuple[Floats, Floats]:
        """(whether each row has the word, in [0, 1]; the same with how often it has it, in [0, K1 + 1])."""
        if word.grams:
            covered = self._covered(word)
            return covered, covered
        forms = [(term, 1.0) for term in (word.text, *word.others)]
        forms += [(word.stem, STEM)] if word.stem else []
        chosen = [self.at[term] for term, _ in forms]
        values = np.array([value for _, value in forms])[:, None]
        sides = [(values * self.has[chosen]).max(axis=0), (values * self.often[chosen]).max(axis=0)]
        if word.parts:
            worths = np.array([self.worth(part) for part in word.parts])
            pairs = [self.match(part) for part in word.parts]
            shares = worths / max(worths.sum(), 1e-9) * PARTS
            apart = [shares @ np.stack(side) for side in zip(*pairs, strict=True)]
            sides = [np.maximum(one, other) for one, other in zip(sides, apart, strict=True)]
        return sides[0], sides[1]

    def _covered(self, word: Word) -> Floats:
        """Share of the characters of a run that lie in a bigram which the row has."""
        size = len(word.grams[0])
        covered = np.zeros((len(word.grams) + size - 1, self.has.shape[1]), dtype=bool)
        for at, gram in enumerate(word.grams):
            covered[at : at + size] |= self.has[self.at[gram]] > 0
        return np.asarray(covered.mean(axis=0))


def is_small(word: Word) -> bool:
    """Whether a word is small talk, a stop word, or a number below 100: worth little by itself."""
    if word.parts:
        return all(is_small(part) for part in word.parts)
    return word.text in SMALL_TALK or word.text in STOP_WORDS or (len(word.text) < 3 and word.text.isdecimal())


def _words(pool: Candidates, query: QueryTerms, background: Background, beside: list[NDArray[np.intp]]) -> dict[str, Floats]:
    """Coverage of the query's words, weighted by rarity, by each row and by the rows beside it."""
    matcher = _Matcher(pool.terms, query.terms, background)
    worth = np.array([matcher.worth(word) for word in query.words]) + 1e-6
    pairs = [matcher.match(word) for word in query.words]
    has, often = np.stack([pair[0] for pair in pairs]), np.stack([pair[1] for pair in pairs])
    shares = worth / worth.sum()
    coverage, information, score = shares @ has, worth @ has, worth @ often
    score = score / max(float(score.max()), 1e-9)
    wider = shares @ np.maximum(has, NEIGHBOUR * _best_beside(has, beside, 0.0))
    matter = sum(value for value, word in zip(shares, query.words, strict=True) if not is_small(word))
    known = has.max(axis=1)
    pairs_worth = np.minimum(worth[:-1], worth[1:])
    beside_next = matcher.side_by_side(query.words) @ pairs_worth / max(pairs_worth.sum(), 1e-9)
    n = len(coverage)
    return {
        "coverage": coverage,
        "coverage_behind": coverage.max() - coverage,
        "words": score,
        "information": np.log1p(information),
        "beside_coverage": wider - coverage,
        "best_coverage": np.full(n, coverage.max()),
        "best_information": np.full(n, math.log1p(float(information.max()))),
        "side_by_side": np.full(n, float(beside_next)),
        "unknown": np.full(n, math.log1p(float(worth @ (1 - known)))),
        "crowd_coverage": np.full(n, _ranked(coverage)),
        "matter": np.full(n, 0.0 if query.only_stop_words else matter),
        "stop_words": np.full(n, float(query.only_stop_words)),
    }
