"""Sentences, and the overlapping passages of whole sentences by which a long note is indexed."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import regex  # type: ignore[import-untyped]

# An end of sentence: a full stop of a script without spaces; or . ! ? with closing quotes, a space, and no lower case
# after it; or the end of a line. Not after one capital letter or a common abbreviation.
_END = regex.compile(
    r"(?<=[。！？｡])[」』”’）]*+\s*+"
    r"|(?<!\b\p{Lu})(?<!\b(?:Mr|Ms|Dr|St|vs|No|no|cf|al|Mrs|etc|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sep|Oct|Nov|Dec|e\.g|i\.e))"
    r"(?<![.!?…])[.!?…]++[\"'”’)\]]*+\s++(?!\p{Ll})"
    r"|[\r\n]\s*+"
)


def sentences(text: str) -> list[str]:
    """The sentences of `text`, stripped, in order; nothing but white space is lost.

    >>> sentences("Dr. Olsen came. Did she? 钢琴室。免费")
    ['Dr. Olsen came.', 'Did she?', '钢琴室。', '免费']
    """
    found, start = [], 0
    for match in _END.finditer(text):
        if match.end() > start:
            found.append(text[start : match.end()].strip())
            start = match.end()
    found.append(text[start:].strip())
    return [sentence for sentence in found if sentence]


def passages(text: str, length: Callable[[str], int], max_tokens: int = 480, overlap: int = 64) -> list[str]:
    """`text` as passages of whole sentences, each at most `max_tokens` long; one passage when all of it fits.

    length: tokens of a text, as the embedding model counts them.  overlap: how many tokens of whole sentences a passage
    repeats from the one before it, at most.  A sentence longer than `max_tokens` is cut between words where it can be.
    """
    if len(text) <= max_tokens // 2 or (len(text) <= max_tokens * 12 and length(text) <= max_tokens):
        return [text.strip()] if text.strip() else []
    found: list[str] = []
    held: list[tuple[str, int]] = []
    fresh = False
    for piece, size in _pieces(text, length, max_tokens):
        if fresh and sum(n for _, n in held) + size > max_tokens:
            found.append(" ".join(part for part, _ in held))
            held, fresh = _tail(held, min(overlap, max_tokens - size)), False
        held.append((piece, size))
        fresh = True
    if fresh:
        found.append(" ".join(part for part, _ in held))
    return found


def _tail(held: list[tuple[str, int]], room: int) -> list[tuple[str, int]]:
    kept: list[tuple[str, int]] = []
    for piece, size in reversed(held[1:]):
        room -= size
        if room < 0:
            break
        kept.insert(0, (piece, size))
    return kept


def _pieces(text: str, length: Callable[[str], int], max_tokens: int) -> Iterator[tuple[str, int]]:
    """Sentences with their sizes; those that are too long in pieces, first by a guess from characters, then by halves."""
    for sentence in sentences(text):
        waiting = _blocks(sentence, max_tokens * 4)
        while waiting:
            piece = waiting.pop()
            size = length(piece)
            if size <= max_tokens or len(piece) < 2:
                yield piece, size
                continue
            middle = len(piece) // 2
            space = piece.find(" ", middle, middle + 64)
            cut = space if space > 0 else middle
            waiting += [half for half in (piece[cut:].strip(), piece[:cut].strip()) if half]


def _blocks(sentence: str, size: int) -> list[str]:
    """`sentence` in blocks of about `size` characters, last one first."""
    blocks, start = [], 0
    while len(sentence) - start > size:
        space = sentence.rfind(" ", start + size // 2, start + size)
        cut = space if space > 0 else start + size
        blocks.append(sentence[start:cut].strip())
        start = cut
    blocks.append(sentence[start:].strip())
    return [block for block in reversed(blocks) if block]
