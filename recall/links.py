"""The second hop: a name that a good row brings up leads to the row that is about it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from recall.background import PSEUDO_NOTES, Background
from recall.evidence import NAMES, Candidates, Floats
from recall.stopwords import STOP_WORDS
from recall.text import QueryTerms, proper_names, terms

LINKS_FROM, LINK_NAMES, LINK_ROWS = 4, 24, 25  # best rows whose names are followed, names of each, rows that one may lead to
HEAD_CHARACTERS = 120  # of a row's terms, where what it is about is named
LINK_RARITY = (4.0, 12.0)  # nats of a name's words from which it leads anywhere, and from which it counts in full


def linked(pool: Candidates, values: Floats, odds: Floats, query: QueryTerms | None, background: Background) -> Floats:
    """How far a row is about a name that one of the best rows brings up and the query does not: the second hop, in [0, 1].

    values: evidence as `gathered` gives it.  odds: (n,) log odds of each row without this.  A name counts the more the
    rarer its words and the fewer rows it leads to, and all of it only as far as the best row leaves words of the query
    uncovered.
    """
    reach = np.zeros(len(odds))
    uncovered = min(1.0, 2 * (1 - float(values[:, NAMES.index("best_coverage")].max(initial=0.0))))
    if query is None or not len(odds) or len(pool.contents) != len(odds) or uncovered <= 0:
        return reach
    asked = set(query.terms)
    best = np.argsort(-odds, kind="stable")[:LINKS_FROM].tolist()
    sure = 1 / (1 + np.exp(-np.clip(odds[best], -30, 30)))
    named = [[words for words in _names(pool.contents[row]) if words.isdisjoint(asked)] for row in best]
    about = _heads(pool.terms, frozenset().union(*(words for several in named for words in several)))
    for row, several, certainty in zip(best, named, (sure / max(float(sure.max()), 1e-9)).tolist(), strict=True):
        for words in several:
            rarity = sum(_rarity(background, word) for word in words)
            rows = list(set.intersection(*(about.get(word, set()) for word in words)) - {row})
            if rarity >= LINK_RARITY[0] and 0 < len(rows) <= LINK_ROWS:
                value = certainty * min(rarity / LINK_RARITY[1], 1) / math.log2(1 + len(rows)) ** 0.5
                reach[rows] = np.maximum(reach[rows], value)
    return reach * uncovered


def _heads(terms: Sequence[str], wanted: frozenset[str]) -> dict[str, set[int]]:
    """For each wanted term, the rows that have it among their first terms."""
    found: dict[str, set[int]] = {}
    if wanted:
        for row, text in enumerate(terms):
            for word in wanted.intersection(text[:HEAD_CHARACTERS].split(" ")):
                found.setdefault(word, set()).add(row)
    return found


@lru_cache(maxsize=4096)
def _names(content: str) -> tuple[frozenset[str], ...]:
    """Index terms of each proper name in `content`, without stems and stop words."""
    named = []
    for name in proper_names(content)[:LINK_NAMES]:
        words = frozenset(term for term in terms(name) if term[0] != "#" and term not in STOP_WORDS)
        if words:
            named.append(words)
    return tuple(dict.fromkeys(named))


def _rarity(background: Background, term: str) -> float:
    share = max(background.share(term), background.shares.get(term, 0.0))
    return -math.log(max(share, 1 / (2 * max(background.notes, PSEUDO_NOTES))))
