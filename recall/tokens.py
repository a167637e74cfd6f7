"""Model tokens, counted the same everywhere: OpenAI's o200k_base, by a byte-pair encoder in Rust."""

from __future__ import annotations

from functools import cache

from bpe_openai import Encoding, get_encoding

ENCODING = "o200k_base"
_WINDOW_BYTES = 1 << 18


@cache
def _encoding() -> Encoding:
    return get_encoding(ENCODING)


def _encode(text: str) -> list[int]:
    """Token ids, in windows so that a very long text costs no more a character than a short one."""
    safe = text.encode("utf-8", "replace").decode("utf-8")
    found: list[int] = []
    for at in range(0, len(safe), _WINDOW_BYTES):
        found += _encoding().encode_ordinary(safe[at : at + _WINDOW_BYTES])
    return found


def count(text: str) -> int:
    """Number of tokens. Never raises; half a surrogate pair counts as a question mark."""
    return len(_encode(text))


def cut(text: str, budget: int) -> str:
    """The longest beginning of `text` of at most `budget` tokens that ends in a whole character; "" if budget < 1.

    The text itself comes back unchanged when it fits.
    """
    if budget < 1:
        return ""
    found = _encode(text[: budget * 16])
    if len(found) <= budget and len(text) > budget * 16:
        found = _encode(text)
    if len(found) <= budget:
        return text
    kept = budget
    while kept > 0:
        head: str = _encoding().decode_bytes(found[:kept]).decode("utf-8", "ignore")
        if count(head) <= budget:
            return head
        kept -= 1
    return ""
