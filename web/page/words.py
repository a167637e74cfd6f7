"""What the page says in words: reasons, legs, evidence, and what was wrong with a form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from recall.config import RECALL_MIN_SCORE

FLOOR: Final = RECALL_MIN_SCORE

ABSTAINED: Final[Mapping[str, str]] = {
    "below_floor": f"Nothing here is likely enough to answer that. The best candidates lie below the floor of {FLOOR}, "
    "so nothing is shown rather than something wrong.",
    "no_candidates": "There is nothing in this namespace that this could even be compared with.",
    "meaningless_query": "This asks nothing that could be looked for: no word, or one character over and over.",
    "token_budget": "Something fits, but no part of it fits into the token budget.",
}
NOTHING: Final = "Memory has nothing to say to this."

LEGS: Final[Mapping[str, str]] = {
    "vector": "by meaning",
    "text": "by its words",
    "superseded": "by an older note that it replaced",
    "walk": "over the graph",
}
STOPPED: Final[Mapping[str, str]] = {
    "floor": "below the floor",
    "limit": "past the number asked for",
    "token_budget": "no room in the token budget",
}
PARTS: Final[Mapping[str, str]] = {
    "relevance": "relevance",
    "salience": "salience",
    "temporal": "recency",
    "entities": "feedback about it",
    "near_duplicate": "repeats a better hit",
    "text_match": "its words",
    "vector_match": "its meaning",
    "graph": "the graph",
}
EVIDENCE: Final[Mapping[str, tuple[str, str]]] = {
    "closeness": ("Closeness", "cosine to the question, in standard deviations above this namespace's best chance hits"),
    "meaning": ("Meaning", "cosine to the question, in standard deviations above a usual note of this namespace"),
    "meaning_behind": ("Behind the closest", "how far its meaning lies behind the closest candidate's"),
    "coverage": ("Words covered", "share of the question's words that it has, rare words counting more"),
    "coverage_behind": ("Behind the best words", "how much less it covers than the best candidate"),
    "words": ("Words, by frequency", "its word score (BM25) against the best candidate's"),
    "information": ("Information", "what its matching words tell, in nats, on a log scale"),
    "beside_coverage": ("Words beside it", "what the notes before and after it add to the words covered"),
    "linked": ("Linked", "whether the graph joins it to what the question names"),
    "best_closeness": ("The pool's closeness", "closeness of the best candidate"),
    "best_coverage": ("The pool's words", "words covered by the best candidate"),
    "best_information": ("The pool's information", "information of the best candidate"),
    "best_both": ("The pool's best by both", "words covered and closeness together, of the candidate that is best by both"),
    "side_by_side": ("Words side by side", "share of the question's pairs of words that some candidate has side by side"),
    "unknown": ("Unknown words", "what those of its words would tell that no candidate has, in nats, on a log scale"),
    "crowd_meaning": ("The crowd's meaning", "meaning of the candidate at rank six: high if many are alike"),
    "crowd_coverage": ("The crowd's words", "words covered by the candidate at rank six"),
    "matter": ("Matter in the question", "share of the question that is more than small talk"),
    "stop_words": ("Only stop words", "1 where the question has nothing but stop words"),
    "size": ("Size of the namespace", "number of its notes, on a log scale"),
}
OF_ALL: Final = (  # evidence that all candidates of a question share
    *("best_closeness", "best_coverage", "best_information", "best_both", "side_by_side", "unknown"),
    *("crowd_meaning", "crowd_coverage", "matter", "stop_words", "size"),
)
BLOCKS: Final[Mapping[str, str]] = {
    "user": "The active task",
    "persona_memories": "Memory of the persona",
    "memory": "Memory",
    "consolidated": "Consolidated knowledge",
    "history": "Finished task",
}
DROPPED: Final[Mapping[str, str]] = {
    "memory budget": "the memory budget was full",
    "input budget": "the window was full",
}
SAID: Final[Mapping[str, str]] = {  # what was done, by the word in the address
    "remembered": "Remembered.",
    "unchanged": "This was remembered before, word for word; nothing changed.",
    "superseded": "Remembered. What it supersedes is no longer recalled; it stays below, faded.",
    "useful": "Noted as useful.",
    "not_useful": "Noted as not useful.",
    "wrong": "Noted as wrong. If you know what is right, say it on the memory's page under “Supersede”.",
    "again": "That was noted before for this answer; it counts once.",
    "in": "You are logged in.",
    "out": "You are logged out.",
}
STATUS: Final[Mapping[int, str]] = {
    403: "Not allowed",
    404: "Not here",
    409: "Something stands against it",
    413: "Too large",
    422: "Something is not right",
    429: "Too many requests",
    500: "A fault of our own",
    503: "The database is away",
    504: "That took too long",
}


def shortened(text: str, most: int = 160) -> str:
    """One line of at most `most` characters."""
    line = " ".join(text[: most * 4].split())
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"


def day(moment: str | None) -> str:
    """`2026-03-01T10:00:00Z` as `2026-03-01 10:00`; midnight as the day alone."""
    if not moment:
        return ""
    date, _, clock = moment.partition("T")
    return date if clock[:5] in ("", "00:00") else f"{date} {clock[:5]}"
